// Selects the blocks of a launch that leave a trace: at first all blocks, later those whose hash lies below a
// threshold, which is halved whenever traces exceed their limits. The sample is spread over the whole grid and depends
// only on the grid, the key, the limits and what each round recorded. The key is a hash of the code and other things.
// So code cannot contain its own key, and no block can tell whether it is in the sample.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "common/vgpu/trace/trace.h"

namespace roofwalk::vgpu {

struct TraceLimits {
  // Limit on recorded PTX instructions, as counted by length_of(). Beyond it, fewer blocks are kept. 0: no traces.
  std::uint64_t instructions = 1'500'000;
  // The same for a grid whose blocks all run at once: they are few, so each may decide how long it takes.
  std::uint64_t one_wave_instructions = 6'000'000;
  // Even then, at least `waves` times as many blocks as an SM holds are kept, unless their traces exceed one of the
  // next two limits: the memory that traces may take, and the number of instructions that the timing model can replay
  // within seconds.
  int waves = 2;
  std::uint64_t bytes = 48u << 20;
  std::uint64_t most_instructions = 20'000'000;
  bool complete = false;                 // keep every block without a limit
  std::uint64_t key = 0;                 // selects the blocks if not all are kept
  std::vector<std::uint64_t> also = {};  // blocks that are always kept
};

// The traces of one launch while it runs.
class Sample {
 public:
  Sample(const TraceLimits& limits, std::uint64_t grid_blocks, int blocks_per_sm, std::size_t sms);

  // The trace that a block fills from its first instruction on; nullptr: the block is not in the sample.
  BlockTrace* start(std::uint64_t index, std::uint32_t warps);

  // Called when a block has ended, with or without a trace. count() is then called when L2 has answered the block's
  // last requests, with its work including its waits; the trace may have been dropped in between.
  void finish(BlockTrace* trace, const BlockWork& work);
  void count(std::uint64_t index, const BlockWork& work);
  bool takes_any() const { return takes_any_; }

  // Enforces the limits at the end of a round; `recorded`: everything recorded so far, including dropped traces.
  // Returns true if blocks in flight must stop recording: those for which keeps() is now false or, if ended(), all.
  // Dropped traces may still be written to until the next call.
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
  unsigned halvings_ = 0;  // how often the hash threshold was halved
  bool ended_ = false;     // nothing more is recorded: traces are off or became too large
  bool takes_any_ = true;  // false: traces are off, so nothing is counted
  // By number of halvings: how many blocks of the grid are kept. Filled in on first use.
  std::vector<std::uint64_t> qualifying_;
  TraceSize dropped_;
  std::size_t usual_blocks_ = 0, usual_outcomes_ = 0;  // sizes to reserve: those of the last block's first warp
  std::map<std::uint64_t, std::unique_ptr<BlockTrace>> traces_;
  std::vector<std::unique_ptr<BlockTrace>> dropped_last_;  // kept until L2 has written its answers to them
  Strata strata_;
};

// Host memory of a warp's trace, in bytes, without its entries.
inline constexpr std::uint64_t kWarpTraceBytes = 128;

}  // namespace roofwalk::vgpu
