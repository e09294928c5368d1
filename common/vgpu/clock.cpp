#include "common/vgpu/clock.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/vgpu/simulation.h"

namespace roofwalk::vgpu {
namespace {

// A grid of at most so many PTX instructions is replayed as a whole, on all SMs. Beyond, a few SMs with their share of
// L2 and DRAM stand for all: together they run an eighth of the grid's instructions, between two limits, and each so
// many rounds of what it holds at once. Several SMs come before more rounds: what one leaves idle, others use. Rounds
// are wanted too: blocks start all together, and only after a while is each somewhere else.
constexpr std::uint64_t kWholeGridInstructions = 150'000, kLeastSample = 60'000, kMostSample = 600'000,
                        kSampleRounds = 4, kSampleSms = 8;

// What a block asks of the SM and of the memory behind it: to tell typical blocks from odd ones.
double cost_of(const BlockTrace& block) {
  std::uint64_t sectors = 0;
  for (const WarpTrace& warp : block.warps) {
    for (const Outcome& o : warp.outcomes) {
      sectors += std::uint64_t{o.lines} + o.l2_read_sectors + o.l2_write_sectors + o.dram_read_sectors +
                 o.dram_write_sectors + o.shared_wavefronts;
    }
  }
  return static_cast<double>(block.instructions + sectors);
}

std::uint64_t longest_warp_of(const BlockTrace& block) {
  std::uint64_t longest = 0;
  for (const WarpTrace& warp : block.warps) longest = std::max(longest, warp.instructions);
  // Of a trace that was cut off, as if it went on alike.
  const double cut =
      block.instructions == 0 ? 1 : static_cast<double>(block.executed) / static_cast<double>(block.instructions);
  return static_cast<std::uint64_t>(static_cast<double>(longest) * cut);
}

std::vector<double> costs_of(const GridTrace& trace) {
  std::vector<double> costs;
  for (const BlockTrace& block : trace.blocks) costs.push_back(cost_of(block));
  return costs;
}

// The traced blocks that work, by cost. A grid may hold many that leave at once, because it is larger than the problem:
// all together they do next to nothing, and what one leaves free is taken by the next.
std::vector<std::uint32_t> working_blocks(const std::vector<double>& costs) {
  constexpr double kIdleShare = 0.05, kIdleCost = 0.125;  // of all that is done; of an average block that works
  std::vector<std::uint32_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return costs[a] < costs[b]; });
  const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
  std::size_t idle = 0;
  double done = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    done += costs[order[i]];
    if (done > kIdleShare * all) break;
    const double average = (all - done) / static_cast<double>(order.size() - i - 1);
    if (costs[order[i]] < kIdleCost * average) idle = i + 1;
  }
  order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(idle));
  return order;
}

// How many blocks that work do what the grid does. Where those of the sample do less than the grid's, by chance or on
// purpose, they are more than the grid has.
std::uint64_t working_in_grid(const ClockInput& input, const std::vector<std::uint32_t>& working,
                              std::uint64_t executed) {
  if (executed == 0) return input.grid_blocks;
  const auto blocks = input.trace.blocks.size();
  std::uint64_t by_working = 0;
  for (const std::uint32_t i : working) by_working += input.trace.blocks[i].executed;
  const double working_block = static_cast<double>(by_working) / static_cast<double>(working.size());
  const double idle_block = blocks == working.size() ? 0
                                                     : static_cast<double>(executed - by_working) /
                                                           static_cast<double>(blocks - working.size());
  // Where it is bytes and not instructions that tell them apart.
  if (working_block < 2 * idle_block) {
    return (input.grid_blocks * working.size() + blocks - 1) / blocks;
  }
  const double beyond_idling =
      static_cast<double>(input.instructions) - static_cast<double>(input.grid_blocks) * idle_block;
  return static_cast<std::uint64_t>(std::max(1.0, std::round(beyond_idling / (working_block - idle_block))));
}

// `count` of the blocks (by cost) that stand for all: spread evenly over their costs, in the order of the grid.
std::vector<std::uint32_t> representatives(const std::vector<std::uint32_t>& by_cost, std::uint64_t count) {
  std::vector<std::uint32_t> chosen = by_cost;
  if (count < by_cost.size()) {
    chosen.clear();
    for (std::uint64_t i = 0; i < count; ++i) chosen.push_back(by_cost[(2 * i + 1) * by_cost.size() / (2 * count)]);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// Cycles between one block and the next when all places are taken, from the starts of blocks after the first round.
// Each start is compared with the one whole rounds later: blocks may start one by one or all together.
double pace(const std::vector<Cycle>& starts, std::uint64_t a_round) {
  const std::uint64_t rounds = starts.size() / a_round - 2;
  double sum = 0;
  for (std::uint64_t i = a_round; i < 2 * a_round; ++i)
    sum += static_cast<double>(starts[i + rounds * a_round] - starts[i]);
  return sum / static_cast<double>(a_round) / static_cast<double>(rounds * a_round);
}

// A block that runs far longer than those that stand for all is alone at the end, and the grid waits for it. Where it
// was traced it is replayed by itself. Where not, it takes its instructions at the pace of the others and its part of
// the grid's loads, a few of them at once.
double straggler_cycles(const ClockInput& input, const std::vector<std::uint32_t>& chosen,
                        double cycles_per_instruction) {
  constexpr std::uint64_t kFarLonger = 2;
  constexpr double kLoadsAtOnce = 8;
  std::uint64_t replayed = 0, traced = 0;
  std::uint32_t longest_block = 0;
  for (const std::uint32_t i : chosen) replayed = std::max(replayed, longest_warp_of(input.trace.blocks[i]));
  for (std::uint32_t i = 0; i < input.trace.blocks.size(); ++i) {
    const std::uint64_t own = longest_warp_of(input.trace.blocks[i]);
    if (own > traced) traced = own, longest_block = i;
  }
  double cycles = 0;
  if (traced > kFarLonger * replayed) {
    const BlockTrace& block = input.trace.blocks[longest_block];
    Simulation alone(input, {longest_block}, 1, 1, 1);
    alone.run();
    cycles = alone.end() * static_cast<double>(block.executed) / static_cast<double>(block.instructions);
  }
  if (input.trace.longest_warp <= kFarLonger * std::max(replayed, traced) || input.instructions == 0) return cycles;
  const auto longest = static_cast<double>(input.trace.longest_warp);
  const double waits = static_cast<double>(input.loads_from_l2) * input.machine.l2_latency_cycles +
                       static_cast<double>(input.loads_from_dram) * input.machine.dram_latency_cycles;
  return std::max(cycles, longest * cycles_per_instruction +
                              longest / static_cast<double>(input.instructions) * waits / kLoadsAtOnce);
}

}  // namespace

ClockReading read_clock(const ClockInput& input) {
  const auto& blocks = input.trace.blocks;
  if (blocks.empty()) return {};
  const auto slots = static_cast<std::uint64_t>(input.blocks_per_sm);
  std::uint64_t recorded = 0, executed = 0;
  for (const BlockTrace& block : blocks) {
    recorded += block.instructions;
    executed += block.executed;
  }
  const bool whole =
      input.trace.complete && executed == recorded && (input.unsampled || recorded <= kWholeGridInstructions);
  auto sms = std::min(static_cast<std::uint64_t>(input.machine.sms), input.grid_blocks);
  std::uint64_t grid = input.grid_blocks;
  std::uint64_t running = sms, simulated = grid;  // SMs; blocks
  std::uint64_t of_grid = simulated;              // the blocks that those SMs get
  std::vector<std::uint32_t> chosen(blocks.size());
  std::iota(chosen.begin(), chosen.end(), 0u);
  if (!whole) {
    const std::vector<std::uint32_t> working = working_blocks(costs_of(input.trace));
    grid = working_in_grid(input, working, executed);
    sms = std::min(sms, grid);
    const std::uint64_t busiest = (grid + sms - 1) / sms;
    const std::uint64_t a_block = std::max<std::uint64_t>(recorded / working.size(), 1);
    const std::uint64_t a_round = slots * a_block, least = std::min(busiest, kSampleRounds * slots) * a_block;
    const std::uint64_t sample = std::clamp(input.instructions / 8, kLeastSample, kMostSample);
    running = std::clamp<std::uint64_t>(sample / least, 1, std::min(sms, kSampleSms));
    const std::uint64_t rounds = std::max(kSampleRounds, sample / (running * a_round) + 1);
    // Whole rounds, and what the last one would be.
    const std::uint64_t an_sm = std::min(busiest, rounds * slots + busiest % slots);
    simulated = running * an_sm;
    of_grid = running * busiest;
    chosen = representatives(working, simulated);
  }
  // Where blocks do not divide evenly, the SMs with most of them also get more of L2 and DRAM.
  const double share = static_cast<double>(of_grid) / static_cast<double>(grid);
  Simulation simulation(input, chosen, static_cast<int>(running), share, simulated);
  simulation.run();
  double cycles = simulation.end();
  if (simulated < of_grid) {
    cycles += pace(simulation.starts(), running * slots) * static_cast<double>(of_grid - simulated);
  }
  // Traces that were cut off stand for their whole blocks.
  const double more = recorded == 0 ? 1 : static_cast<double>(executed) / static_cast<double>(recorded);
  ClockReading out;
  out.cycles = std::max(cycles * more, straggler_cycles(input, chosen, simulation.cycles_per_instruction()));
  out.by_instruction = simulation.waits();
  const double scale = static_cast<double>(grid) / static_cast<double>(simulated) * more;
  for (WarpCycles& waits : out.by_instruction) {
    for (double& value : waits.cycles) value *= scale;
    out.waits.add(waits);
  }
  out.held_up = simulation.held_up();
  for (HeldUp& held : out.held_up) {
    for (WarpCycles& waits : held.by_instruction) {
      for (double& value : waits.cycles) value *= scale;
    }
  }
  const double places = static_cast<double>(sms * slots * blocks.front().warps.size());
  out.waits[Wait::tail] = std::max(0.0, places * out.cycles - out.waits.total());
  return out;
}

}  // namespace roofwalk::vgpu
