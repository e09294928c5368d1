#include "grader/author/patched_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>

#include "common/base/subprocess.h"
#include "common/build/files.h"
#include "grader/course/course.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

// The comment lines that a text begins with, and the rest.
struct Headed {
  std::string head, rest;
};

Headed headed(const std::string& text) {
  std::size_t end = 0;
  while (end < text.size() && text.compare(end, 2, "//") == 0) {
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  }
  return {text.substr(0, end), text.substr(end)};
}

// The path on the first line `--- PATH`, without the tab and the time that `diff` puts behind it.
std::optional<std::string> base_of(const std::string& patch) {
  constexpr std::string_view kMark = "--- ";
  std::istringstream lines(patch);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kMark)) return line.substr(kMark.size(), line.find('\t') - kMark.size());
  }
  return std::nullopt;
}

// Applies the patch to `file`, and writes to no other file, whichever files the patch names.
Status apply(const fs::path& patch, const fs::path& file, const std::string& base) {
  const auto run =
      run_command({.arguments = {"patch", "--unified", "--fuzz=0", "--force", "--silent", "--no-backup-if-mismatch",
                                 "--reject-file=-", "--input=" + patch.string(), file.string()},
                   .max_output_bytes = 4096});
  if (!run) return Error{run.error().message, patch.string(), 0, "install the package patch"};
  if (run->exit_code == 0) return kOk;
  return Error{fmt::format("does not apply to {}: {}", base, run->output.substr(0, run->output.find('\n'))),
               patch.string(), 0, fmt::format("make the mistake in a copy of {} and take `diff -u` of the two", base)};
}

}  // namespace

Result<fs::path> PatchedKernels::kernel_of(const fs::path& wrong_solution) const {
  if (wrong_solution.extension() != ".patch") return wrong_solution;
  const auto [head, diff] = headed(file_text(wrong_solution));
  const auto base = base_of(diff);
  if (!base) {
    return Error{"names no base", wrong_solution.string(), 0,
                 "below its comments stands a unified diff, with the path of a starter or a step after `--- `"};
  }
  std::error_code unknown;
  if (!fs::is_regular_file(root_ / *base, unknown)) {
    return Error{fmt::format("its base {} is not there", *base), wrong_solution.string(), 0,
                 "after `--- ` stands the path of a starter or a step, from the project's folder"};
  }
  const fs::path kernel = folder_.path() / wrong_solution.stem().concat(".cu");
  const Error full{"cannot be written", kernel.string(), 0, "free some space"};
  if (folder_.path().empty() || !write_file(kernel, file_text(root_ / *base))) return full;
  ROOFWALK_TRY_STATUS(apply(wrong_solution, kernel, *base));
  if (!write_file(kernel, head + headed(file_text(kernel)).rest)) return full;
  return kernel;
}

}  // namespace roofwalk
