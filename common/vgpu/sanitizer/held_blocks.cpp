#include "common/vgpu/sanitizer/held_blocks.h"

#include <algorithm>

#include "common/base/mix.h"

namespace roofwalk::vgpu {
namespace {

// Three quarters of the slots go on, so that most neighbours in a chain of blocks still run side by side. Of two or
// three blocks, one is held nevertheless.
constexpr std::size_t kMostHeld = 16, kShareHeld = 4;

std::size_t most_held(std::uint64_t resident) {
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(kMostHeld, resident < 2 ? 0 : std::max<std::uint64_t>(1, resident / kShareHeld)));
}

// Blocks that wait for held ones spend work in vain, which must be little beside what the launch takes anyway, and
// beside the budget. But a block that spins for a while in place of waiting shall find that others have not come.
constexpr std::uint64_t kLeastPatience = std::uint64_t{1} << 16;
constexpr std::uint64_t kShareOfLaunch = 16, kShareOfBudget = 512;

// Half of the first blocks are held, and about as many of all others together.
constexpr std::uint64_t kOftenHeld = 16, kHeldLater = 8;

}  // namespace

HeldBlocks::HeldBlocks(std::uint64_t seed, std::uint64_t blocks, std::uint64_t slots, std::uint64_t work)
    : seed_(seed),
      blocks_(blocks),
      most_(seed == 0 ? 0 : most_held(std::min(blocks, slots))),
      most_patience_(work / kShareOfBudget) {}

std::uint64_t HeldBlocks::patience() const {
  return std::min(std::max(spent_ / kShareOfLaunch, kLeastPatience), most_patience_);
}

void HeldBlocks::choose(ResidentBlock& block) {
  block.is_held = false;
  if (held_.size() >= most_) return;
  const std::uint64_t chance = mix(~seed_ ^ mix(block.linear_index + 1));
  const std::uint64_t one_of = block.linear_index < kOftenHeld ? 2 : std::max<std::uint64_t>(2, blocks_ / kHeldLater);
  if (chance % one_of != 0) return;
  block.is_held = true;
  held_.push_back(&block);
}

bool HeldBlocks::settle_round(bool moved, bool ended, std::uint64_t work) {
  if (held_.empty()) return false;
  if (!moved) {
    while (!held_.empty()) let_go(held_.size() - 1);
    return true;
  }
  spent_ += work;
  waited_ = ended ? 0 : waited_ + work;
  if (waited_ < patience()) return false;
  waited_ = 0;
  let_go(static_cast<std::size_t>(mix(seed_ + ++times_) % held_.size()));
  return true;
}

void HeldBlocks::let_go(std::size_t which) {
  held_[which]->is_held = false;
  held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(which));
}

}  // namespace roofwalk::vgpu
