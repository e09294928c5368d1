// The parts of a kernel that are the same for every launch: its code with the functions that it calls, basic blocks
// and shared memory. They are computed once per module.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/ptx/module.h"
#include "common/vgpu/program/link.h"
#include "common/vgpu/program/operands.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// The shared variables that a function uses, in order of first use; `extern` ones (dynamic) last.
struct SharedLayout {
  std::map<std::string, std::uint32_t> offsets;
  std::uint32_t static_bytes = 0;
  std::uint32_t dynamic_at = 0;  // where dynamic shared memory begins
};
SharedLayout shared_layout(const ptx::Module& module, const ptx::Function& function);

struct KernelCode {
  LinkedKernel linked;
  const ptx::Function* function = nullptr;  // the linked kernel with its callees, or else the module's function
  std::vector<BasicBlock> blocks;
  std::optional<BlockUses> uses;
  std::vector<bool> has_use;  // by instruction, see uses.h
  SharedLayout shared;
  std::vector<int> unwritten;    // registers_read_unwritten()
  std::uint64_t host_bytes = 0;  // host memory that these members take, without the module's
};

// Error: more code than the limits allow.
Result<KernelCode> code_of(const ptx::Module& module, const ptx::Function& kernel);

}  // namespace roofwalk::vgpu
