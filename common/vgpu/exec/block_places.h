// The slots of blocks on SMs: registers, local and shared memory of their warps, and the initial state of a block.
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
  // Makes the slots of all SMs, no more than the grid has blocks for.
  BlockPlaces(const Program& program, const GridShape& shape, const RunLimits& limits,
              std::vector<Multiprocessor>& sms);

  std::uint32_t warps_per_block() const { return warps_per_block_; }
  // Starts the block that was given to this slot, with nothing left of the previous one.
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
  bool lockstep_;
  std::uint32_t warps_per_block_;
  Bytes registers_, local_, constants_, warp_constants_;
};

}  // namespace roofwalk::vgpu
