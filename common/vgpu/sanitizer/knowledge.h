// A vector clock of the race detector: for each warp of a block, and for some single lanes, the time up to which the
// accesses are known to have happened.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/vgpu/requests/coalescer.h"
#include "common/vgpu/sanitizer/known_copies.h"

namespace roofwalk::vgpu {

// Logical time of a warp; it advances when the warp synchronizes.
using Clock = std::uint32_t;
using LaneClocks = std::array<Clock, kWarpSize>;

// The vector clock of a warp, a lock or a barrier. Times of single lanes are rare: they arise only if some lanes of a
// warp fence, arrive or release without the others. So rows of them are stored only for the warps that have such times,
// and copies of a Knowledge share the rows.
class Knowledge {
 public:
  explicit Knowledge(std::size_t warp_count = 0) : warps(warp_count), proven(warp_count) {}

  std::vector<Clock> warps;  // by warp, for all its lanes; at most 32 warps
  // The same without what was told by volatile or relaxed accesses with no fence before them, or by copies that arrive.
  std::vector<Clock> proven;
  KnownCopies copies;  // those that waits at mbarriers have proved to be over

  // Forgets everything, but keeps the memory.
  void clear() {
    std::fill(warps.begin(), warps.end(), 0);
    std::fill(proven.begin(), proven.end(), 0);
    copies.clear();
    forget_lanes();
  }
  void set(std::uint32_t warp, Clock to) { warps[warp] = proven[warp] = to; }
  void raise(std::uint32_t warp, Clock to) {
    warps[warp] = std::max(warps[warp], to);
    proven[warp] = std::max(proven[warp], to);
  }

  // Returns the number of rows: of warps with times for single lanes, and of warps with such times that are not proven.
  std::size_t rows() const {
    return (lanes_ == nullptr ? 0 : lanes_->clocks.size()) + (lucky_ == nullptr ? 0 : lucky_->clocks.size());
  }
  Clock of_lane(std::uint32_t warp, int lane) const {
    return std::max({warps[warp], in_row(lanes_, warp, lane), in_row(lucky_, warp, lane)});
  }
  Clock proven_of_lane(std::uint32_t warp, int lane) const {
    return std::max(proven[warp], in_row(lanes_, warp, lane));
  }
  // Whether some of what is known of a warp, or of a lane of it, is not proven.
  bool has_luck_of(std::uint32_t warp) const {
    return warps[warp] != proven[warp] || find_row(lucky_, warp) != nullptr;
  }
  // Whether this has all that `other` has, whose own proofs count only if it `is_proven`.
  bool covers(const Knowledge& other, bool is_proven = true) const;
  // The next five functions return how many rows of lane times they compared or copied, for the work budget.
  // prove: adds what a fence has made known to all that is proven. keep_common: drops what `other` does not know.
  std::size_t prove(const Knowledge& fenced);
  std::size_t join(const Knowledge& other, bool is_proven = true);
  std::size_t join_lanes(std::uint32_t warp, const LaneClocks& clocks, bool is_proven = true) {
    return join_row(is_proven ? lanes_ : lucky_, warp, clocks);
  }
  std::size_t keep_common(const Knowledge& other);
  std::size_t forget_lanes(std::uint32_t warp);

  void forget_lanes() {
    lanes_.reset();
    lucky_.reset();
  }
  // Treats what is known of one lane as known of its whole warp. This can hide a race, but never reports a false one.
  void blur_lanes();

 private:
  struct Lanes {
    std::uint32_t warps = 0;         // bit w: there is a row for warp w
    std::vector<LaneClocks> clocks;  // one row for each of these warps, in their order
  };
  static std::size_t row_of(const Lanes& lanes, std::uint32_t warp) {
    return static_cast<std::size_t>(std::popcount(lanes.warps & ((1u << warp) - 1)));
  }
  using Rows = std::shared_ptr<Lanes>;  // null if there are no rows; never changed while it is shared
  static const LaneClocks* find_row(const Rows& rows, std::uint32_t warp) {
    if (rows == nullptr || (rows->warps >> warp & 1u) == 0) return nullptr;
    return &rows->clocks[row_of(*rows, warp)];
  }
  static Clock in_row(const Rows& rows, std::uint32_t warp, int lane) {
    const LaneClocks* const row = find_row(rows, warp);
    return row == nullptr ? 0 : (*row)[static_cast<std::size_t>(lane)];
  }
  // Copies the rows if another Knowledge shares them, so that they may be changed.
  static std::size_t own_rows(Rows& rows);
  static std::size_t join_rows(Rows& rows, const Rows& others);
  static std::size_t join_row(Rows& rows, std::uint32_t warp, const LaneClocks& clocks);
  static std::size_t forget_row(Rows& rows, std::uint32_t warp);
  static bool cover(const Rows& rows, const std::vector<Clock>& clocks, const Rows& others);

  Rows lanes_;  // proven
  Rows lucky_;  // not proven
};

}  // namespace roofwalk::vgpu
