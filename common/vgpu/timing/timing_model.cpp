#include "common/vgpu/timing/timing_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/vgpu/timing/block_latency.h"
#include "common/vgpu/timing/lone_block.h"
#include "common/vgpu/timing/replay_plan.h"
#include "common/vgpu/timing/sm_model.h"
#include "common/vgpu/timing/stretches.h"

namespace roofwalk::vgpu {
namespace {

// Returns the ratio of a block's work to the work in its trace. The part that was cut off is assumed to resemble the
// recorded part.
double cut_of(const BlockTrace& block) {
  if (block.instructions == 0) return 1;
  return static_cast<double>(block.work.instructions) / static_cast<double>(block.instructions);
}

// Whether the part of a block that was cut off can resemble the recorded part: it took the same paths, and in
// proportion accessed hardly more memory and waited hardly longer.
bool goes_on_alike(const BlockTrace& block) {
  constexpr double kAlike = 0.05, kAsMuch = 0.95;
  const BlockWork &part = block.recorded, &all = block.work;
  const double share = static_cast<double>(part.instructions) / static_cast<double>(all.instructions);
  for (std::size_t i = 0; i < all.path.size(); ++i) {
    const double like = share * static_cast<double>(all.path[i]);
    if (std::abs(static_cast<double>(part.path[i]) - like) > kAlike * like) return false;
  }
  const auto is_as_much = [share](std::uint64_t of_part, std::uint64_t of_all) {
    return static_cast<double>(of_part) >= kAsMuch * share * static_cast<double>(of_all);
  };
  return is_as_much(part.memory, all.memory) && is_as_much(part.longest_wait_cycles, all.longest_wait_cycles) &&
         is_as_much(part.busy_cycles, all.busy_cycles);
}

bool is_asked_alone(const BlockTrace& block) { return block.recorded.instructions != 0 && !goes_on_alike(block); }

// Returns the ratio of a block's time to its trace's time. The part that was cut off is assumed to resemble the
// recorded part; if it does not, the additional waits of the warp that waits longest are added, one after the other, or
// the additional time of the busiest unit, if that is longer, and a cycle for each additional line, sector and
// wavefront.
double longer_than_trace(const BlockTrace& block, AloneTimes& alone, std::uint32_t place) {
  const double cut = cut_of(block);
  if (!is_asked_alone(block)) return cut;
  const auto more = [cut](std::uint64_t of_all, std::uint64_t of_part) {
    return std::max(0.0, static_cast<double>(of_all) - cut * static_cast<double>(of_part));
  };
  return cut + (std::max(more(block.work.longest_wait_cycles, block.recorded.longest_wait_cycles),
                         more(block.work.busy_cycles, block.recorded.busy_cycles)) +
                more(block.work.memory, block.recorded.memory)) /
                   alone.always_of(place);
}

std::uint64_t longest_warp_of(const BlockTrace& block) {
  std::uint64_t longest = 0;
  for (const WarpTrace& warp : block.warps) longest = std::max(longest, warp.instructions);
  return static_cast<std::uint64_t>(static_cast<double>(longest) * cut_of(block));
}

// Returns the average number of cycles from one block start to the next when all slots are taken, computed from the
// starts after the first round. Each start is compared with one that is whole rounds later, because the blocks of a
// round may start one by one or all together.
double pace(const std::vector<Cycle>& starts, std::uint64_t a_round) {
  const std::uint64_t rounds = starts.size() / a_round - 2;
  double sum = 0;
  for (std::uint64_t i = a_round; i < 2 * a_round; ++i)
    sum += static_cast<double>(starts[i + rounds * a_round] - starts[i]);
  return sum / static_cast<double>(a_round) / static_cast<double>(rounds * a_round);
}

// Returns the sum of the cycles for which the simulated blocks would hold slots on SMs if all of them ran as in the
// middle of the grid. The first round is not typical: it starts with cold caches and all blocks at once. So all blocks
// of a stratum count with the average time of its blocks in later rounds, if there are any. `chosen`: the traces that
// represent the blocks, used in turn.
double held_by_blocks(const TimingInput& input, const Simulation& simulation, const std::vector<std::uint32_t>& chosen,
                      std::uint64_t a_round) {
  struct Held {
    double blocks = 0, first = 0, later = 0;  // all blocks; cycles of those in the first round and in later ones
    double later_blocks = 0;
  };
  std::vector<Held> held(input.trace.strata.size());
  for (std::size_t i = 0; i < simulation.starts().size(); ++i) {
    Held& own = held[input.trace.blocks[chosen[i % chosen.size()]].stratum];
    const auto cycles = static_cast<double>(simulation.ends()[i] - simulation.starts()[i]);
    own.blocks += 1;
    own.later_blocks += i >= a_round ? 1 : 0;
    (i >= a_round ? own.later : own.first) += cycles;
  }
  double cycles = 0;
  for (const Held& own : held) {
    cycles += own.later_blocks == 0 ? own.first : own.later * own.blocks / own.later_blocks;
  }
  return cycles;
}

// Returns the start time that a block would have if all blocks of the grid took equally long.
double start_of(const TimingInput& input, const BlockTrace& block, double cycles) {
  const auto places = static_cast<std::uint64_t>(input.machine.sms) * static_cast<std::uint64_t>(input.blocks_per_sm);
  return cycles * static_cast<double>(block.index / places * places) / static_cast<double>(input.grid_blocks);
}

// Returns the end of the last block that takes longer than the chosen blocks of its stratum, or whose stratum has no
// chosen block: the grid cannot end before that. A block that runs, waits or is busy far longer than all chosen ones is
// replayed at any cost.
double last_end(const TimingInput& input, const std::vector<std::uint32_t>& chosen, double cycles, AloneTimes& alone) {
  constexpr double kLonger = 1.1;
  constexpr std::uint64_t kFarLonger = 2;
  const auto& blocks = input.trace.blocks;
  std::vector<bool> stands(blocks.size());
  std::vector<double> replayed(input.trace.strata.size());  // by stratum: longest chosen block; 0: none
  std::uint64_t longest_warp = 0, longest_wait = 0, busy = 0;
  for (const std::uint32_t i : chosen) {
    stands[i] = true;
    double& longest = replayed[blocks[i].stratum];
    longest = std::max(longest, alone.of(i).value_or(0));
    longest_warp = std::max(longest_warp, longest_warp_of(blocks[i]));
    longest_wait = std::max(longest_wait, blocks[i].work.longest_wait_cycles);
    busy = std::max(busy, blocks[i].work.busy_cycles);
  }
  double last = 0;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    if (stands[i]) continue;
    if (longest_warp_of(blocks[i]) > kFarLonger * longest_warp ||
        blocks[i].work.longest_wait_cycles > kFarLonger * longest_wait ||
        blocks[i].work.busy_cycles > kFarLonger * busy)
      alone.always_of(i);
    const double own = alone.of(i).value_or(0);
    if (own <= kLonger * replayed[blocks[i].stratum]) continue;
    last = std::max(last, start_of(input, blocks[i], cycles) + own * longer_than_trace(blocks[i], alone, i));
  }
  return last;
}

// Returns the time of a block without a trace that runs far longer than all traced ones, and so is alone at the end of
// the launch. This time is estimated: its instructions take as long as those of other blocks, plus the latency of its
// share of the grid's loads, kLoadsAtOnce at a time. 0 if there is no such block.
double straggler_cycles(const TimingInput& input, double cycles_per_instruction) {
  constexpr std::uint64_t kFarLonger = 2;
  constexpr double kLoadsAtOnce = 8;
  std::uint64_t traced = 0;
  for (const BlockTrace& block : input.trace.blocks) traced = std::max(traced, longest_warp_of(block));
  if (input.trace.longest_warp <= kFarLonger * traced || input.instructions == 0) return 0;
  const auto longest = static_cast<double>(input.trace.longest_warp);
  const double waits = static_cast<double>(input.loads_from_l2) * input.machine.l2_latency_cycles +
                       static_cast<double>(input.loads_from_dram) * input.machine.dram_latency_cycles;
  return longest * cycles_per_instruction + longest / static_cast<double>(input.instructions) * waits / kLoadsAtOnce;
}

// Returns the result for a model that exceeded its limit of operations.
ModelledTime past_budget(std::uint64_t operations) {
  ModelledTime out;
  out.operations = operations;
  out.ended = false;
  return out;
}

// Returns the time of all blocks that the simulated SMs get, although only some of them were simulated.
double cycles_of_all(const TimingInput& input, const ReplayPlan& plan, const Simulation& simulation) {
  const double cycles = simulation.end();
  if (plan.simulated >= plan.of_grid) return cycles;
  // The pace alone may give too short a time: long blocks may hold slots from the first start to the last end while the
  // other blocks start at their pace, and the grid has more such long blocks than the simulation.
  const std::uint64_t a_round = plan.running * static_cast<std::uint64_t>(input.blocks_per_sm);
  const double held = held_by_blocks(input, simulation, plan.chosen, a_round);
  const double paced = cycles + pace(simulation.starts(), a_round) * static_cast<double>(plan.of_grid - plan.simulated);
  return std::max(paced, held / static_cast<double>(a_round) * static_cast<double>(plan.of_grid) /
                             static_cast<double>(plan.simulated));
}

// Returns the ratio of the time of the grid's blocks to that of the chosen traces. It exceeds 1 if traces were cut off,
// because such a trace represents its whole block.
double longer_than_traces(const TimingInput& input, double more_work, AloneTimes& alone) {
  const auto& blocks = input.trace.blocks;
  std::uint64_t recorded = 0, executed = 0;
  double stand_for = 0;  // recorded instructions, weighted by the ratio of block time to trace time
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    recorded += blocks[i].instructions;
    executed += blocks[i].work.instructions;
    stand_for += static_cast<double>(blocks[i].instructions) *
                 (blocks[i].recorded.instructions == 0 ? cut_of(blocks[i]) : longer_than_trace(blocks[i], alone, i));
  }
  return more_work *
         (recorded == 0 ? 1 : std::max(stand_for, static_cast<double>(executed)) / static_cast<double>(recorded));
}

// Copies the waits of the simulation's warps, scaled by `scale`.
void take_waits(const Simulation& simulation, double scale, ModelledTime& out) {
  out.by_instruction = simulation.waits();
  for (WarpCycles& waits : out.by_instruction) {
    for (double& value : waits.cycles) value *= scale;
    out.waits.add(waits);
  }
  out.waits[Wait::start] = simulation.starting() * scale;
  out.held_up = simulation.held_up();
  for (HeldUp& each : out.held_up) {
    for (auto& [pc, waits] : each.by_instruction) {
      for (double& value : waits.cycles) value *= scale;
    }
  }
}

// Sets how full the SMs were. Where not all blocks were simulated, SMs are as full between their first and their last
// block, and hold as many warps, as in the simulation, but for longer: `cycles` is the whole time of the simulated SMs.
// The time before an SM's first block and after its last one stays.
void take_residency(const Simulation& simulation, const ReplayPlan& plan, double cycles, ModelledTime& out) {
  const Simulation::Residency found = simulation.residency();
  if (found.active <= 0) return;
  const auto sms = static_cast<double>(plan.running);
  const double edges = simulation.end() - found.extent / sms;
  const double load = static_cast<double>(plan.grid) / static_cast<double>(plan.of_grid);
  out.active_sm_cycles = load * sms * std::max(0.0, cycles - edges) * found.active / found.extent;
  out.resident_warp_cycles = out.active_sm_cycles * found.of_warps / found.active;
}

}  // namespace

ModelledTime model_time(const TimingInput& input) {
  const auto& blocks = input.trace.blocks;
  if (blocks.empty()) return {};
  std::uint64_t operations = 0;
  bool ended = true;
  const auto replay = [&](Simulation& simulation) {
    ended = ended && simulation.run(input.most_operations - std::min(input.most_operations, operations));
    operations += simulation.operations();
  };
  const ReplayedGrid grid(input);
  AloneTimes alone(input.trace, input.key, [&](std::uint32_t block) {
    if (!ended) return 0.0;  // over the limit: the result will not be used
    Simulation simulation(input, grid, {block}, 1, 1, 1, Simulation::Keeps::times);
    replay(simulation);
    return simulation.end();
  });
  const bool whole = is_replayed_whole(input, alone);
  const ReplayPlan plan = whole ? plan_for_whole_grid(input) : plan_for_sample(input, alone);
  if (!ended) return past_budget(operations);
  // The share of L2 and DRAM is the share of the blocks: if blocks do not divide evenly among the SMs, those with the
  // most blocks also get more bandwidth.
  const double share = static_cast<double>(plan.of_grid) / static_cast<double>(plan.grid);
  Simulation simulation(input, grid, plan.chosen, static_cast<int>(plan.running), share, plan.simulated,
                        Simulation::Keeps::waits);
  replay(simulation);
  if (!ended) return past_budget(operations);
  // longer_than_traces() may need the time that a block takes when alone. If the grid has a single block, the
  // simulation has just run it alone, so this time is known.
  if (plan.running == 1 && plan.simulated == 1 && share == 1 && is_asked_alone(blocks[plan.chosen[0]]))
    alone.know(plan.chosen[0], simulation.end());
  const double cycles = cycles_of_all(input, plan, simulation);
  const double more = longer_than_traces(input, plan.more_work, alone);
  ModelledTime out;
  out.cycles = std::max(cycles * more + plan.idle_cycles, straggler_cycles(input, simulation.cycles_per_instruction()));
  if (!whole) {
    out.cycles = std::max({out.cycles, last_end(input, plan.chosen, cycles * more, alone),
                           cycles_of_stretches(input, alone), static_cast<double>(input.trace.chain_cycles)});
  }
  if (!ended) return past_budget(operations);
  // Blocks are dispatched one by one, and atomics on one word take turns, even those of different blocks.
  out.cycles = std::max(out.cycles, static_cast<double>(input.grid_blocks - 1) * input.machine.block_dispatch_cycles);
  out.cycles = std::max(out.cycles, input.most_contended_cycles);
  out.operations = operations;
  take_residency(simulation, plan, cycles * more + plan.idle_cycles, out);
  take_waits(simulation, static_cast<double>(plan.grid) / static_cast<double>(plan.simulated) * more, out);
  const double places =
      static_cast<double>(plan.sms * static_cast<std::uint64_t>(input.blocks_per_sm) * blocks.front().warps.size());
  out.waits[Wait::tail] = std::max(0.0, places * out.cycles - out.waits.total());
  return out;
}

}  // namespace roofwalk::vgpu
