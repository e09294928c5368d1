#include "common/vgpu/trace/sample.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>

#include "common/base/mix.h"

namespace roofwalk::vgpu {
namespace {

constexpr unsigned kMostHalvings = 63;
// In grids of more blocks than this, the number of blocks that qualify is estimated: to count them would take as long
// as to run them.
constexpr std::uint64_t kCountedBlocks = 1u << 20;
// Blocks unlike all traced ones are represented by traced blocks if they have at most this share of the grid's cost.
constexpr double kUntracedShare = 0.03;
// A block that waits this much longer than all traced ones, or keeps a unit busy this much longer, is requested.
constexpr double kFarLonger = 1.5;
constexpr std::size_t kMostMissing = 64;  // limit of GridTrace::missing

TraceSize size_of(const BlockTrace& trace) {
  TraceSize out{.bytes = trace.beside_bytes};
  for (const WarpTrace& warp : trace.warps) {
    out.instructions += warp.instructions;
    out.operations += warp.operations;
    out.bytes += kWarpTraceBytes + warp.blocks.size() * sizeof warp.blocks[0] +
                 warp.outcomes.size() * sizeof warp.outcomes[0] + warp.sync_points.size() * sizeof warp.sync_points[0] +
                 warp.turns.size() * sizeof warp.turns[0] + warp.found.size() * sizeof warp.found[0] +
                 warp.block_waits.size() * sizeof warp.block_waits[0] + warp.parts.size() * sizeof warp.parts[0] +
                 (warp.sleeps.size() + warp.naps.size()) * sizeof warp.sleeps[0];
  }
  return out;
}

// Gives memory back if much of it is unused. What little is unused is not worth another allocation.
template <class Entry>
void give_back_unused(std::pmr::vector<Entry>& entries) {
  constexpr std::size_t kFew = 64;
  if (entries.capacity() > 2 * entries.size() + kFew) entries.shrink_to_fit();
}

template <class Note>
void sort_by_outcome(std::vector<Note>& notes) {
  std::stable_sort(notes.begin(), notes.end(), [](const Note& a, const Note& b) { return a.outcome < b.outcome; });
}

// Numbers the phases that are left from 0 on, in the same order. The timing model has an entry for each number of each
// resident block, and a block may begin millions of phases that no warp waits for.
void renumber_phases(BlockTrace& block) {
  std::vector<std::uint32_t> left;
  for (const WarpTrace& warp : block.warps) {
    for (const SyncPoint& point : warp.sync_points) left.push_back(point.number);
  }
  std::sort(left.begin(), left.end());
  left.erase(std::unique(left.begin(), left.end()), left.end());
  for (WarpTrace& warp : block.warps) {
    for (SyncPoint& point : warp.sync_points) {
      const auto place = std::lower_bound(left.begin(), left.end(), point.number);
      point.number = static_cast<std::uint32_t>(place - left.begin());
    }
  }
}

// Drops arrivals at phases, and flag writes, that no warp waits for.
void drop_unseen(BlockTrace& block) {
  std::vector<bool> seen;
  const auto see = [&](std::uint32_t number) {
    if (seen.size() <= number) seen.resize(number + 1);
    seen[number] = true;
  };
  const auto is_seen = [&](std::uint32_t number) { return number < seen.size() && seen[number]; };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> follows;  // pairs: following phase, followed phase
  for (const WarpTrace& warp : block.warps) {
    std::uint32_t arrives = 0;
    for (auto at = warp.sync_points.rbegin(); at != warp.sync_points.rend(); ++at) {
      if (at->kind == SyncPoint::Kind::waits) see(at->number);
      if (at->kind == SyncPoint::Kind::arrives) arrives = at->number;
      if (at->kind == SyncPoint::Kind::follows) follows.emplace_back(arrives, at->number);
    }
  }
  // Descending: a phase has a greater number than the phases that it follows, so it is examined before them.
  std::sort(follows.begin(), follows.end(), std::greater<>());
  for (const auto& [later, earlier] : follows) {
    if (is_seen(later)) see(earlier);
  }
  for (WarpTrace& warp : block.warps) {
    bool arrives = false;
    const auto unseen = [&](const SyncPoint& point) {
      if (point.kind == SyncPoint::Kind::arrives) arrives = is_seen(point.number);
      return point.kind != SyncPoint::Kind::waits && !arrives;
    };
    const auto end = std::remove_if(warp.sync_points.rbegin(), warp.sync_points.rend(), unseen);
    warp.sync_points.erase(warp.sync_points.begin(), end.base());
  }
  renumber_phases(block);
}

}  // namespace

Sample::Sample(const TraceLimits& limits, std::uint64_t grid_blocks, int blocks_per_sm, std::size_t sms)
    : limits_(limits),
      grid_blocks_(grid_blocks),
      minimum_blocks_(static_cast<std::uint64_t>(limits.waves) * static_cast<std::uint64_t>(blocks_per_sm)),
      ended_(limits.instructions == 0 && !limits.complete),
      takes_any_(!ended_),
      strata_(grid_blocks) {
  std::sort(limits_.also.begin(), limits_.also.end());
  if (takes_any_ && grid_blocks <= sms * static_cast<std::uint64_t>(blocks_per_sm))
    limits_.instructions = std::max(limits_.instructions, limits_.one_wave_instructions);
}

std::uint64_t Sample::rank(std::uint64_t index) const { return mix(index + limits_.key); }

bool Sample::keeps(std::uint64_t index) const {
  return halvings_ == 0 || rank(index) >> (64 - halvings_) == 0 ||
         std::binary_search(limits_.also.begin(), limits_.also.end(), index);
}

BlockTrace* Sample::start(std::uint64_t index, std::uint32_t warps) {
  if (ended_ || !keeps(index)) return nullptr;
  const std::size_t warp_bytes = sizeof(WarpTrace) + usual_blocks_ * sizeof(std::uint32_t) +
                                 usual_outcomes_ * sizeof(Outcome) + alignof(std::max_align_t);
  OwnTraceMemory memory(warps * warp_bytes);
  TraceMemory* const piece = memory.get();
  auto trace = std::make_unique<BlockTrace>(
      BlockTrace{.index = index, .memory = std::move(memory), .warps = std::pmr::vector<WarpTrace>(piece)});
  trace->warps.reserve(warps);
  for (std::uint32_t w = 0; w < warps; ++w) {
    WarpTrace& warp = trace->warps.emplace_back(WarpTrace{.block = index,
                                                          .warp = w,
                                                          .blocks = std::pmr::vector<std::uint32_t>(piece),
                                                          .outcomes = std::pmr::vector<Outcome>(piece)});
    warp.blocks.reserve(usual_blocks_);
    warp.outcomes.reserve(usual_outcomes_);
  }
  return (traces_[index] = std::move(trace)).get();
}

void Sample::finish(BlockTrace* trace, const BlockWork& work) {
  if (!takes_any_ || trace == nullptr) return;
  trace->work = work;
  const TraceSize size = size_of(*trace);
  trace->instructions = size.instructions;
  trace->operations = size.operations;
  for (WarpTrace& warp : trace->warps) {
    give_back_unused(warp.blocks);
    give_back_unused(warp.outcomes);
    sort_by_outcome(warp.sync_points);
    sort_by_outcome(warp.turns);
    sort_by_outcome(warp.block_waits);
    sort_by_outcome(warp.sleeps);
  }
  const std::uint64_t recorded_bytes = size_of(*trace).bytes;
  drop_unseen(*trace);
  dropped_.bytes += recorded_bytes - size_of(*trace).bytes;
  usual_blocks_ = trace->warps[0].blocks.size();
  usual_outcomes_ = trace->warps[0].outcomes.size();
}

void Sample::count(std::uint64_t index, const BlockWork& work) {
  if (!takes_any_) return;
  strata_.add(work, index, rank(index));
  if (const auto trace = traces_.find(index); trace != traces_.end()) trace->second->work = work;
}

void Sample::count_qualifying() {
  qualifying_.assign(65, 0);
  if (grid_blocks_ > kCountedBlocks) {
    for (std::size_t i = 0; i < 64; ++i) qualifying_[i] = grid_blocks_ >> i;
    return;
  }
  for (std::uint64_t i = 0; i < grid_blocks_; ++i) ++qualifying_[static_cast<std::size_t>(std::countl_zero(rank(i)))];
  std::partial_sum(qualifying_.rbegin(), qualifying_.rend(), qualifying_.rbegin());
}

bool Sample::may_halve(std::uint64_t at_least) {
  if (halvings_ == kMostHalvings) return false;
  if (qualifying_.empty()) count_qualifying();
  return qualifying_[halvings_ + 1] >= at_least;
}

void Sample::drop_others() {
  for (auto it = traces_.begin(); it != traces_.end();) {
    if (keeps(it->first)) {
      ++it;
      continue;
    }
    const TraceSize size = size_of(*it->second);
    dropped_.instructions += size.instructions;
    dropped_.operations += size.operations;
    dropped_.bytes += size.bytes;
    dropped_last_.push_back(std::move(it->second));
    it = traces_.erase(it);
  }
}

bool Sample::hold_limits(const TraceSize& recorded) {
  dropped_last_.clear();
  bool changed = false;
  while (!ended_ && !limits_.complete) {
    const std::uint64_t length =
        length_of(recorded.instructions - dropped_.instructions, recorded.operations - dropped_.operations);
    const bool too_large = recorded.bytes - dropped_.bytes > limits_.bytes || length > limits_.most_instructions;
    const bool too_many = length > limits_.instructions;
    if (too_large ? may_halve(1) : too_many && may_halve(minimum_blocks_)) {
      ++halvings_;
      drop_others();
    } else if (too_large) {
      ended_ = true;
    } else {
      break;
    }
    changed = true;
  }
  return changed;
}

GridTrace Sample::take() {
  GridTrace out;
  out.complete = halvings_ == 0 && !ended_;
  out.blocks.reserve(traces_.size());
  for (auto& [index, trace] : traces_) {
    for (WarpTrace& warp : trace->warps) sort_by_outcome(warp.found);            // L2 answers late, out of order
    if (trace->work.instructions != 0) out.blocks.push_back(std::move(*trace));  // a fault leaves blocks unfinished
  }
  traces_.clear();
  if (limits_.complete || out.blocks.empty()) return out;
  std::vector<BlockWork> works;
  for (const BlockTrace& block : out.blocks) works.push_back(block.work);
  const std::vector<std::uint32_t> places = strata_.settle(works, kUntracedShare);
  for (std::size_t i = 0; i < places.size(); ++i) out.blocks[i].stratum = places[i];
  out.strata = strata_.all();
  if (!out.complete && !ended_) find_missing(out);
  return out;
}

// Requests traces of blocks from all strata that have none, most expensive stratum first. Of strata that are too cheap
// to matter, requests only one block each, because even such a block may be the last to end. The block with the longest
// warp, the block that waits longest and the one that keeps a unit busy longest come first, if they run, wait or are
// busy far longer than all traced blocks.
void Sample::find_missing(GridTrace& trace) const {
  double all = 0, untraced = 0;
  std::uint64_t longest = 0, longest_wait = 0, busy = 0;
  std::vector<const Stratum*> without;
  const Stratum *last = nullptr, *waiting = nullptr, *busiest = nullptr;
  for (const Stratum& stratum : trace.strata) {
    all += stratum.cost();
    if (last == nullptr || stratum.longest_warp > last->longest_warp) last = &stratum;
    if (waiting == nullptr || stratum.longest_wait_cycles > waiting->longest_wait_cycles) waiting = &stratum;
    if (busiest == nullptr || stratum.busy_cycles > busiest->busy_cycles) busiest = &stratum;
    if (stratum.traced != 0) continue;
    untraced += stratum.cost();
    without.push_back(&stratum);
  }
  for (const BlockTrace& block : trace.blocks) {
    longest = std::max(longest, block.work.longest_warp);
    longest_wait = std::max(longest_wait, block.work.longest_wait_cycles);
    busy = std::max(busy, block.work.busy_cycles);
  }
  std::stable_sort(without.begin(), without.end(), [](const auto* a, const auto* b) { return a->cost() > b->cost(); });
  std::uint64_t room = limits_.instructions;
  const auto ask_for = [&](std::uint64_t index, std::uint64_t instructions) {
    if (instructions > room || trace.missing.size() == kMostMissing) return;
    if (std::find(trace.missing.begin(), trace.missing.end(), index) != trace.missing.end()) return;
    room -= instructions;
    trace.missing.push_back(index);
  };
  if (last->longest_warp > 2 * longest) ask_for(last->longest_block, last->instructions / last->blocks);
  const auto is_far_longer = [](std::uint64_t cycles, std::uint64_t than) {
    return static_cast<double>(cycles) > kFarLonger * static_cast<double>(than);
  };
  if (is_far_longer(waiting->longest_wait_cycles, longest_wait))
    ask_for(waiting->waiting_block, waiting->instructions / waiting->blocks);
  if (is_far_longer(busiest->busy_cycles, busy))
    ask_for(busiest->busiest_block, busiest->instructions / busiest->blocks);
  for (const Stratum* stratum : without) {
    const bool is_rare = untraced <= kUntracedShare * all;
    for (const std::uint64_t index : stratum->examples) {
      ask_for(index, stratum->instructions / stratum->blocks);
      if (is_rare) break;
    }
    untraced -= stratum->cost();
  }
}

}  // namespace roofwalk::vgpu
