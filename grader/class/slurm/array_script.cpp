#include "grader/class/slurm/array_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace roofwalk {
namespace {

// A word for bash.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// A file name for sbatch, which replaces % and a letter.
std::string literal(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '%' ? std::string("%%") : std::string(1, c);
  return out;
}

std::string_view name_of(std::string_view option) { return option.substr(0, option.find('=')); }

bool asks_for_gpu(const std::string& option) {
  const std::string_view name = name_of(option);
  return name == "--gres" || name == "--gpus" || name.starts_with("--gpus-per-");
}

bool asks_for_gpus(const std::vector<std::string>& options) {
  return std::any_of(options.begin(), options.end(), asks_for_gpu);
}

}  // namespace

std::string array_script(const ArrayJob& job) {
  const std::string folder = (job.folder / "arrays" / job.name).string();
  std::string text = "#!/bin/bash\n";
  const auto add = [&](const std::string& option) { text += "#SBATCH " + option + "\n"; };
  add("--job-name=" + job.name);
  add(fmt::format("--array=0-{}{}", job.tasks - 1, job.at_once > 0 ? fmt::format("%{}", job.at_once) : ""));
  add(fmt::format("--output=\"{}/%a.log\"", literal(folder)));
  add("--open-mode=append");
  add("--requeue");
  add("--ntasks=1");
  if (job.needs_gpu && !asks_for_gpus(job.options)) add("--gres=gpu:1");
  for (const std::string& option : job.options) add(option);
  for (const auto& [name, value] : job.environment) text += fmt::format("export {}={}\n", name, in_quotes(value));
  return text + fmt::format("exec {} grade-task {} {} \"$SLURM_ARRAY_TASK_ID\"\n", in_quotes(job.program.string()),
                            in_quotes(job.folder.string()), job.name);
}

std::string follow_up_script(const FollowUpJob& job) {
  std::string text = "#!/bin/bash\n";
  const auto add = [&](const std::string& option) { text += "#SBATCH " + option + "\n"; };
  add("--job-name=" + job.name);
  if (!job.after.empty()) add(fmt::format("--dependency=afterany:{}", fmt::join(job.after, ":")));
  add(fmt::format("--output=\"{}/follow-up.log\"", literal(job.folder.string())));
  add("--open-mode=append");
  add("--requeue");
  add("--ntasks=1");
  for (const std::string& option : job.options) {
    const std::string_view name = name_of(option);
    if (!asks_for_gpu(option) && name != "--dependency" && name != "--exclusive") add(option);
  }
  for (const auto& [name, value] : job.environment) text += fmt::format("export {}={}\n", name, in_quotes(value));
  return text +
         fmt::format("exec {} grade-follow-up {}\n", in_quotes(job.program.string()), in_quotes(job.folder.string()));
}

Status check_sbatch_option(const std::string& option) {
  constexpr std::string_view kOurs[] = {"--array", "--job-name", "--output",  "--error",
                                        "--wrap",  "--wait",     "--parsable"};
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (!option.starts_with("--") || option.size() < 4 || std::any_of(option.begin(), option.end(), is_control)) {
    return Error{.message = "an option for sbatch is one word that begins with --",
                 .advice = "for example --sbatch \"--partition=lab --time=30\""};
  }
  // sbatch takes the beginning of an option's name for the option.
  const auto begins = [&](std::string_view name) { return name.starts_with(name_of(option)); };
  if (std::any_of(std::begin(kOurs), std::end(kOurs), begins)) {
    return Error{.message = fmt::format("{} is set by roofwalk itself", name_of(option)),
                 .advice = "--at-once limits how many tasks run at the same time"};
  }
  if (begins("--clusters") || begins("--test-only")) {
    return Error{.message = fmt::format("{} would hide the tasks from roofwalk", name_of(option)),
                 .advice = "SLURM_CLUSTERS=NAME in front of the command chooses a cluster"};
  }
  return kOk;
}

}  // namespace roofwalk
