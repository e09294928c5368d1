#include "common/vgpu/timing/timing_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "common/vgpu/timing/block_latency.h"
#include "common/vgpu/timing/lone_block.h"
#include "common/vgpu/timing/sm_model.h"
#include "common/vgpu/timing/stretches.h"

namespace roofwalk::vgpu {
namespace {

// A grid whose blocks all left a trace (TraceLimits) is replayed whole, on all SMs, unless it has more than
// kWholeGridInstructions, its SMs take kManyRounds rounds of blocks, and all blocks did the same. For other grids, a
// few SMs with their share of L2 and DRAM represent all SMs. Together they run an eighth of the grid's instructions,
// between two limits, and each runs several rounds of the blocks that are resident at once. More SMs take precedence
// over more rounds, because SMs use bandwidth that others leave idle. Rounds matter, too: blocks start together and
// drift apart only after a while.
constexpr std::uint64_t kWholeGridInstructions = 150'000, kManyRounds = 32, kLeastSample = 60'000,
                        kMostSample = 600'000, kSampleRounds = 4, kSampleSms = 8, kFewSms = 4, kFewShare = 32,
                        kFewWork = 3'000'000;

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

// A group of similar blocks of the grid, and the traces of some of them.
struct Kind {
  double blocks = 0;                            // number of blocks in the grid
  double cost = 0;                              // cost of one block
  std::array<double, kGridParts> by_part = {};  // number of blocks, by part of the grid
  std::vector<std::uint32_t> members;           // indices of its traces, in the order of the grid

  void add(const Stratum& stratum, double times) {
    blocks += static_cast<double>(stratum.blocks) * times;
    for (std::size_t i = 0; i < by_part.size(); ++i) by_part[i] += stratum.by_part[i] * times;
  }
};

// Returns the kinds of blocks of a grid, cheapest first. A stratum without a trace is added to the kind with the most
// similar cost per block: as many more blocks of that kind as have the stratum's total cost.
std::vector<Kind> kinds_of(const GridTrace& trace) {
  std::vector<Kind> kinds;
  std::vector<std::vector<std::uint32_t>> members(trace.strata.size());
  for (std::uint32_t i = 0; i < trace.blocks.size(); ++i) members[trace.blocks[i].stratum].push_back(i);
  const auto cost_of = [](const Stratum& stratum) { return stratum.cost() / static_cast<double>(stratum.blocks); };
  for (std::size_t s = 0; s < members.size(); ++s) {
    if (members[s].empty()) continue;
    kinds.push_back({.cost = cost_of(trace.strata[s]), .members = members[s]});
    kinds.back().add(trace.strata[s], 1);
  }
  std::stable_sort(kinds.begin(), kinds.end(), [](const Kind& a, const Kind& b) { return a.cost < b.cost; });
  for (std::size_t s = 0; s < members.size(); ++s) {
    if (!members[s].empty()) continue;
    const double cost = cost_of(trace.strata[s]);
    const auto apart = [&](const Kind& kind) { return std::max(cost / kind.cost, kind.cost / cost); };
    const auto like =
        std::min_element(kinds.begin(), kinds.end(), [&](const Kind& a, const Kind& b) { return apart(a) < apart(b); });
    like->add(trace.strata[s], cost / like->cost);
  }
  return kinds;
}

// Removes kinds of blocks that hardly work and hardly wait. A grid that is larger than the problem may have many such
// blocks, which exit at once and do almost nothing even together. Returns the sum of the cycles for which they hold
// slots on SMs.
double drop_idle(std::vector<Kind>& kinds, const Machine& machine, AloneTimes& alone) {
  // Idle blocks cost at most kIdleShare of the total, and each less than kIdleCost of an average working block.
  constexpr double kIdleShare = 0.05, kIdleCost = 0.125;
  const double idle_wait = 2 * machine.dram_latency_cycles;  // enough for a guard that tests a value that it loads
  double all = 0, blocks = 0;
  for (const Kind& kind : kinds) all += kind.blocks * kind.cost, blocks += kind.blocks;
  std::ptrdiff_t idle = 0;
  double left = all;
  for (std::size_t k = 0; k + 1 < kinds.size(); ++k) {
    left -= kinds[k].blocks * kinds[k].cost;
    blocks -= kinds[k].blocks;
    if (all - left > kIdleShare * all) break;
    if (kinds[k].cost < kIdleCost * left / blocks) idle = static_cast<std::ptrdiff_t>(k) + 1;
  }
  std::vector<std::uint32_t> members;
  for (auto kind = kinds.begin(); kind != kinds.begin() + idle; ++kind)
    members.insert(members.end(), kind->members.begin(), kind->members.end());
  alone.take(members);
  double held = 0;
  const auto is_idle = [&](const Kind& kind) {
    double sum = 0;
    for (const std::uint32_t i : kind.members) {
      const std::optional<double> cycles = alone.of(i);
      if (!cycles || *cycles > idle_wait) return false;
      sum += *cycles + machine.block_start_cycles;
    }
    held += kind.blocks * sum / static_cast<double>(kind.members.size());
    return true;
  };
  kinds.erase(std::remove_if(kinds.begin(), kinds.begin() + idle, is_idle), kinds.begin() + idle);
  return held;
}

// Returns the members of a kind in order of their time alone, shortest first; an unknown time counts as the average of
// the known ones.
std::vector<std::uint32_t> by_time(const GridTrace& trace, const Kind& kind, const AloneTimes& alone) {
  double sum = 0, known = 0;
  for (const std::uint32_t i : kind.members) {
    if (const auto cycles = alone.of(i)) sum += *cycles, known += 1;
  }
  const auto key = [&](std::uint32_t i) {
    return std::pair{alone.of(i).value_or(sum / std::max(known, 1.0)), trace.blocks[i].work.cost()};
  };
  std::vector<std::uint32_t> out = kind.members;
  std::stable_sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  return out;
}

// Returns `count` traces that represent all blocks, in the order of the grid: each kind has the same share of the
// traces as of the blocks.
std::vector<std::uint32_t> representatives(const GridTrace& trace, const std::vector<Kind>& kinds, std::uint64_t count,
                                           AloneTimes& alone) {
  struct Place {
    double at;  // in parts of the grid
    std::uint32_t trace;
  };
  std::vector<Place> places;
  std::vector<std::uint64_t> quotas;
  std::vector<std::uint32_t> unsure;  // members of kinds that have more traces than places
  double all = 0, before = 0;
  for (const Kind& kind : kinds) all += kind.blocks;
  std::uint64_t given = 0;
  for (const Kind& kind : kinds) {
    before += kind.blocks;
    const auto until = static_cast<std::uint64_t>(std::llround(before / all * static_cast<double>(count)));
    quotas.push_back(until - given);
    given = until;
    if (quotas.back() < kind.members.size()) unsure.insert(unsure.end(), kind.members.begin(), kind.members.end());
  }
  alone.take(unsure);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const Kind& kind = kinds[k];
    const std::uint64_t quota = quotas[k];
    std::vector<std::uint32_t> members = kind.members;
    if (quota < members.size()) {  // spread evenly over their times
      const std::vector<std::uint32_t> sorted = by_time(trace, kind, alone);
      for (std::uint64_t i = 0; i < quota; ++i) members[i] = sorted[(2 * i + 1) * sorted.size() / (2 * quota)];
      members.resize(quota);
      std::sort(members.begin(), members.end());
    }
    // Each part of the grid gets representatives in proportion to how many blocks of the kind it has. Members take
    // turns, so that the same trace recurs as late as possible.
    std::size_t part = 0;
    double passed = 0;
    for (std::uint64_t i = 0; i < quota; ++i) {
      const double rank = (static_cast<double>(i) + 0.5) / static_cast<double>(quota) * kind.blocks;
      while (part + 1 < kGridParts && passed + kind.by_part[part] <= rank) passed += kind.by_part[part++];
      const double in_part = kind.by_part[part] == 0 ? 0 : (rank - passed) / kind.by_part[part];
      places.push_back({static_cast<double>(part) + in_part, members[i % members.size()]});
    }
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.at < b.at; });
  std::vector<std::uint32_t> out;
  for (const Place& place : places) out.push_back(place.trace);
  return out;
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

// What is replayed: how many SMs represent all SMs, and which traces represent the blocks that these SMs get.
struct ReplayPlan {
  std::uint64_t sms = 0, grid = 0;           // SMs that have blocks; the grid's blocks without the idle ones
  std::uint64_t running = 0, simulated = 0;  // simulated SMs; simulated blocks
  std::uint64_t of_grid = 0;                 // blocks of the grid that these SMs get
  std::vector<std::uint32_t> chosen;         // traces
  double more_work = 1;                      // cost of the grid's blocks over that of the chosen ones
  double idle_cycles = 0;                    // cycles for which idle blocks hold each slot
};

ReplayPlan plan_for_whole_grid(const TimingInput& input) {
  ReplayPlan plan;
  plan.sms = plan.running = std::min(static_cast<std::uint64_t>(input.machine.sms), input.grid_blocks);
  plan.grid = plan.simulated = plan.of_grid = input.grid_blocks;
  plan.chosen.resize(input.trace.blocks.size());
  std::iota(plan.chosen.begin(), plan.chosen.end(), 0u);
  return plan;
}

ReplayPlan plan_for_sample(const TimingInput& input, AloneTimes& alone) {
  const auto slots = static_cast<std::uint64_t>(input.blocks_per_sm);
  ReplayPlan plan = plan_for_whole_grid(input);
  std::vector<Kind> kinds = kinds_of(input.trace);
  plan.idle_cycles = drop_idle(kinds, input.machine, alone) / static_cast<double>(plan.sms * slots);
  double all_blocks = 0, cost = 0;
  for (const Kind& kind : kinds) all_blocks += kind.blocks, cost += kind.blocks * kind.cost;
  plan.grid = static_cast<std::uint64_t>(std::max(1.0, std::round(all_blocks)));
  plan.sms = std::min(plan.sms, plan.grid);
  const std::uint64_t busiest = (plan.grid + plan.sms - 1) / plan.sms;
  const std::uint64_t a_block = std::max<std::uint64_t>(input.instructions / plan.grid, 1);
  const std::uint64_t a_round = slots * a_block, least = std::min(busiest, kSampleRounds * slots) * a_block;
  const std::uint64_t sample = std::clamp(input.instructions / 8, kLeastSample, kMostSample);
  // Even if blocks are so long that one SM would do, a few SMs are simulated: how long an SM takes depends on whether
  // it is the first to fetch shared data, so an average is needed.
  const std::uint64_t few = std::min(kFewSms, std::max(input.instructions / kFewShare, kFewWork) / least);
  plan.running = std::clamp<std::uint64_t>(std::max(sample / least, few), 1, std::min(plan.sms, kSampleSms));
  const std::uint64_t rounds = std::max(kSampleRounds, sample / (plan.running * a_round) + 1);
  // Whole rounds, and the incomplete last one of the grid.
  const std::uint64_t an_sm = std::min(busiest, rounds * slots + busiest % slots);
  plan.simulated = plan.running * an_sm;
  plan.of_grid = plan.running * busiest;
  plan.chosen = representatives(input.trace, kinds, plan.simulated, alone);
  double chosen_cost = 0;
  for (const std::uint32_t i : plan.chosen) chosen_cost += input.trace.blocks[i].work.cost();
  plan.more_work = cost / all_blocks * static_cast<double>(plan.simulated) / chosen_cost;
  return plan;
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

bool is_replayed_whole(const TimingInput& input, AloneTimes& alone) {
  std::uint64_t recorded = 0, executed = 0;
  for (const BlockTrace& block : input.trace.blocks) {
    recorded += block.instructions;
    executed += block.work.instructions;
  }
  if (!input.trace.complete || executed != recorded) return false;
  // Without strata, nothing may represent anything else (TraceLimits::complete); nor may it if blocks wait for others.
  const auto places = static_cast<std::uint64_t>(input.machine.sms) * static_cast<std::uint64_t>(input.blocks_per_sm);
  return recorded <= kWholeGridInstructions || input.grid_blocks < kManyRounds * places || input.trace.strata.empty() ||
         !input.trace.writes.empty() || !alone.are_alike();
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
