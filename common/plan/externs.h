// The functions that `solve` may call: launches, memsets, copies, scratch memory. Each is an extern in the PTX,
// implemented by the interpreter that executes the plan; nothing runs on a GPU.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "common/plan/plan.h"
#include "common/ptx/module.h"
#include "common/vgpu/memory/memory.h"

namespace roofwalk {

// The state of a plan under construction.
struct PlanBuilder {
  const ptx::Module& module;
  const std::string& source_name;
  const std::string& source_path;
  const PlanLimits& limits;
  vgpu::Memory& memory;                                   // the interpreter's memory: parameter buffers
  const std::map<std::uint64_t, std::string>& kernels;    // by the number that serves as their address
  const std::map<std::uint64_t, std::string>& constants;  // __constant__ variables, by the start of their address range
  const std::function<Result<std::uint64_t>(std::uint64_t)>& allocate_scratch;
  Plan plan = {};
  std::uint64_t scratch_bytes = 0;
  std::size_t scratch_buffers = 0;
  std::map<std::uint64_t, KernelLaunch> open_launches = {};  // parameter buffers that have not been launched yet

  int line_of(const ptx::Instruction& in) const { return module.line_in(in, source_name); }
  Error refuse(const ptx::Instruction& in, std::string message, std::string advice = {}) const {
    return {.message = std::move(message), .file = source_path, .line = line_of(in), .advice = std::move(advice)};
  }
};

using CallArguments = std::vector<std::vector<std::uint8_t>>;

// Executes one call. An Error refuses the plan.
Result<std::uint64_t> answer_call(PlanBuilder& builder, const ptx::Instruction& call, const CallArguments& arguments);

// Whether a plan may call this extern. The error says, in one sentence, what to do instead.
Status check_extern(const std::string& name);

}  // namespace roofwalk
