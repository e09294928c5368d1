// One compiler of the toolkit over some files, here or in a box.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/subprocess.h"
#include "common/build/build.h"

namespace roofwalk {

struct ToolJob {
  std::vector<std::string> arguments;        // [0]: "nvcc", "ptxas". `-o` and `makes` are added
  std::map<std::string, std::string> files;  // that it reads: path below the folder that it runs in, and bytes
  std::string makes;                         // the name of the file that it writes
  std::size_t max_made_bytes = 4 << 20;
  double timeout_s = 60;
};

struct ToolOutcome {
  CommandResult run;
  std::optional<std::string> made;  // after success; absent: more than max_made_bytes, or nothing
};

// Runs it with a clean environment and limits of time, memory and output, the same in a box and outside: in `folder`,
// which is ours alone and where its files are written, or in a box (Toolkit::isolation), where nothing of this
// machine's disks can be written. Errors are ours: a disk that is full, a box that cannot be made.
Result<ToolOutcome> run_tool(const Toolkit& toolkit, const std::filesystem::path& folder, ToolJob job);

}  // namespace roofwalk
