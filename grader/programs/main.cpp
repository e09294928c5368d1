// roofwalk-programs: runs CUDA programs of the user's own on the virtual GPU, and builds them so that they can run
// there. ./roofwalk calls it for `profile ... -- PROGRAM` and for `build ... -- COMMAND`.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/json.h"
#include "common/cudart/executable.h"
#include "common/cudart/server.h"
#include "grader/profile/profile_text.h"
#include "grader/programs/against.h"
#include "grader/programs/arguments.h"
#include "grader/programs/junit.h"
#include "grader/programs/program_report.h"
#include "grader/programs/program_table.h"
#include "grader/programs/progress_line.h"
#include "grader/programs/run_program.h"
#include "grader/text/text.h"

namespace {

using namespace roofwalk;
namespace fs = std::filesystem;

constexpr int kNotAccepted = 1, kUsage = 2, kOurFault = 3;

// What ends this program before it starts another.
struct Stop {
  std::string text;
  int exit_code = kOurFault;
};

int complain(std::string_view text) {
  std::fputs(("roofwalk: " + printable(text) + "\n").c_str(), stderr);
  return kOurFault;
}

template <class T>
T value_or_stop(Result<T> result, int exit_code) {
  if (!result) throw Stop{result.error().text(), exit_code};
  return *std::move(result);
}

Machine machine_of(const std::string& device) {
  constexpr std::string_view kVirtual = "virtual:";
  if (device == "virtual" || device == "auto") return machine_of("virtual:classroom");
  if (!device.starts_with(kVirtual))
    throw Stop{fmt::format("{} is no virtual GPU: a program reaches a real one without Roofwalk", device), kUsage};
  return value_or_stop(load_machine(device.substr(kVirtual.size())), kUsage);
}

fs::path root_folder() {
  const char* const root = std::getenv("ROOFWALK_ROOT");
  if (root == nullptr) throw Stop{"start it as ./roofwalk"};
  return root;
}

// The folder of libcudart.so, beside this program's in the build.
fs::path library_folder() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "cudart"; }

cudart::Executable look_at(const Arguments& arguments) {
  const auto path = find_program(arguments.command.front());
  return path ? cudart::look_at_executable(*path) : cudart::Executable{};
}

void refuse_unsuitable(const Arguments& arguments) {
  const cudart::Executable program = look_at(arguments);
  if (!program.libraries.empty()) {
    complain(fmt::format("{} is linked with {}, which need{} a real GPU: calls of {} fail", arguments.command.front(),
                         fmt::join(program.libraries, ", "), program.libraries.size() == 1 ? "s" : "",
                         program.libraries.size() == 1 ? "it" : "them"));
  }
  if (!program.has_device_code || program.has_shared_runtime) return;
  throw Stop{fmt::format("{} has the CUDA runtime linked in, as nvcc does by default: build all of it anew under "
                         "`./roofwalk build -- make -B`, or with nvcc -cudart shared -lineinfo",
                         arguments.command.front()),
             kUsage};
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) complain(fmt::format("{} could not be written", path));
}

// Why there is no table.
void tell_without_kernels(const Arguments& arguments, const ProgramRun& run, const LaunchLog& log, int programs) {
  if (programs == 0 && look_at(arguments).needs_driver) {
    complain(
        fmt::format("{} is linked with the CUDA driver (libcuda.so), which is not served: the virtual GPU runs "
                    "programs of the CUDA runtime",
                    arguments.command.front()));
  } else if (programs == 0) {
    complain(
        fmt::format("{} has not used the CUDA runtime, so there is nothing to show: was it built under "
                    "`./roofwalk build -- make`?",
                    arguments.command.front()));
  } else if (run.launches > 0 && run.measured_launches == 0) {
    constexpr std::size_t kMostNames = 12;
    std::vector<std::string> names;
    for (const auto& [name, launches] : log.launches_by_name())
      names.push_back(fmt::format("{} ({} launch{})", name, launches, launches == 1 ? "" : "es"));
    if (names.size() > kMostNames) {
      names.resize(kMostNames);
      names.emplace_back("...");
    }
    complain(fmt::format("none of its launches was chosen; its kernels are {}", fmt::join(names, ", ")));
  } else {
    complain("no kernel has run to its end, so there is no table");
  }
}

// What --check-only found, in one line.
void tell_check(const ProgramRun& run) {
  const auto faults = std::count_if(run.told.begin(), run.told.end(), [](const auto& each) { return each.is_fault; });
  complain(fmt::format("{} launch{} checked, {}", grouped(static_cast<double>(run.launches)),
                       run.launches == 1 ? "" : "es",
                       faults == 0 ? "no fault found" : fmt::format("{} fault{}", faults, faults == 1 ? "" : "s")));
}

// The longest kernel of that name, line by line.
std::optional<Profile> asked_lines(const std::string& typed, const std::vector<MeasuredKernel>& kernels,
                                   const Machine& machine) {
  const KernelFilter filter = value_or_stop(KernelFilter::read(typed), kUsage);
  const MeasuredKernel* longest = nullptr;
  for (const MeasuredKernel& each : kernels) {
    if (!filter.matches(each.sum.name)) continue;
    if (longest == nullptr || each.sum.elapsed_ns > longest->sum.elapsed_ns) longest = &each;
  }
  if (longest == nullptr) {
    complain(fmt::format("--lines {}: no kernel that was measured has this name", typed));
    return std::nullopt;
  }
  auto profile = profile_of_kernel(*longest, machine);
  if (!profile) {
    complain(fmt::format("--lines {}: {}", typed, profile.error().text()));
    return std::nullopt;
  }
  return *std::move(profile);
}

void show_run(const Arguments& arguments, const ProgramRun& run, const Json& json) {
  const std::string text = arguments.format == Format::json  ? json_text(json) + "\n"
                           : arguments.format == Format::csv ? to_csv(json)
                           : arguments.output.empty() ? program_table(run, columns_of_stderr(), colors_of_stderr())
                                                      : program_table(run, columns_of_stderr(), Colors(false));
  if (arguments.output.empty()) {
    std::fputs(text.c_str(), stderr);
  } else {
    write_file(arguments.output, text);
  }
}

void draw(const ProgramRun& run, const std::string& path) {
  const Chart chart = program_chart(run);
  if (chart.walk.empty()) {
    complain("no kernel has FLOPs and bytes of DRAM, so there is no chart");
  } else if (const auto drawn = write_plot(chart, path); !drawn) {
    complain(drawn.error().text());
  }
}

// Shows what has changed, and judges the conditions. Returns the exit code that they ask for.
int compare(const Arguments& arguments, const Json& json, const std::optional<Json>& earlier) {
  if (earlier) {
    std::fputs(changes_table(*earlier, json, arguments.against, columns_of_stderr(), colors_of_stderr()).c_str(),
               stderr);
  }
  const std::vector<Judged> judged = judge(arguments.fail_if, json, earlier ? &*earlier : nullptr);
  if (!arguments.junit.empty()) {
    write_file(arguments.junit,
               junit_text(json.text_of("command"), judged, json.at("faults").get<std::vector<std::string>>()));
  }
  int exit_code = 0;
  for (const Judged& each : judged) {
    if (each.outcome != Judged::Outcome::failed) continue;
    exit_code = kNotAccepted;
    complain(fmt::format("{}{}, fails --fail-if '{}'", each.kernel.empty() ? "" : each.kernel + ": ", each.what,
                         each.condition));
  }
  return exit_code;
}

// Writes the reports. Returns 1 if what was asked for is not fulfilled; whatever else fails here, the program's exit
// code stays.
int report(const Arguments& arguments, const ProgramRun& run, const LaunchLog& log, int programs,
           const std::optional<Json>& earlier) {
  Json json = to_json(run);
  std::optional<Profile> lines;
  if (!arguments.lines.empty()) lines = asked_lines(arguments.lines, log.kernels(), run.machine);
  if (lines) json["profile"] = lines_json(*lines);
  if (arguments.selection.check_only && run.launches > 0 && arguments.format == Format::text) {
    tell_check(run);
  } else if (run.kernels.empty() && arguments.format == Format::text) {
    tell_without_kernels(arguments, run, log, programs);
  } else {
    show_run(arguments, run, json);
  }
  if (lines && arguments.format == Format::text)
    std::fputs(("\n" + profile_text(*lines, columns_of_stderr(), colors_of_stderr())).c_str(), stderr);
  if (!arguments.json.empty()) write_file(arguments.json, json_text(json) + "\n");
  if (!arguments.csv.empty()) write_file(arguments.csv, to_csv(json));
  if (!arguments.plot.empty()) draw(run, arguments.plot);
  const int exit_code = compare(arguments, json, earlier);
  return arguments.is_check() && !json.at("faults").empty() ? kNotAccepted : exit_code;
}

cudart::SessionOptions options_of(const Arguments& arguments, const Machine& machine, LaunchLog& log) {
  const fs::path root = root_folder();
  cudart::SessionOptions options;
  options.machine = machine;
  options.toolkit = value_or_stop(find_toolkit(root), kOurFault);
  options.cache = root / ".cache" / "programs";
  options.caller = fs::current_path();
  options.sanitize = arguments.sanitize;
  options.threads = arguments.threads;
  options.work = arguments.work;
  options.counted_launches = arguments.counted_launches;
  options.observer = &log;
  return options;
}

// Runs the command with a virtual GPU, which its programs find through the environment.
Result<int> run_beside_gpu(const Arguments& arguments, const cudart::SessionOptions& options,
                           cudart::KernelRecords& records, std::map<std::string, std::string> environment) {
  auto server = value_or_stop(cudart::Server::start(options, records), kOurFault);
  environment[cudart::kSocketVariable] = server->socket().string();
  environment["LD_LIBRARY_PATH"] = put_first("LD_LIBRARY_PATH", library_folder().string(), ':');
  auto ended = run_in_foreground(arguments.command, environment);
  constexpr double kPatienceSeconds = 2;
  if (!server->stop(kPatienceSeconds)) {
    std::error_code error;
    fs::remove_all(server->socket().parent_path(), error);
    (void)server.release();  // its thread still runs a launch, for a program that has gone
  }
  return ended;
}

int build_program(const Arguments& arguments) {
  const fs::path root = root_folder();
  const Machine machine = machine_of(arguments.device);
  const Toolkit toolkit = value_or_stop(find_toolkit(root), kOurFault);
  std::string flags =
      fmt::format("-cudart shared -lineinfo -gencode arch={0},code={0} -L{1}", machine.arch, library_folder().string());
  // The toolkit from PyPI has its libraries in lib, where its own nvcc does not look for them.
  if (fs::exists(toolkit.root / "lib/libcudadevrt.a")) flags += " -L" + (toolkit.root / "lib").string();
  const char* const given = std::getenv("NVCC_APPEND_FLAGS");
  // A linker that takes the shared runtime for the static one, where a makefile names that itself.
  std::map<std::string, std::string> environment{
      {"NVCC_APPEND_FLAGS", (given == nullptr ? "" : std::string(given) + " ") + flags},
      {"COMPILER_PATH", put_first("COMPILER_PATH", (library_folder() / "linker").string(), ':')}};
  if (!find_program("nvcc")) environment["PATH"] = put_first("PATH", (toolkit.root / "bin").string(), ':');
  // Builds run programs, too: CMake one that asks for the architecture of the GPU, which many projects compile for.
  LaunchLog log(arguments.selection);
  cudart::KernelRecords records([](const cudart::Told& told) { complain(told.text); });
  return value_or_stop(run_beside_gpu(arguments, options_of(arguments, machine, log), records, environment), kUsage);
}

int profile_program(const Arguments& arguments) {
  refuse_unsuitable(arguments);
  const Machine machine = machine_of(arguments.device);
  std::optional<Json> earlier;
  if (!arguments.against.empty()) earlier = value_or_stop(read_run(arguments.against, machine), kUsage);
  LaunchLog log(arguments.selection);
  ProgressLine progress(log);
  cudart::KernelRecords records([&](const cudart::Told& told) {
    progress.erase();
    complain(told.text);
  });
  const auto ended = run_beside_gpu(arguments, options_of(arguments, machine, log), records, {});
  progress.stop();
  const int exit_code = value_or_stop(ended, kUsage);
  ProgramRun run;
  run.command = fmt::format("{}", fmt::join(arguments.command, " "));
  run.machine = machine;
  run.exit_code = exit_code;
  if (!arguments.selection.check_only) {
    run.kernels = program_kernels(records.kernels(), log.kernels(), machine, !arguments.selection.is_of_all());
  }
  run.told = records.told();
  run.launches = log.launches();
  run.measured_launches = log.chosen_launches();
  const int asked = report(arguments, run, log, records.programs(), earlier);
  return exit_code != 0 ? exit_code : asked;
}

int run(int argc, char** argv) {
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const Arguments arguments = value_or_stop(read_arguments(words), kUsage);
    if (arguments.asks_for_help) {
      std::fputs(kUsageOfPrograms, words.empty() ? stderr : stdout);
      return words.empty() ? kUsage : 0;
    }
    return arguments.verb == "build" ? build_program(arguments) : profile_program(arguments);
  } catch (const Stop& stop) {
    complain(stop.text);
    return stop.exit_code;
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int exit_code = run(argc, argv);
  std::fflush(stdout);
  std::fflush(stderr);
  std::_Exit(exit_code);  // a thread may still be in a launch
}
