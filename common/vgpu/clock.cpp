#include "common/vgpu/clock.h"

#include <algorithm>

#include "common/vgpu/simulation.h"

namespace roofwalk::vgpu {
namespace {

// A grid of at most so many PTX instructions is replayed as a whole, on all SMs. Beyond, one SM with its share of L2
// and DRAM stands for all, and runs at least so many instructions and so many rounds of what it holds at once.
constexpr std::uint64_t kWholeGridInstructions = 150'000, kSampleInstructions = 60'000, kSampleRounds = 3;

ClockReading reading_of(const Simulation& simulation, double cycles, double scale) {
  ClockReading out;
  out.cycles = cycles;
  out.by_instruction = simulation.waits();
  for (WarpCycles& waits : out.by_instruction) {
    for (double& value : waits.cycles) value *= scale;
    out.waits.add(waits);
  }
  out.waits[Wait::tail] += simulation.tail() * scale;
  return out;
}

}  // namespace

ClockReading read_clock(const ClockInput& input) {
  const auto& blocks = input.trace.blocks;
  if (blocks.empty()) return {};
  const auto sms = static_cast<std::uint64_t>(input.machine.sms);
  const auto slots = static_cast<std::uint64_t>(input.blocks_per_sm);
  std::uint64_t recorded = 0, executed = 0;
  for (const BlockTrace& block : blocks) {
    recorded += block.instructions;
    executed += block.executed;
  }
  const bool whole =
      input.trace.complete && executed == recorded && (input.unsampled || recorded <= kWholeGridInstructions);
  if (whole) {
    Simulation simulation(input, static_cast<int>(std::min(sms, input.grid_blocks)), 1, input.grid_blocks);
    simulation.run();
    return reading_of(simulation, simulation.end(), 1);
  }

  // One SM with its share of L2 and DRAM, and the most blocks that any SM gets.
  const std::uint64_t busiest = (input.grid_blocks + sms - 1) / sms;
  const double share = 1.0 / static_cast<double>(std::min(sms, input.grid_blocks));
  const std::uint64_t a_block = std::max<std::uint64_t>(recorded / blocks.size(), 1);
  const std::uint64_t rounds = std::max(kSampleRounds, kSampleInstructions / (a_block * slots) + 1);
  // Whole rounds, and what the last one would be.
  const std::uint64_t simulated = std::min(busiest, rounds * slots + busiest % slots);
  Simulation simulation(input, 1, share, simulated);
  simulation.run();
  double cycles = simulation.end();
  if (simulated < busiest) {
    // The rest goes at the pace of the rounds after the first.
    const auto& starts = simulation.starts();
    const std::uint64_t first = slots, last = first + (simulated - 1 - first) / slots * slots;
    const double pace = static_cast<double>(starts[last] - starts[first]) / static_cast<double>(last - first);
    cycles += pace * static_cast<double>(busiest - simulated);
  }
  // Traces that were cut off stand for their whole blocks.
  const double cut = recorded == 0 ? 1 : static_cast<double>(executed) / static_cast<double>(recorded);
  const double scale = static_cast<double>(input.grid_blocks) / static_cast<double>(simulated);
  return reading_of(simulation, cycles * cut, scale * cut);
}

}  // namespace roofwalk::vgpu
