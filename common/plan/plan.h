// The launch plan: the steps that a learner's `solve` requests from the device, in order. The PTX interpreter executes
// `solve` to find them; no code of the learner's runs on the host.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/base/result.h"
#include "common/build/artifact.h"
#include "common/record/dim3.h"
#include "common/specs/machine.h"

namespace roofwalk {

struct KernelLaunch {
  std::string kernel;  // mangled
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::uint8_t> arguments;  // the kernel's parameter block, ABI layout
  int line = 0;                         // line of the <<<>>> in the learner's file; 0 unknown
};

struct MemsetStep {
  std::uint64_t address = 0;
  std::uint8_t value = 0;
  std::uint64_t size_bytes = 0;
  int line = 0;
};

struct CopyStep {  // device to device
  std::uint64_t destination = 0, source = 0;
  std::uint64_t size_bytes = 0;
  int line = 0;
};

using PlanStep = std::variant<KernelLaunch, MemsetStep, CopyStep>;

struct Plan {
  std::vector<PlanStep> steps;
};

// One argument of `solve`: a pointer (8 bytes) or a scalar in its own size (4 for int and float).
using ArgumentBytes = std::vector<std::uint8_t>;

struct PlanLimits {
  std::uint64_t max_instructions = 10'000'000;  // a solve that takes more is refused
  std::uint64_t max_steps = 10'000;             // launches, memsets and copies together
  std::uint64_t max_scratch_bytes = 1ull << 30;
  std::size_t max_scratch_buffers = 256;
};

// Executes `solve`. `allocate_scratch(size_bytes)` returns the device address of a new scratch buffer. Refusals are
// Errors with the learner's line: the plan reads or writes data, loops forever, launches an unknown kernel, no blocks,
// or blocks that are too large, uses a stream other than 0, or calls an unknown host function. `machine`: the one that
// SOLVE is told about, or a library that it calls (Artifact::may_call_libraries); nullptr: neither may ask.
Result<Plan> make_plan(const Artifact& artifact, std::span<const ArgumentBytes> arguments,
                       const std::function<Result<std::uint64_t>(std::uint64_t size_bytes)>& allocate_scratch,
                       const PlanLimits& limits = {}, const Machine* machine = nullptr);

Json to_json(const Plan& plan);

}  // namespace roofwalk
