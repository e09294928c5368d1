// Kernels that call functions of their module: one function that holds the code of all of them.
#pragma once

#include <memory>
#include <vector>

#include "common/base/result.h"
#include "common/ptx/module.h"

namespace roofwalk::vgpu {

// What became of a function.
struct LinkedPart {
  const ptx::Function* function = nullptr;
  std::uint32_t first = 0, count = 0;             // its instructions
  bool recursive = false;                         // it may come to run again before it has ended
  bool by_name = false;                           // the kernel, or called by it without a pointer
  std::vector<ptx::Operand> parameters, results;  // where they lie now: a register, or a variable
};

// The code of the kernel, then that of each function that it may call, once. Names and registers are told apart. A call
// names the first instruction of what it calls, as a branch does; through a pointer it may call every function whose
// address is taken anywhere and whose parameters fit, and has them in a list, as a branch by index has. Parameters and
// results that fill a register are handed over in one, as ptxas does: what stored and loaded them moves it now. All
// others lie in .param variables.
struct LinkedKernel {
  std::shared_ptr<ptx::Function> function;
  std::vector<LinkedPart> parts;  // the kernel first
};

// Null `function` where the kernel calls nothing but externs. Errors: more code than the machine keeps.
Result<LinkedKernel> link_kernel(const ptx::Module& module, const ptx::Function& kernel);

}  // namespace roofwalk::vgpu
