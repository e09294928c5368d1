// Runs one compiler of the toolkit on some files, directly or in a box.
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
  std::vector<std::string> arguments;        // [0]: "nvcc", "ptxas". `-o` and `makes` are appended
  std::map<std::string, std::string> files;  // input files: path below the working folder, and bytes
  std::string makes;                         // name of the output file
  std::size_t max_made_bytes = 4 << 20;
  double timeout_s = kCompilerWallSeconds;
};

struct ToolOutcome {
  CommandResult run;
  std::optional<std::string> made;  // the output file, on success; nullopt: larger than max_made_bytes, or not
                                    // written
};

// Runs the tool with a clean environment and limits on time, memory and output, which are the same inside and outside
// a box. Outside, it runs and writes in `folder`, which no one else uses; in a box (Toolkit::isolation) it cannot
// write to this machine's disks. Errors are not the learner's fault, and name no file: a full disk, a folder that
// another program cleans, or a box that cannot be made.
Result<ToolOutcome> run_tool(const Toolkit& toolkit, const std::filesystem::path& folder, ToolJob job);

}  // namespace roofwalk
