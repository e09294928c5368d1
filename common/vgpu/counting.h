// Turns the sites of a launch into named counters: of the kernel, and of each line of the learner's file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/ptx/module.h"
#include "common/record/run_record.h"
#include "common/vgpu/memory/cache.h"
#include "common/vgpu/state/launch.h"
#include "common/vgpu/timing/lower_bounds.h"
#include "common/vgpu/timing/timing_model.h"

namespace roofwalk::vgpu {

// What a launch counts: everything, or only instructions and what they compute.
enum class Counted { everything, instructions };

// Zeroes all counters that are counted; the others stay unknown.
void set_to_zero(Counters& counters, Counted counted);

struct CountingInput {
  const ptx::Function& function;
  std::span<const BasicBlock> blocks;
  const LaunchTotals& totals;
  std::span<const std::uint64_t> block_threads;
  std::span<const InstructionTraffic> traffic;  // by PTX instruction, write-backs included
  const ModelledTime& reading;
  const ptx::Module& module;
  const std::string& source_name;
  Counted counted = Counted::everything;
};

// Fills out.counters, out.waits and out.lines. Every counter that is counted is set, even if to 0.
void count_kernel(const CountingInput& input, KernelRecord& out);

// Counters of a memset or copy.
void count_transfer(const InstructionCounters& site, const InstructionTraffic& traffic, Counted counted, Counters& out);

}  // namespace roofwalk::vgpu
