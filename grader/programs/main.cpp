// roofwalk-programs: runs CUDA programs of the user's own on the virtual GPU, and builds them so that they can run
// there. ./roofwalk calls it for `profile ... -- PROGRAM` and for `build ... -- COMMAND`.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "common/base/json.h"
#include "common/cudart/executable.h"
#include "common/cudart/server.h"
#include "grader/programs/program_report.h"
#include "grader/programs/run_program.h"
#include "grader/text/text.h"

namespace {

using namespace roofwalk;
namespace fs = std::filesystem;

constexpr int kUsage = 2, kOurFault = 3;
constexpr const char* kUsageText =
    "usage: ./roofwalk profile [options] -- PROGRAM [arguments]   run a CUDA program on the virtual GPU\n"
    "       ./roofwalk build [--device virtual:NAME] -- COMMAND   build one so that it can run there\n"
    "options of profile:\n"
    "  --device virtual:NAME   the machine (./roofwalk machines lists them); default: virtual:classroom\n"
    "  --json FILE             write the figures of all kernels\n"
    "  --plot FILE             draw the roofline, a dot a kernel, as .svg or .png\n"
    "  --count N               count so many launches with the same kernel, grid and block; the others run for their\n"
    "                          results alone, faster, and have the figures of the last counted one; default: all\n"
    "  --sanitize              find races in shared memory and the like, too; slower\n"
    "  --threads N             threads to use; no figure depends on it\n"
    "  --max-work N            end a launch after this many warp instructions, as one that never ends\n";

struct Arguments {
  std::string verb;
  std::string device = "virtual:classroom", json, plot;
  bool sanitize = false;
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::uint64_t work = 1'000'000'000'000, counted_launches = 0;
  std::vector<std::string> command;
};

// What ends this program before it starts another.
struct Stop {
  std::string text;
  int exit_code = kOurFault;
};

int complain(std::string_view text) {
  std::fputs(("roofwalk: " + printable(text) + "\n").c_str(), stderr);
  return kOurFault;
}

std::uint64_t number_in(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || number == 0) throw Stop{fmt::format("{} needs a number", option), kUsage};
  return number;
}

Arguments read_arguments(int argc, char** argv) {
  Arguments read;
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) throw Stop{kUsageText, kUsage};
  read.verb = words.front();
  std::size_t at = 1;
  for (; at < words.size() && words[at] != "--"; ++at) {
    std::string option = words[at];
    if (option == "--help" || option == "-h") throw Stop{kUsageText, 0};
    if (option == "--sanitize") {
      read.sanitize = true;
      continue;
    }
    std::string value;
    if (const std::size_t equals = option.find('='); equals != std::string::npos) {
      value = option.substr(equals + 1);
      option.resize(equals);
    } else if (at + 1 < words.size() && words[at + 1] != "--") {
      value = words[++at];
    }
    if (option == "--device")
      read.device = value;
    else if (option == "--json")
      read.json = value;
    else if (option == "--plot")
      read.plot = value;
    else if (option == "--threads")
      read.threads = static_cast<int>(std::min<std::uint64_t>(number_in(option, value), 256));
    else if (option == "--max-work")
      read.work = number_in(option, value);
    else if (option == "--count")
      read.counted_launches = number_in(option, value);
    else
      throw Stop{fmt::format("there is no option {} here\n{}", option, kUsageText), kUsage};
    if (value.empty()) throw Stop{fmt::format("{} needs a value", option), kUsage};
  }
  read.command.assign(words.begin() + static_cast<std::ptrdiff_t>(std::min(at + 1, words.size())), words.end());
  if (read.command.empty()) throw Stop{kUsageText, kUsage};
  return read;
}

Machine machine_of(const std::string& device) {
  constexpr std::string_view kVirtual = "virtual:";
  if (device == "virtual" || device == "auto") return machine_of("virtual:classroom");
  if (!device.starts_with(kVirtual))
    throw Stop{fmt::format("{} is no virtual GPU: a program reaches a real one without Roofwalk", device), kUsage};
  auto machine = load_machine(device.substr(kVirtual.size()));
  if (!machine) throw Stop{machine.error().text(), kUsage};
  return *std::move(machine);
}

fs::path root_folder() {
  const char* const root = std::getenv("ROOFWALK_ROOT");
  if (root == nullptr) throw Stop{"start it as ./roofwalk"};
  return root;
}

Toolkit toolkit_of(const fs::path& root) {
  auto toolkit = find_toolkit(root);
  if (!toolkit) throw Stop{toolkit.error().text()};
  return *std::move(toolkit);
}

// The folder of libcudart.so, beside this program's in the build.
fs::path library_folder() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "cudart"; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

int build_program(const Arguments& arguments) {
  const fs::path root = root_folder();
  const Machine machine = machine_of(arguments.device);
  const Toolkit toolkit = toolkit_of(root);
  const std::string flags =
      fmt::format("-cudart shared -lineinfo -gencode arch={0},code={0} -L{1}", machine.arch, library_folder().string());
  const char* const given = std::getenv("NVCC_APPEND_FLAGS");
  std::map<std::string, std::string> environment{
      {"NVCC_APPEND_FLAGS", (given == nullptr ? "" : std::string(given) + " ") + flags}};
  if (!find_program("nvcc")) environment["PATH"] = put_first("PATH", (toolkit.root / "bin").string(), ':');
  const auto ended = run_in_foreground(arguments.command, environment);
  if (!ended) throw Stop{ended.error().text(), kUsage};
  return *ended;
}

void refuse_unsuitable(const Arguments& arguments) {
  const auto path = find_program(arguments.command.front());
  if (!path) return;
  const cudart::Executable program = cudart::look_at_executable(*path);
  if (!program.has_device_code || program.has_shared_runtime) return;
  throw Stop{fmt::format("{} has the CUDA runtime linked in, as nvcc does by default: build it anew under `./roofwalk "
                         "build -- make`, or with nvcc -cudart shared -lineinfo",
                         arguments.command.front()),
             kUsage};
}

// Writes the reports. Whatever fails here, the program's exit code stays.
void report(const Arguments& arguments, const ProgramRun& run, int programs) {
  if (programs == 0) {
    complain(
        fmt::format("{} has not used the CUDA runtime, so there is nothing to show: was it built under "
                    "`./roofwalk build -- make`?",
                    arguments.command.front()));
  } else if (!run.kernels.empty()) {
    std::fputs(program_table(run).c_str(), stderr);
  } else {
    complain("no kernel has run to its end, so there is no table");
  }
  if (!arguments.json.empty()) {
    std::ofstream file(arguments.json, std::ios::binary);
    file << json_text(to_json(run)) << "\n";
    if (!file.flush()) complain(fmt::format("{} could not be written", arguments.json));
  }
  if (arguments.plot.empty()) return;
  const Chart chart = program_chart(run);
  if (chart.walk.empty()) {
    complain("no kernel has FLOPs and bytes of DRAM, so there is no chart");
  } else if (const auto drawn = write_plot(chart, arguments.plot); !drawn) {
    complain(drawn.error().text());
  }
}

int profile_program(const Arguments& arguments) {
  refuse_unsuitable(arguments);
  const fs::path root = root_folder();
  cudart::SessionOptions options;
  options.machine = machine_of(arguments.device);
  options.toolkit = toolkit_of(root);
  options.cache = root / ".cache" / "programs";
  options.caller = fs::current_path();
  options.sanitize = arguments.sanitize;
  options.threads = arguments.threads;
  options.work = arguments.work;
  options.counted_launches = arguments.counted_launches;
  cudart::KernelRecords records([](const cudart::Told& told) { complain(told.text); });
  auto server = cudart::Server::start(options, records);
  if (!server) throw Stop{server.error().text()};
  const auto ended = run_in_foreground(
      arguments.command, {{cudart::kSocketVariable, (*server)->socket().string()},
                          {"LD_LIBRARY_PATH", put_first("LD_LIBRARY_PATH", library_folder().string(), ':')}});
  constexpr double kPatienceSeconds = 2;
  if (!(*server)->stop(kPatienceSeconds)) {
    std::error_code error;
    fs::remove_all((*server)->socket().parent_path(), error);
    (void)server->release();  // its thread still runs a launch, for a program that has gone
  } else {
    server->reset();
  }
  if (!ended) throw Stop{ended.error().text(), kUsage};
  report(arguments, {joined(arguments.command), options.machine, *ended, records.kernels(), records.told()},
         records.programs());
  return *ended;
}

int run(int argc, char** argv) {
  try {
    const Arguments arguments = read_arguments(argc, argv);
    return arguments.verb == "build" ? build_program(arguments) : profile_program(arguments);
  } catch (const Stop& stop) {
    if (stop.text == kUsageText) {
      std::fputs(kUsageText, stop.exit_code == 0 ? stdout : stderr);
    } else {
      std::fputs(("roofwalk: " + stop.text + "\n").c_str(), stderr);
    }
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
