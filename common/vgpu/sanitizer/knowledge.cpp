#include "common/vgpu/sanitizer/knowledge.h"

namespace roofwalk::vgpu {
namespace {

bool has_all(const LaneClocks& known, const LaneClocks& other) {
  unsigned later = 0;
  for (std::size_t l = 0; l < known.size(); ++l) later |= static_cast<unsigned>(other[l] > known[l]);
  return later == 0;
}

void raise_all(LaneClocks& known, const LaneClocks& other) {
  for (std::size_t l = 0; l < known.size(); ++l) known[l] = std::max(known[l], other[l]);
}

// The later ones of these times: of a whole warp, and of its lanes, which may be null.
LaneClocks latest(Clock of_warp, const LaneClocks* lanes, const LaneClocks* others = nullptr) {
  LaneClocks times;
  times.fill(of_warp);
  if (lanes != nullptr) raise_all(times, *lanes);
  if (others != nullptr) raise_all(times, *others);
  return times;
}

LaneClocks earlier(LaneClocks a, const LaneClocks& b) {
  for (std::size_t l = 0; l < a.size(); ++l) a[l] = std::min(a[l], b[l]);
  return a;
}

}  // namespace

std::size_t Knowledge::own_rows(Rows& rows) {
  if (rows == nullptr) {
    rows = std::make_shared<Lanes>();
  } else if (rows.use_count() != 1) {
    rows = std::make_shared<Lanes>(*rows);
    return rows->clocks.size();
  }
  return 0;
}

std::size_t Knowledge::prove(const Knowledge& fenced) {
  for (std::size_t i = 0; i < proven.size(); ++i) proven[i] = std::max(proven[i], fenced.proven[i]);
  return join_rows(lanes_, fenced.lanes_);
}

std::size_t Knowledge::join(const Knowledge& other, bool is_proven) {
  if (is_proven) {
    for (std::size_t i = 0; i < proven.size(); ++i) proven[i] = std::max(proven[i], other.proven[i]);
  }
  for (std::size_t i = 0; i < warps.size(); ++i) warps[i] = std::max(warps[i], other.warps[i]);
  const std::size_t work = copies.join(other.copies) / KnownCopies::kPartsPerRow;
  if (other.lanes_ == nullptr && other.lucky_ == nullptr) return work;
  return work + join_rows(is_proven ? lanes_ : lucky_, other.lanes_) + join_rows(lucky_, other.lucky_);
}

std::size_t Knowledge::join_rows(Rows& rows, const Rows& others) {
  if (others == nullptr || others == rows) return 0;
  if (rows == nullptr) {
    rows = others;
    return 0;
  }
  const std::shared_ptr<const Lanes> from = others;
  std::size_t row = 0, work = 0;
  for (std::uint32_t left = from->warps; left != 0; left &= left - 1)
    work += join_row(rows, static_cast<std::uint32_t>(std::countr_zero(left)), from->clocks[row++]);
  return work;
}

std::size_t Knowledge::join_row(Rows& rows, std::uint32_t warp, const LaneClocks& clocks) {
  const LaneClocks* const known = find_row(rows, warp);
  if (known != nullptr && has_all(*known, clocks)) return 1;
  const std::size_t copied = own_rows(rows), row = row_of(*rows, warp);
  if (known != nullptr) {
    raise_all(rows->clocks[row], clocks);
    return copied + 1;
  }
  rows->clocks.insert(rows->clocks.begin() + static_cast<std::ptrdiff_t>(row), clocks);
  rows->warps |= 1u << warp;
  return copied + rows->clocks.size();  // inserting may have moved every row
}

bool Knowledge::cover(const Rows& rows, const std::vector<Clock>& clocks, const Rows& others) {
  if (others == nullptr || others == rows) return true;
  std::size_t row = 0;
  for (std::uint32_t left = others->warps; left != 0; left &= left - 1, ++row) {
    const auto warp = static_cast<std::uint32_t>(std::countr_zero(left));
    if (!has_all(latest(clocks[warp], find_row(rows, warp)), others->clocks[row])) return false;
  }
  return true;
}

bool Knowledge::covers(const Knowledge& other, bool is_proven) const {
  unsigned later = 0;
  for (std::size_t i = 0; i < warps.size(); ++i) {
    later |= static_cast<unsigned>(other.warps[i] > warps[i]) |
             (static_cast<unsigned>(is_proven) & static_cast<unsigned>(other.proven[i] > proven[i]));
  }
  if (later != 0 || !copies.cover(other.copies) || !cover(lucky_, warps, other.lucky_)) return false;
  return is_proven ? cover(lanes_, proven, other.lanes_) : cover(lucky_, warps, other.lanes_);
}

std::size_t Knowledge::keep_common(const Knowledge& other) {
  std::uint32_t with_rows = 0;
  for (const Rows& each : {lanes_, lucky_, other.lanes_, other.lucky_}) with_rows |= each == nullptr ? 0 : each->warps;
  Rows common, common_lucky;
  std::size_t work = 1;
  for (std::uint32_t left = with_rows; left != 0; left &= left - 1) {
    const auto warp = static_cast<std::uint32_t>(std::countr_zero(left));
    const LaneClocks *const own = find_row(lanes_, warp), *const others = find_row(other.lanes_, warp);
    const LaneClocks all_proven = earlier(latest(proven[warp], own), latest(other.proven[warp], others));
    const LaneClocks all = earlier(latest(warps[warp], own, find_row(lucky_, warp)),
                                   latest(other.warps[warp], others, find_row(other.lucky_, warp)));
    work += join_row(common, warp, all_proven) + join_row(common_lucky, warp, all);
  }
  lanes_ = std::move(common);
  lucky_ = std::move(common_lucky);
  for (std::size_t i = 0; i < warps.size(); ++i) {
    warps[i] = std::min(warps[i], other.warps[i]);
    proven[i] = std::min(proven[i], other.proven[i]);
  }
  copies = copies.in_common(other.copies);
  return work;
}

std::size_t Knowledge::forget_row(Rows& rows, std::uint32_t warp) {
  if (find_row(rows, warp) == nullptr) return 0;
  if (rows->clocks.size() == 1) {
    rows.reset();
    return 0;
  }
  own_rows(rows);
  rows->clocks.erase(rows->clocks.begin() + static_cast<std::ptrdiff_t>(row_of(*rows, warp)));
  rows->warps &= ~(1u << warp);
  return rows->clocks.size();
}

std::size_t Knowledge::forget_lanes(std::uint32_t warp) { return forget_row(lanes_, warp) + forget_row(lucky_, warp); }

void Knowledge::blur_lanes() {
  for (std::uint32_t w = 0; w < warps.size(); ++w) {
    if (const LaneClocks* const row = find_row(lanes_, w)) raise(w, *std::ranges::max_element(*row));
    if (const LaneClocks* const row = find_row(lucky_, w))
      warps[w] = std::max(warps[w], *std::ranges::max_element(*row));
  }
  forget_lanes();
}

}  // namespace roofwalk::vgpu
