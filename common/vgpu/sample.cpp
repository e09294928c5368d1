#include "common/vgpu/sample.h"

#include <bit>

#include "common/vgpu/cache.h"

namespace roofwalk::vgpu {
namespace {

constexpr unsigned kMostHalvings = 63;

TraceSize size_of(const BlockTrace& trace) {
  TraceSize out;
  for (const WarpTrace& warp : trace.warps) {
    out.instructions += warp.instructions;
    out.bytes +=
        kWarpTraceBytes + warp.blocks.size() * sizeof warp.blocks[0] + warp.outcomes.size() * sizeof warp.outcomes[0];
  }
  return out;
}

}  // namespace

Sample::Sample(const TraceLimits& limits, std::uint64_t grid_blocks, int blocks_per_sm)
    : limits_(limits),
      grid_blocks_(grid_blocks),
      minimum_blocks_(static_cast<std::uint64_t>(limits.waves) * static_cast<std::uint64_t>(blocks_per_sm)),
      ended_(limits.instructions == 0 && !limits.complete) {}

bool Sample::keeps(std::uint64_t index) const { return halvings_ == 0 || mix(index) >> (64 - halvings_) == 0; }

BlockTrace* Sample::start(std::uint64_t index, std::uint32_t warps) {
  if (ended_ || !keeps(index)) return nullptr;
  auto trace = std::make_unique<BlockTrace>();
  trace->index = index;
  trace->warps.resize(warps);
  for (WarpTrace& warp : trace->warps) {
    warp.blocks.reserve(usual_blocks_);
    warp.outcomes.reserve(usual_outcomes_);
  }
  return (traces_[index] = std::move(trace)).get();
}

void Sample::finish(BlockTrace& trace, std::uint64_t executed) {
  trace.executed = executed;
  trace.instructions = size_of(trace).instructions;
  for (WarpTrace& warp : trace.warps) {
    warp.blocks.shrink_to_fit();
    warp.outcomes.shrink_to_fit();
  }
  usual_blocks_ = trace.warps[0].blocks.size();
  usual_outcomes_ = trace.warps[0].outcomes.size();
}

bool Sample::may_halve(std::uint64_t at_least) {
  if (halvings_ == kMostHalvings) return false;
  if (qualifying_.empty()) {
    qualifying_.assign(65, 0);
    for (std::uint64_t i = 0; i < grid_blocks_; ++i) ++qualifying_[static_cast<std::size_t>(std::countl_zero(mix(i)))];
    for (std::size_t i = 64; i-- > 0;) qualifying_[i] += qualifying_[i + 1];
  }
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
    dropped_.bytes += size.bytes;
    dropped_last_.push_back(std::move(it->second));
    it = traces_.erase(it);
  }
}

bool Sample::hold_limits(const TraceSize& recorded) {
  dropped_last_.clear();
  bool changed = false;
  while (!ended_ && !limits_.complete) {
    const bool too_large = recorded.bytes - dropped_.bytes > limits_.bytes ||
                           recorded.instructions - dropped_.instructions > limits_.most_instructions;
    const bool too_many = recorded.instructions - dropped_.instructions > limits_.instructions;
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
  for (auto& [index, trace] : traces_) out.blocks.push_back(std::move(*trace));
  traces_.clear();
  return out;
}

}  // namespace roofwalk::vgpu
