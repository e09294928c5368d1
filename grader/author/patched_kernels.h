// Makes kernel files from wrong solutions that are patches: a wrong solution is often a starter or a step with one line
// changed.
#pragma once

#include <filesystem>
#include <utility>

#include "common/base/atomic_file.h"
#include "common/base/result.h"

namespace roofwalk {

// Makes kernels in a temporary folder that lives as long as this object.
class PatchedKernels {
 public:
  // `root`: the course's folder; patches name their base files relative to it.
  explicit PatchedKernels(std::filesystem::path root) : root_(std::move(root)) {}

  // Returns the kernel of a wrong solution. NAME.patch gives NAME.cu: its base, the file named after `--- `, with the
  // diff applied. The diff must fit exactly, except for line numbers. The comments at the beginning of the patch
  // replace those of the base, because what a step claims is not true of a wrong solution. Any other file is its own
  // kernel. Errors: no base is named, the base does not exist, the diff does not apply.
  Result<std::filesystem::path> kernel_of(const std::filesystem::path& wrong_solution) const;

 private:
  std::filesystem::path root_;
  TemporaryFolder folder_{"patched"};
};

}  // namespace roofwalk
