// Lowers a validated PTX function to a Program for one launch.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/ptx/module.h"
#include "common/record/dim3.h"
#include "common/vgpu/lowering/work_cost.h"
#include "common/vgpu/program/kernel_code.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// The pointer value of each function, by name: small numbers, as ptxas uses.
std::map<std::string, std::uint64_t> function_numbers(const ptx::Module& module);

// Everything that lowering needs.
struct LoweringInput {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::span<const std::uint8_t> arguments;  // the parameter block
  std::uint64_t parameters_address = 0;     // of its copy in constant memory; 0: there is none
  std::uint64_t grid_workspace = 0;         // KernelCall::grid_workspace
  // The device address of a module variable (.global, .const), or the pointer value of a function.
  std::function<std::uint64_t(const std::string& symbol)> address_of;
  std::string_view source_name = {};  // the learner's file, for line numbers in errors
  bool may_call_externs = false;      // plans only
  bool has_heap = false;              // for malloc() and free()
  bool points_to_constants = false;   // the module makes generic pointers to constant memory
  WorkMode work_mode = {};
  int sms = 1;  // value of %nsmid
  std::uint64_t turns_seed =
      0;  // of what warps of watched blocks do by chance (sanitizer/watched_blocks.h); 0: nothing
};

// The parameter block of a function by the ABI (natural alignment): the offset of each parameter, and the size of the
// block.
struct ParameterLayout {
  std::vector<std::uint32_t> offsets;
  std::uint32_t size_bytes = 0;
};
ParameterLayout parameter_layout(const ptx::Function& function);

// Whether a kernel takes the address of a parameter, as nvcc does for a struct that is indexed at run time.
bool takes_parameter_address(const ptx::Function& kernel);

// Static shared memory of a function, in bytes.
std::uint32_t static_shared_bytes(const ptx::Module& module, const ptx::Function& function);

// If the machine cannot execute an instruction, the error names its PTX line. `code` must be that of the input's
// function.
Result<Program> lower(const LoweringInput& input, const KernelCode& code);
Result<Program> lower(const LoweringInput& input);

}  // namespace roofwalk::vgpu
