// Wrong solutions that are patches, as kernel files: a wrong solution is often a starter or a step with a line changed.
#pragma once

#include <filesystem>

#include "common/base/result.h"

namespace roofwalk {

// Makes kernels in a folder that goes with this object.
class PatchedKernels {
 public:
  explicit PatchedKernels(std::filesystem::path root);  // of the course, which the bases are named from
  ~PatchedKernels();
  PatchedKernels(const PatchedKernels&) = delete;
  PatchedKernels& operator=(const PatchedKernels&) = delete;

  // The kernel of NAME.patch: NAME.cu, the file after `--- ` with the diff applied, which must fit exactly; only line
  // numbers may be off. The comments that the patch begins with take the place of those that its base begins with: what
  // a step claims is not true of a wrong solution. Any other file is its own kernel. Errors: no base, a base that is
  // not there, a diff that does not apply.
  Result<std::filesystem::path> kernel_of(const std::filesystem::path& wrong_solution) const;

 private:
  std::filesystem::path root_, folder_;
};

}  // namespace roofwalk
