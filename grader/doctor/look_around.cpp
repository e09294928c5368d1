#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "common/base/network_file_system.h"
#include "common/base/pattern.h"
#include "common/base/subprocess.h"
#include "grader/doctor/surroundings.h"
#include "grader/terminal/terminal.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<long> number_in(const fs::path& file) {
  std::ifstream in(file);
  long value = 0;
  return in >> value ? std::optional<long>(value) : std::nullopt;
}

// The value on the line that begins with `key`, without blanks and quotes.
std::string entry(const fs::path& file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find_first_not_of(" \t\"", key.size());
    const std::size_t end = line.find_last_not_of(" \t\"");
    return at == std::string::npos ? "" : line.substr(at, end + 1 - at);
  }
  return {};
}

struct Answer {
  bool found = false;  // whether the program exists
  int exit_code = -1;
  std::string output;
};

constexpr double kSlurmTimeout_s = 10;

Answer answer_of(std::vector<std::string> arguments) {
  const auto result = run_command({.arguments = std::move(arguments), .timeout_s = 20, .max_output_bytes = 1 << 16});
  if (!result) return {};
  return {true, result->exit_code, result->output};
}

std::string first_line_of(std::vector<std::string> arguments) {
  const Answer answer = answer_of(std::move(arguments));
  return answer.exit_code == 0 ? answer.output.substr(0, answer.output.find('\n')) : "";
}

// The number of processors that this process may use. Less, and perhaps not a whole number, if a cgroup limits the
// processor time.
double cores() {
  cpu_set_t allowed;
  double count = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0
                     ? CPU_COUNT(&allowed)
                     : static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  std::ifstream in("/sys/fs/cgroup/cpu.max");  // "200000 100000", or "max 100000"
  double quota = 0, period = 0;
  if (in >> quota >> period && period > 0) count = std::min(count, quota / period);
  return count;
}

std::uint64_t memory_bytes() {
  auto bytes =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
  if (const auto limit = number_in("/sys/fs/cgroup/memory.max"); limit && *limit > 0) {
    bytes = std::min(bytes, static_cast<std::uint64_t>(*limit));
  }
  return bytes;
}

Surroundings::System system_around() {
  Surroundings::System system;
  system.name = entry("/etc/os-release", "PRETTY_NAME=");
  utsname kernel{};
  const std::string release = ::uname(&kernel) == 0 ? kernel.release : "";
  if (release.find("Microsoft") != std::string::npos) system.wsl = 1;
  if (release.find("microsoft") != std::string::npos) system.wsl = 2;
  system.container = container_around();
  system.slurm_job = variable("SLURM_JOB_ID");
  system.is_root = ::geteuid() == 0;
  system.cores = cores();
  system.memory_bytes = memory_bytes();
  return system;
}

// On WSL, folders of Windows come over 9p.
std::string network_of(const fs::path& folder, bool is_windows) {
  const char* const name = network_file_system(folder);
  if (name == nullptr) return {};
  return is_windows && std::string_view(name) == "9p" ? "Windows" : name;
}

Surroundings::Storage storage_around(const Course& course, bool is_windows) {
  Surroundings::Storage storage;
  const fs::path root = course.root.empty() ? fs::path(".") : course.root;
  std::error_code error;
  const auto space = fs::space(root, error);
  if (!error) storage.free_bytes = space.available;
  const fs::path my = course.database().parent_path(), cache = course.cache().parent_path();
  for (const fs::path& path : {my, course.database(), cache}) {
    if (!fs::exists(path, error)) {
      // The first run will create the missing folder.
      if (path == course.database() || ::access(root.c_str(), W_OK) == 0) continue;
    } else if (::access(path.c_str(), W_OK) == 0) {
      continue;
    }
    storage.unwritable.push_back(path.string());
  }
  storage.network = network_of(fs::exists(my, error) ? my : root, is_windows);
  return storage;
}

// "13.0.88" of "Cuda compilation tools, release 13.0, V13.0.88".
std::string version_after_v(const std::string& output) {
  static const Pattern kVersion(R"(, V(\d+(\.\d+)+))");
  const auto groups = kVersion.search(output);
  return groups ? (*groups)[1] : "";
}

std::string cupti_in(const std::vector<fs::path>& roots) {
  std::error_code error;
  for (const fs::path& root : roots) {
    for (const char* folder :
         {"extras/CUPTI/lib64", "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"}) {
      const fs::path library = root / folder / "libcupti.so.13";
      if (fs::exists(library, error)) return library.string();
    }
  }
  return {};
}

Surroundings::Tools tools_around(const Course& course) {
  Surroundings::Tools tools;
  tools.compiler = first_line_of({"c++", "--version"});
  tools.toolkit = find_toolkit(course.root);
  std::vector<fs::path> roots;
  if (tools.toolkit) {
    tools.ptxas_version =
        version_after_v(answer_of({(tools.toolkit->root / "bin/ptxas").string(), "--version"}).output);
    roots.push_back(tools.toolkit->root);
  }
  roots.push_back(course.root / ".venv/cuda");
  tools.cupti_library = cupti_in(roots);
  return tools;
}

int gpus_on_the_bus() {
  int count = 0;
  std::error_code error;
  for (const auto& device : fs::directory_iterator("/sys/bus/pci/devices", error)) {
    const bool is_nvidia = first_line(device.path() / "vendor") == "0x10de";
    if (is_nvidia && first_line(device.path() / "class").starts_with("0x03")) ++count;  // only display controllers
  }
  return count;
}

// Whether this process is in the initial user namespace. The driver ignores capabilities in any other one, such as that
// of a rootless container.
bool is_first_user_namespace() {
  std::ifstream in("/proc/self/uid_map");
  unsigned long inside = 0, outside = 0, count = 0;
  return in >> inside >> outside >> count && inside == 0 && outside == 0 && count == 0xffffffff;
}

bool has_capability(int number) {  // linux/capability.h
  const std::string mask = entry("/proc/self/status", "CapEff:");
  return is_first_user_namespace() && (std::strtoull(mask.c_str(), nullptr, 16) >> number & 1) != 0;
}

Surroundings::Gpu gpu_around() {
  Surroundings::Gpu gpu;
  gpu.on_the_bus = gpus_on_the_bus();
  const std::string module = first_line("/proc/driver/nvidia/version");
  static const Pattern kVersion(R"(\s(\d+\.\d+(\.\d+)?)\s)");
  if (const auto groups = kVersion.search(module)) gpu.kernel_module = (*groups)[1];
  gpu.driver = probe_driver();
  gpu.visible_devices = variable("CUDA_VISIBLE_DEVICES");
  gpu.hides_all = std::getenv("CUDA_VISIBLE_DEVICES") != nullptr &&
                  (gpu.visible_devices.empty() || gpu.visible_devices.starts_with('-'));
  const std::string restricted = entry("/proc/driver/nvidia/params", "RmProfilingAdminOnly:");
  if (!restricted.empty()) gpu.counters_for_admins_only = restricted != "0";
  gpu.may_administer = has_capability(21);
  gpu.may_monitor = has_capability(38);
  const std::string mps = variable("CUDA_MPS_PIPE_DIRECTORY");
  gpu.has_mps = fs::exists(fs::path(mps.empty() ? "/tmp/nvidia-mps" : mps) / "control");
  gpu.sees_host_pids = sees_host_pids();
  return gpu;
}

bool speaks_utf8() {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {  // the first variable that is set counts
    if (locale.empty()) locale = variable(name);
  }
  std::transform(locale.begin(), locale.end(), locale.begin(), [](unsigned char c) { return std::tolower(c); });
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

Surroundings::Screen screen_around() {
  Surroundings::Screen screen;
  screen.gnuplot = first_line_of({"gnuplot", "--version"});
  if (!screen.gnuplot.empty()) {
    std::istringstream formats(answer_of({"gnuplot", "-d", "-e", "print GPVAL_TERMINALS"}).output);
    for (std::string format; formats >> format;) screen.gnuplot_formats.insert(format);
  }
  screen.font = first_line_of({"fc-match", "--format=%{family[0]}", "sans"});
  screen.is_terminal = ::isatty(STDOUT_FILENO) == 1;
  screen.has_colors = wants_color();
  screen.has_utf8 = speaks_utf8();
  screen.columns = terminal_size().columns;
  return screen;
}

}  // namespace

Surroundings::Slurm slurm_around(double timeout_s) {
  Surroundings::Slurm slurm;
  slurm.is_here = find_program("sinfo").has_value();
  if (!slurm.is_here) return slurm;
  const auto result =
      run_command({.arguments = {"sinfo", "--noheader", "--Node", "--format=%N|%T|%E"}, .timeout_s = timeout_s});
  if (!result) {
    slurm.trouble = result.error().message;
  } else if (result->timed_out) {
    slurm.trouble = fmt::format("no answer within {} s", timeout_s);
  } else if (result->exit_code != 0) {
    slurm.trouble = result->output.substr(0, result->output.find('\n'));
    if (slurm.trouble.empty()) slurm.trouble = fmt::format("sinfo ends with {}", result->exit_code);
  } else {
    slurm.nodes = slurm_nodes(result->output);
  }
  return slurm;
}

Surroundings look_around(const Course& course) {
  Surroundings around;
  around.system = system_around();
  around.storage = storage_around(course, around.system.wsl > 0);
  around.gpu = gpu_around();
  around.tools = tools_around(course);
  around.screen = screen_around();
  around.sandbox.box = box_facts();
  around.slurm = slurm_around(kSlurmTimeout_s);
  return around;
}

}  // namespace roofwalk
