// Linking combines a kernel and all functions that it calls into one function.
#pragma once

#include <memory>
#include <vector>

#include "common/base/result.h"
#include "common/ptx/module.h"

namespace roofwalk::vgpu {

// One function within the linked kernel's code.
struct LinkedPart {
  const ptx::Function* function = nullptr;
  std::uint32_t first = 0, count = 0;             // its instructions in the linked code
  bool recursive = false;                         // may be re-entered before it returns
  bool by_name = false;                           // the kernel, or reachable from it without calls through pointers
  std::vector<ptx::Operand> parameters, results;  // their locations after linking: a register or a variable
};

// The code of the kernel, followed by each function that it may call, once each, with unique names and registers. A
// call names its callee's first instruction, as a branch names its target. A call through a pointer lists its possible
// callees, as an indexed branch lists its targets: all functions with matching parameters that its .calltargets names
// or, without .calltargets, whose address is taken anywhere. Parameters and results that fit a register are passed in
// one, as ptxas does, so their loads and stores become moves. All others stay in .param variables.
struct LinkedKernel {
  std::shared_ptr<ptx::Function> function;
  std::vector<LinkedPart> parts;  // the kernel first
};

// `function` is null if the kernel calls nothing, or only externs. Error: an
// instruction that the machine lacks, or more code than the limits allow.
Result<LinkedKernel> link_kernel(const ptx::Module& module, const ptx::Function& kernel);

}  // namespace roofwalk::vgpu
