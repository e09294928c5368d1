#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "common/base/subprocess.h"
#include "common/build/build.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr int kOldestMajor = 13;

struct Version {
  int major = 0;
  std::string text;  // "13.0.88"; empty if nvcc does not run
};

Version version_of(const fs::path& root) {
  for (const char* tool : {"bin/nvcc", "bin/ptxas"}) {
    if (::access((root / tool).c_str(), X_OK) != 0) return {};
  }
  const auto result = run_command(
      {.arguments = {(root / "bin/nvcc").string(), "--version"}, .timeout_s = 10, .max_output_bytes = 4096});
  if (!result || result->exit_code != 0) return {};
  // "Cuda compilation tools, release 13.0, V13.0.88"
  const std::size_t at = result->output.find(", V");
  if (at == std::string::npos) return {};
  const std::size_t end = result->output.find_first_not_of("0123456789.", at + 3);
  Version version{.text = result->output.substr(at + 3, end == std::string::npos ? end : end - at - 3)};
  version.major = std::atoi(version.text.c_str());
  return version;
}

// Returns the real folder of the toolkit. If nvcc is a script that calls an nvcc elsewhere, a dry run prints the folder
// of that nvcc; a box with only the script's folder could not compile.
fs::path home_of(const fs::path& root) {
  const fs::path nvcc = root / "bin/nvcc";
  char magic[2] = {};
  if (!std::ifstream(nvcc).read(magic, sizeof magic) || magic[0] != '#' || magic[1] != '!') return root;
  const auto result = run_command({.arguments = {nvcc.string(), "-dryrun", "-E", "-x", "cu", "/dev/null"},
                                   .environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LC_ALL", "C"}},
                                   .timeout_s = 10,
                                   .max_output_bytes = 65'536});
  if (!result) return root;
  std::istringstream lines(result->output);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kKey = "#$ TOP=";
    if (!line.starts_with(kKey)) continue;
    std::error_code error;
    const fs::path home = fs::canonical(line.substr(kKey.size()), error);
    return !error && ::access((home / "bin/nvcc").c_str(), X_OK) == 0 ? home : root;
  }
  return root;
}

std::vector<fs::path> candidates(const fs::path& project_root) {
  std::vector<fs::path> roots;
  const auto add = [&roots](const fs::path& root) {
    std::error_code error;
    const fs::path nvcc = fs::canonical(root / "bin/nvcc", error);  // resolves links to the toolkit's own bin
    if (error) return;
    const fs::path real = nvcc.parent_path().parent_path();
    if (std::find(roots.begin(), roots.end(), real) == roots.end()) roots.push_back(real);
  };
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  std::istringstream path(variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    std::error_code error;
    const fs::path nvcc = fs::canonical(fs::path(folder) / "nvcc", error);
    if (!error) add(nvcc.parent_path().parent_path());
  }
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string root = variable(name); !root.empty()) add(root);
  }
  add("/usr/local/cuda");
  add("/opt/cuda");
  add(project_root / ".venv/cuda");
  return roots;
}

}  // namespace

Result<Toolkit> find_toolkit(const fs::path& project_root) {
  constexpr const char* kAdvice = "run ./roofwalk once, which installs the CUDA toolkit into .venv";
  if (const char* chosen = std::getenv("ROOFWALK_CUDA"); chosen != nullptr && *chosen != '\0') {
    const Version version = version_of(chosen);
    if (version.major >= kOldestMajor) return Toolkit{.root = home_of(chosen), .version = version.text};
    return Error{.message = fmt::format("ROOFWALK_CUDA is {}, which holds no working nvcc {} or later with its ptxas",
                                        chosen, kOldestMajor),
                 .advice = "unset it, or name the folder of a CUDA toolkit"};
  }
  std::string too_old;
  for (const fs::path& root : candidates(project_root)) {
    const Version version = version_of(root);
    if (version.major >= kOldestMajor) return Toolkit{.root = home_of(root), .version = version.text};
    if (version.major > 0 && too_old.empty())
      too_old = fmt::format("; {} in {} is too old", version.text, root.string());
  }
  return Error{.message = fmt::format("no CUDA toolkit {} or later was found{}", kOldestMajor, too_old),
               .advice = kAdvice};
}

}  // namespace roofwalk
