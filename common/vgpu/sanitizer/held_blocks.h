// In sanitized runs without figures: blocks that get no turn while others get ahead, as CUDA orders blocks in no way.
// Otherwise, a block would know that all blocks of smaller number have begun before it, and mostly that they have
// ended.
//
// Blocks start in order of number nevertheless, as on today's GPUs, and a held one is in its slot like the others. So
// whoever waits for blocks that are resident together with it waits in vain only for as long as those are held: as soon
// as no block ends for a while, or nobody else can go on, one of them is let go, whichever. The first blocks of a grid
// are held most often, as the others most likely read what they write. Deterministic for a seed.
#pragma once

#include <cstdint>
#include <vector>

#include "common/vgpu/state/block.h"

namespace roofwalk::vgpu {

class HeldBlocks {
 public:
  // `seed` 0: holds none. `blocks`: of the grid; `slots`: how many are resident at once; `work`: the launch's budget.
  HeldBlocks(std::uint64_t seed, std::uint64_t blocks, std::uint64_t slots, std::uint64_t work);

  // Sets ResidentBlock::is_held of a block that a slot gets. The slot must outlive this object.
  void choose(ResidentBlock& block);

  // After each round, which took `work` (work.h). `moved`: whether any warp had a turn; `ended`: whether any block has
  // ended. Lets some blocks go if it is time. Returns whether it did.
  bool settle_round(bool moved, bool ended, std::uint64_t work);

 private:
  std::uint64_t patience() const;  // work without the end of a block after which one is let go
  void let_go(std::size_t which);

  std::uint64_t seed_, blocks_;
  std::size_t most_;             // that are held at the same time
  std::uint64_t most_patience_;  // the most that patience() is
  std::uint64_t spent_ = 0;      // work of the launch
  std::uint64_t waited_ = 0;     // work since a block ended or was let go
  std::uint64_t times_ = 0;      // that one was let go for want of patience
  std::vector<ResidentBlock*> held_;
};

}  // namespace roofwalk::vgpu
