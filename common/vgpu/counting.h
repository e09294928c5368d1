// Turns the counters of a launch's instructions into named counters: of the kernel, and of each line of the learner's
// file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/ptx/module.h"
#include "common/record/counters.h"
#include "common/vgpu/memory/sectors.h"
#include "common/vgpu/state/launch.h"
#include "common/vgpu/timing/lower_bounds.h"
#include "common/vgpu/timing/timing_model.h"

namespace roofwalk {
struct KernelRecord;
}

namespace roofwalk::vgpu {

// What a launch counts: everything, or only instructions and their computations.
enum class Counted { everything, instructions };

// Sets to 0 every counter of lines (is_of_lines) that a launch counts; all other counters stay unknown.
void set_to_zero(Counters& counters, Counted counted);

struct CountingInput {
  const ptx::Function& function;
  std::span<const BasicBlock> blocks;
  const std::vector<bool>& has_use;  // by PTX instruction: FLOPs of others do not count
  const LaunchTotals& totals;
  std::span<const std::uint64_t> block_threads;
  std::span<const InstructionTraffic> traffic;  // by PTX instruction, including write-backs
  const ModelledTime& reading;
  const ptx::Module& module;
  const std::string& source_name;
  Counted counted = Counted::everything;
};

// Fills in out.counters, out.waits and out.lines. Every counter that the launch counts is set, even if it is 0.
void count_kernel(const CountingInput& input, KernelRecord& out);

// Counts a memset or copy.
void count_transfer(const InstructionCounters& site, const InstructionTraffic& traffic, Counted counted, Counters& out);

}  // namespace roofwalk::vgpu
