// The part of a vector clock that asynchronous copies have: which of them are known to be over because somebody has
// waited at the mbarrier at which they arrive. Whoever only arrives there, or meets the copying threads elsewhere,
// knows nothing of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace roofwalk::vgpu {

class KnownCopies {
  struct Part {  // lanes of a warp that have closed as many batches
    std::uint32_t warp = 0, lanes = 0, batches = 0;
    bool operator==(const Part&) const = default;
  };
  struct ByWarp {
    bool operator()(const Part& part, std::uint32_t warp) const { return part.warp < warp; }
    bool operator()(std::uint32_t warp, const Part& part) const { return warp < part.warp; }
  };

  static auto parts_of(std::uint32_t warp, auto& parts) {
    return std::equal_range(parts.begin(), parts.end(), warp, ByWarp());
  }

 public:
  // Whether this batch (copy_groups.h) of a lane of a warp is over.
  bool include(std::uint32_t warp, int lane, std::uint32_t batch) const {
    const auto [first, last] = parts_of(warp, over_);
    return std::any_of(first, last,
                       [&](const Part& part) { return (part.lanes >> lane & 1u) != 0 && batch <= part.batches; });
  }
  // The first `batches` batches of these lanes are over.
  void add(std::uint32_t warp, std::uint32_t lanes, std::uint32_t batches) {
    // Lanes of which as much is known stay where they are. The others leave their parts for one of their own.
    const auto [first, last] = parts_of(warp, over_);
    for (auto at = first; at != last; ++at) {
      Part& part = *at;
      const std::uint32_t common = part.lanes & lanes;
      if (common == lanes && common == part.lanes) {  // nearly always
        part.batches = std::max(part.batches, batches);
        return;
      }
      (part.batches >= batches ? lanes : part.lanes) &= ~common;
    }
    if (lanes == 0) return;
    const auto own =
        std::find_if(first, last, [&](const Part& part) { return part.lanes == 0 || part.batches == batches; });
    if (own == last) {
      over_.insert(own, {warp, lanes, batches});
      return;
    }
    *own = {warp, own->lanes | lanes, batches};
    over_.erase(std::remove_if(first, last, [](const Part& part) { return part.lanes == 0; }), last);
  }
  // Returns how many parts it has compared.
  std::size_t join(const KnownCopies& other) {
    if (over_.empty()) {
      over_ = other.over_;
    } else if (over_ != other.over_) {
      for (const Part& part : other.over_) add(part.warp, part.lanes, part.batches);
    }
    return other.over_.empty() ? 0 : over_.size();
  }
  void clear() { over_.clear(); }
  // For the work budget: comparing kPartsPerRow parts takes as long as comparing a row of lane times.
  static constexpr std::size_t kPartsPerRow = 4;
  std::size_t parts() const { return over_.size(); }
  // Whether all that `other` knows to be over is so here, too.
  bool cover(const KnownCopies& other) const {
    if (over_ == other.over_) return true;
    auto first = over_.begin();
    return std::all_of(other.over_.begin(), other.over_.end(), [&](const Part& part) {
      std::uint32_t left = part.lanes;
      while (first != over_.end() && first->warp < part.warp) ++first;
      for (auto own = first; left != 0 && own != over_.end() && own->warp == part.warp; ++own) {
        if (own->batches >= part.batches) left &= ~own->lanes;
      }
      return left == 0;
    });
  }
  // Those that both know to be over.
  KnownCopies in_common(const KnownCopies& other) const {
    KnownCopies out;
    for (const Part& own : over_) {
      const auto [first, last] = parts_of(own.warp, other.over_);
      for (auto part = first; part != last; ++part) {
        const std::uint32_t lanes = own.lanes & part->lanes;
        if (lanes != 0) out.add(own.warp, lanes, std::min(own.batches, part->batches));
      }
    }
    return out;
  }

 private:
  std::vector<Part> over_;  // by warp; no lane is in two parts
};

}  // namespace roofwalk::vgpu
