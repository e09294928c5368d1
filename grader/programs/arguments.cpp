#include "grader/programs/arguments.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "grader/text/text.h"

namespace roofwalk {

const char* const kUsageOfPrograms =
    "usage: ./roofwalk profile [options] -- PROGRAM [arguments]\n"
    "           runs a CUDA program on the virtual GPU\n"
    "       ./roofwalk build [--device virtual:NAME] -- COMMAND\n"
    "           builds one so that it can run there\n"
    "\n"
    "  --device virtual:NAME  the machine, whole or a slice (virtual:h100-sxm/8);\n"
    "                         ./roofwalk machines lists them\n"
    "which launches are measured; the others run for their results alone, faster\n"
    "  -k, --kernel NAME      those of this kernel, or regex:EXPRESSION; repeatable.\n"
    "                         NAME may lack namespaces and template arguments\n"
    "  -s, --launch-skip N    of these, not the first N\n"
    "  -c, --launch-count N   of these, no more than N\n"
    "  --count N|all          of those with the same kernel, grid and block, N are\n"
    "                         counted; the others have the figures of the last one\n"
    "checks beyond accesses out of bounds, which are always found\n"
    "  --sanitize             races, values that nobody has set, mistakes at barriers\n"
    "  --check-only           no figures: for the results and the checks, faster.\n"
    "                         With either, a fault makes the exit code 1\n"
    "what is shown, on standard error\n"
    "  --format text|json|csv instead of the table; --output FILE: there\n"
    "  --json FILE, --csv FILE   beside the table: every figure of every kernel\n"
    "  --lines NAME           what each source line of a kernel does\n"
    "  --plot FILE            the roofline as .svg or .png, a dot for each kernel\n"
    "changes\n"
    "  --against FILE         what differs from the run that --json wrote there\n"
    "  --fail-if 'CONDITION'  exit code 1 if it holds for a kernel; repeatable:\n"
    "                         'dram_bytes > +2%' (over --against),\n"
    "                         'time_ns > 1e6', 'gemm: occupancy < 0.5'\n"
    "  --junit FILE           the conditions as JUnit XML\n"
    "limits\n"
    "  --threads N            threads to use; no figure depends on it\n"
    "  --max-work N           ends a launch after so many warp instructions\n";

namespace {

// Takes the value of an option.
using Take = std::function<Status(Arguments&, const std::string&)>;

Take text_into(std::string Arguments::*member) {
  return [member](Arguments& to, const std::string& value) -> Status {
    to.*member = value;
    return kOk;
  };
}

Result<std::uint64_t> whole_number(const std::string& text, std::uint64_t least) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least)
    return Error{.message = fmt::format("`{}` is no whole number from {} on", printable(text), least)};
  return number;
}

Status take_format(Arguments& to, const std::string& value) {
  if (value != "text" && value != "json" && value != "csv")
    return Error{.message = fmt::format("`{}` is none of text, json, csv", printable(value))};
  to.format = value == "json" ? Format::json : value == "csv" ? Format::csv : Format::text;
  return kOk;
}

Status take_kernel(Arguments& to, const std::string& value) {
  ROOFWALK_TRY(KernelFilter filter, KernelFilter::read(value));
  to.selection.kernels.push_back(std::move(filter));
  return kOk;
}

Status take_condition(Arguments& to, const std::string& value) {
  ROOFWALK_TRY(Condition condition, read_condition(value));
  to.fail_if.push_back(std::move(condition));
  return kOk;
}

Status take_count(Arguments& to, const std::string& value) {
  to.counted_launches = 0;
  if (value == "all") return kOk;
  ROOFWALK_TRY(to.counted_launches, whole_number(value, 1));
  return kOk;
}

Status take_skip(Arguments& to, const std::string& value) {
  ROOFWALK_TRY(to.selection.skip, whole_number(value, 0));
  return kOk;
}

Status take_launches(Arguments& to, const std::string& value) {
  ROOFWALK_TRY(to.selection.count, whole_number(value, 1));
  return kOk;
}

Status take_threads(Arguments& to, const std::string& value) {
  constexpr std::uint64_t kMostThreads = 256;
  ROOFWALK_TRY(const std::uint64_t number, whole_number(value, 1));
  to.threads = static_cast<int>(std::min(number, kMostThreads));
  return kOk;
}

const std::map<std::string, Take>& options_with_value() {
  static const std::map<std::string, Take> options{
      {"--device", text_into(&Arguments::device)},
      {"--json", text_into(&Arguments::json)},
      {"--csv", text_into(&Arguments::csv)},
      {"--plot", text_into(&Arguments::plot)},
      {"--output", text_into(&Arguments::output)},
      {"--junit", text_into(&Arguments::junit)},
      {"--lines", text_into(&Arguments::lines)},
      {"--against", text_into(&Arguments::against)},
      {"--format", take_format},
      {"--kernel", take_kernel},
      // As Nsight Compute has them.
      {"--kernel-name", take_kernel},
      {"-k", take_kernel},
      {"-s", take_skip},
      {"-c", take_launches},
      {"--fail-if", take_condition},
      {"--count", take_count},
      {"--threads", take_threads},
      {"--launch-skip", take_skip},
      {"--launch-count", take_launches},
      {"--max-work",
       [](Arguments& to, const std::string& value) -> Status {
         ROOFWALK_TRY(to.work, whole_number(value, 1));
         return kOk;
       }},
  };
  return options;
}

Error unknown_option(const std::string& option) {
  std::vector<std::string> names{"--sanitize", "--check-only"};
  for (const auto& [name, take] : options_with_value()) names.push_back(name);
  const auto near = near_names(option, names);
  return {.message = fmt::format("there is no option {}", printable(option)),
          .advice = near.empty() ? "./roofwalk profile --help -- lists them"
                                 : fmt::format("did you mean {}?", fmt::join(near, " or "))};
}

Status take_option(Arguments& to, const std::vector<std::string>& words, std::size_t& at) {
  std::string option = words[at], value;
  bool has_value = false;
  if (const std::size_t equals = option.find('='); equals != std::string::npos) {
    value = option.substr(equals + 1);
    option.resize(equals);
    has_value = true;
  }
  if (option == "--sanitize" || option == "--check-only") {
    (option == "--sanitize" ? to.sanitize : to.selection.check_only) = true;
    return kOk;
  }
  const auto known = options_with_value().find(option);
  if (known == options_with_value().end()) return unknown_option(option);
  if (!has_value && at + 1 < words.size() && words[at + 1] != "--") value = words[++at];
  if (value.empty()) return Error{.message = fmt::format("{} needs a value", option)};
  if (const Status taken = known->second(to, value); !taken) {
    const bool names_it = taken.error().message.starts_with(option);
    return Error{.message = (names_it ? "" : option + ": ") + taken.error().message, .advice = taken.error().advice};
  }
  return kOk;
}

// Options that need each other, or that exclude each other.
Status check_together(const Arguments& read) {
  const Selection& selection = read.selection;
  const auto only_of_launches = [&](const char* option) {
    return Error{.message = fmt::format("--check-only measures nothing, so {} has nothing to show", option)};
  };
  if (selection.check_only) {
    if (!read.selection.kernels.empty()) return only_of_launches("--kernel");
    if (!read.lines.empty()) return only_of_launches("--lines");
    if (!read.plot.empty()) return only_of_launches("--plot");
    if (!read.against.empty()) return only_of_launches("--against");
    if (!read.fail_if.empty()) return only_of_launches("--fail-if");
    if (!read.csv.empty() || read.format == Format::csv) return only_of_launches("a CSV file");
  }
  const auto relative =
      std::find_if(read.fail_if.begin(), read.fail_if.end(), [](const Condition& each) { return each.is_relative(); });
  if (relative != read.fail_if.end() && read.against.empty()) {
    return Error{.message = fmt::format("--fail-if '{}' compares with an earlier run", printable(relative->typed)),
                 .advice = "name it with --against FILE"};
  }
  return kOk;
}

}  // namespace

Result<Arguments> read_arguments(const std::vector<std::string>& words) {
  Arguments read;
  read.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (words.empty()) {
    read.asks_for_help = true;
    return read;
  }
  read.verb = words.front();
  std::size_t at = 1;
  for (; at < words.size() && words[at] != "--"; ++at) {
    if (words[at] == "--help" || words[at] == "-h") {
      read.asks_for_help = true;
      return read;
    }
    ROOFWALK_TRY_STATUS(take_option(read, words, at));
  }
  read.command.assign(words.begin() + static_cast<std::ptrdiff_t>(std::min(at + 1, words.size())), words.end());
  if (read.command.empty()) return Error{.message = "the program is missing: ./roofwalk profile [options] -- PROGRAM"};
  ROOFWALK_TRY_STATUS(check_together(read));
  return read;
}

}  // namespace roofwalk
