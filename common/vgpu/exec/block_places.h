// Makes the slots for resident blocks on SMs, with their registers, local and shared memory, and initializes a slot for
// each new block.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/vgpu/exec/grid.h"
#include "common/vgpu/sanitizer/watched_blocks.h"
#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

class BlockPlaces {
 public:
  // Makes the slots of the SMs, but not more than the grid has blocks for. `schedulers`: of an SM.
  BlockPlaces(const Program& program, const GridShape& shape, const RunLimits& limits, std::vector<Multiprocessor>& sms,
              int schedulers);

  std::uint32_t warps_per_block() const { return warps_per_block_; }
  std::size_t warps_per_sm() const { return warps_per_sm_; }
  // Initializes the slot for the block that it was given. Nothing of the previous block remains.
  void begin(Launch& launch, Multiprocessor& sm, ResidentBlock& block, bool is_traced);

 private:
  struct FreeDelete {
    void operator()(std::uint8_t* p) const { std::free(p); }
  };
  using Bytes = std::unique_ptr<std::uint8_t[], FreeDelete>;
  static Bytes allocate_zeroed(std::size_t bytes);

  const Program& program_;
  Dim3 grid_, block_;
  WatchedBlocks watched_blocks_;
  std::uint64_t seed_;   // of what is in unwritten registers
  bool has_no_figures_;  // of a sanitized run
  bool lockstep_;
  std::uint32_t warps_per_block_;
  std::size_t warps_per_sm_ = 0;  // number of warp slots
  Bytes registers_, local_, constants_, warp_constants_;
  // By entry of Program::unwritten: the first operation that reads the register. Empty if nothing is watched.
  std::vector<const Op*> first_reads_;
};

}  // namespace roofwalk::vgpu
