#include "common/vgpu/timing/replay_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

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

}  // namespace

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

}  // namespace roofwalk::vgpu
