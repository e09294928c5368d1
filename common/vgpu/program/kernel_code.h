// What no launch of a kernel changes: its code with what it calls, basic blocks and shared memory. Found once in a
// plan.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/ptx/module.h"
#include "common/vgpu/program/link.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// The shared variables that a function names, in order of first use; `extern` ones (dynamic) last.
struct SharedLayout {
  std::map<std::string, std::uint32_t> offsets;
  std::uint32_t static_bytes = 0;
};
SharedLayout shared_layout(const ptx::Module& module, const ptx::Function& function);

struct KernelCode {
  LinkedKernel linked;
  const ptx::Function* function = nullptr;  // with what it calls: the linked one, or the module's
  std::vector<BasicBlock> blocks;
  SharedLayout shared;
  std::uint64_t host_bytes = 0;  // that all this takes, but for the module's own
};

// Errors: more code than the machine keeps.
Result<KernelCode> code_of(const ptx::Module& module, const ptx::Function& kernel);

}  // namespace roofwalk::vgpu
