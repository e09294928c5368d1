// The functions that `solve` may call: launches, memsets, copies, scratch memory. Each is an extern in the PTX,
// implemented by the interpreter that executes the plan; nothing runs on a GPU.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/plan.h"
#include "common/ptx/module.h"
#include "common/vgpu/memory/memory.h"
#include "common/vgpu/state/launch.h"

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
  const Machine* machine;                         // the one that SOLVE is told about; nullptr: it may not ask
  bool may_call_libraries;                        // Artifact::may_call_libraries
  const std::vector<KernelResources>& resources;  // of the kernels
  Plan plan = {};
  std::uint64_t scratch_bytes = 0;
  std::size_t scratch_buffers = 0;
  std::map<std::uint64_t, KernelLaunch> open_launches = {};  // parameter buffers that have not been launched yet
  std::map<std::uint64_t, int> library_arguments = {};       // a library's parameter buffers, which have no kernel yet

  int line_of(const ptx::Instruction& in) const { return module.line_in(in, source_name); }
  Error refuse(const ptx::Instruction& in, std::string message, std::string advice = {}) const {
    return {.message = std::move(message), .file = source_path, .line = line_of(in), .advice = std::move(advice)};
  }
};

using CallArguments = std::vector<std::vector<std::uint8_t>>;

using ExternHandler = Result<vgpu::CallAnswer> (*)(PlanBuilder&, const ptx::Instruction&, const CallArguments&);

struct Extern {
  std::string_view name;
  ExternHandler handler;
};

template <class T>
T argument(const CallArguments& arguments, std::size_t index, std::size_t offset = 0) {
  T value{};
  if (index < arguments.size() && offset + sizeof value <= arguments[index].size()) {
    std::memcpy(&value, arguments[index].data() + offset, sizeof value);
  }
  return value;
}

inline Dim3 dimensions(const CallArguments& arguments, std::size_t index) {
  return {argument<std::uint32_t>(arguments, index, 0), argument<std::uint32_t>(arguments, index, 4),
          argument<std::uint32_t>(arguments, index, 8)};
}

// The kernel whose number `kernel` is, with this grid, and room for its arguments.
Result<KernelLaunch> checked_launch(const PlanBuilder& builder, const ptx::Instruction& in, std::uint64_t kernel,
                                    const Dim3& grid, const Dim3& block, std::uint32_t dynamic_shared_bytes);

// Allocates bytes for a launch's arguments; none of them has a value.
Result<const vgpu::Buffer*> argument_buffer(PlanBuilder& builder, std::uint32_t size_bytes);

// Takes the launch's arguments from their buffer, which ends, and adds the launch to the plan.
Status add_launch(PlanBuilder& builder, const ptx::Instruction& in, KernelLaunch launch, const vgpu::Buffer& arguments);

// What only a library calls (library_calls.cpp); nullptr if `name` is none of that.
const Extern* find_library_extern(std::string_view name);

// Whether such a function asks for the machine, which SOLVE itself may do.
bool is_question(std::string_view name);

// Executes one call. An Error refuses the plan.
Result<vgpu::CallAnswer> answer_call(PlanBuilder& builder, const ptx::Instruction& call,
                                     const CallArguments& arguments);

// Whether a plan may call this extern. The error says, in one sentence, what to do instead.
Status check_extern(const std::string& name);

}  // namespace roofwalk
