#include "common/vgpu/sanitizer/knowledge.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::size_t kPartsPerRow = 4;  // comparing so many parts of copies takes as long as a row of lanes

bool covers(const LaneClocks& known, const LaneClocks& other) {
  unsigned later = 0;
  for (std::size_t l = 0; l < known.size(); ++l) later |= static_cast<unsigned>(other[l] > known[l]);
  return later == 0;
}

void raise_all(LaneClocks& known, const LaneClocks& other) {
  for (std::size_t l = 0; l < known.size(); ++l) known[l] = std::max(known[l], other[l]);
}

}  // namespace

std::size_t Knowledge::own_lanes() {
  if (lanes_ == nullptr) {
    lanes_ = std::make_shared<Lanes>();
  } else if (lanes_.use_count() != 1) {
    lanes_ = std::make_shared<Lanes>(*lanes_);
    return rows();
  }
  return 0;
}

void Knowledge::prove(const Knowledge& fenced) {
  for (std::size_t i = 0; i < proven.size(); ++i) proven[i] = std::max(proven[i], fenced.proven[i]);
}

std::size_t Knowledge::join(const Knowledge& other, bool is_proven) {
  if (is_proven) prove(other);
  for (std::size_t i = 0; i < warps.size(); ++i) warps[i] = std::max(warps[i], other.warps[i]);
  std::size_t work = copies.join(other.copies) / kPartsPerRow;
  if (other.lanes_ == nullptr || other.lanes_ == lanes_) return work;
  if (lanes_ == nullptr) {
    lanes_ = other.lanes_;
    return work;
  }
  const std::shared_ptr<const Lanes> from = other.lanes_;
  std::size_t row = 0;
  for (std::uint32_t left = from->warps; left != 0; left &= left - 1)
    work += join_lanes(static_cast<std::uint32_t>(std::countr_zero(left)), from->clocks[row++]);
  return work;
}

std::size_t Knowledge::join_lanes(std::uint32_t warp, const LaneClocks& clocks) {
  const LaneClocks* const known = lanes_of(warp);
  if (known != nullptr && covers(*known, clocks)) return 1;
  const std::size_t copied = own_lanes(), row = row_of(*lanes_, warp);
  if (known != nullptr) {
    raise_all(lanes_->clocks[row], clocks);
    return copied + 1;
  }
  lanes_->clocks.insert(lanes_->clocks.begin() + static_cast<std::ptrdiff_t>(row), clocks);
  lanes_->warps |= 1u << warp;
  return copied + rows();  // inserting may have moved every row
}

std::size_t Knowledge::forget_lanes(std::uint32_t warp) {
  if (lanes_of(warp) == nullptr) return 0;
  if (rows() == 1) {
    lanes_.reset();
    return 0;
  }
  own_lanes();
  lanes_->clocks.erase(lanes_->clocks.begin() + static_cast<std::ptrdiff_t>(row_of(*lanes_, warp)));
  lanes_->warps &= ~(1u << warp);
  return rows();
}

void Knowledge::blur_lanes() {
  for (std::uint32_t w = 0; w < warps.size(); ++w) {
    if (const LaneClocks* const own = lanes_of(w)) raise(w, *std::ranges::max_element(*own));
  }
  lanes_.reset();
}

}  // namespace roofwalk::vgpu
