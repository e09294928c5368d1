// Which blocks of a launch leave a trace: all of them until that gets too much, then those whose hash lies below a
// threshold, halved as often as needed. So the sample is spread over the whole grid, and depends on nothing but the
// grid, the key, the limits and what each round recorded. The key is a hash that code cannot hold, as the code is part
// of what is hashed: no block knows whether it is in the sample.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "common/vgpu/trace/trace.h"

namespace roofwalk::vgpu {

struct TraceLimits {
  // Recorded PTX instructions (length_of()), past which fewer blocks are kept; 0: no traces.
  std::uint64_t instructions = 1'500'000;
  int waves = 2;                                 // but never fewer blocks than an SM holds, so many times,
  std::uint64_t bytes = 48u << 20;               // unless their traces need more than this
  std::uint64_t most_instructions = 20'000'000;  // or are longer than this: what the clock can replay in seconds
  bool complete = false;                         // every block, whatever it needs
  std::uint64_t key = 0;                         // which blocks are kept where not all are
  std::vector<std::uint64_t> also = {};          // blocks that are kept with them
};

// The traces of one launch while it runs.
class Sample {
 public:
  Sample(const TraceLimits& limits, std::uint64_t grid_blocks, int blocks_per_sm);

  // The trace that a block shall fill from its first instruction on; nullptr where it is not in the sample.
  BlockTrace* start(std::uint64_t index, std::uint32_t warps);

  // The block has ended, with or without a trace.
  void finish(std::uint64_t index, BlockTrace* trace, const BlockWork& work);

  // At the end of a round; `recorded` is all that was recorded so far, dropped traces included. True where traces of
  // blocks in flight are to be recorded no further: those that `keeps` no more, and all once `ended`. What is dropped
  // can be written to until the next call.
  bool hold_limits(const TraceSize& recorded);
  bool keeps(std::uint64_t index) const;
  bool ended() const { return ended_; }

  GridTrace take();

 private:
  bool may_halve(std::uint64_t at_least);
  void count_qualifying();
  void drop_others();
  std::uint64_t rank(std::uint64_t index) const;
  void find_missing(GridTrace& trace) const;

  TraceLimits limits_;
  std::uint64_t grid_blocks_, minimum_blocks_;
  unsigned halvings_ = 0;  // of the threshold
  bool ended_ = false;     // no memory is left to record more
  bool takes_any_ = true;
  std::vector<std::uint64_t> qualifying_;  // blocks of the grid after so many halvings; counted when first asked for
  TraceSize dropped_;
  std::size_t usual_blocks_ = 0, usual_outcomes_ = 0;  // of a warp, to reserve
  std::map<std::uint64_t, std::unique_ptr<BlockTrace>> traces_;
  std::vector<std::unique_ptr<BlockTrace>> dropped_last_;  // L2's answers may still be on their way to them
  Strata strata_;
};

// What a warp's trace takes, in bytes, without its entries.
inline constexpr std::uint64_t kWarpTraceBytes = 128;

}  // namespace roofwalk::vgpu
