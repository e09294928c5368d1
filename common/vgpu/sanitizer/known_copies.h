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
 public:
  // Whether this batch (copy_groups.h) of a lane of a warp is over.
  bool include(std::uint32_t warp, int lane, std::uint32_t batch) const {
    return std::ranges::any_of(std::ranges::equal_range(over_, warp, {}, &Part::warp), [&](const Part& part) {
      return (part.lanes >> lane & 1u) != 0 && batch <= part.batches;
    });
  }
  // The first `batches` batches of these lanes are over.
  void add(std::uint32_t warp, std::uint32_t lanes, std::uint32_t batches) {
    // Lanes of which as much is known stay where they are. The others leave their parts for one of their own.
    const auto parts = std::ranges::equal_range(over_, warp, {}, &Part::warp);
    for (Part& part : parts) {
      const std::uint32_t common = part.lanes & lanes;
      if (common == lanes && common == part.lanes) {  // nearly always
        part.batches = std::max(part.batches, batches);
        return;
      }
      (part.batches >= batches ? lanes : part.lanes) &= ~common;
    }
    if (lanes == 0) return;
    const auto own =
        std::ranges::find_if(parts, [&](const Part& part) { return part.lanes == 0 || part.batches == batches; });
    if (own == parts.end()) {
      over_.insert(own, {warp, lanes, batches});
      return;
    }
    *own = {warp, own->lanes | lanes, batches};
    over_.erase(std::remove_if(parts.begin(), parts.end(), [](const Part& part) { return part.lanes == 0; }),
                parts.end());
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
    return std::ranges::all_of(other.over_, [&](const Part& part) {
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
      for (const Part& part : std::ranges::equal_range(other.over_, own.warp, {}, &Part::warp)) {
        const std::uint32_t lanes = own.lanes & part.lanes;
        if (lanes != 0) out.add(own.warp, lanes, std::min(own.batches, part.batches));
      }
    }
    return out;
  }

 private:
  struct Part {  // lanes of a warp that have closed as many batches
    std::uint32_t warp = 0, lanes = 0, batches = 0;
    bool operator==(const Part&) const = default;
  };

  std::vector<Part> over_;  // by warp; no lane is in two parts
};

}  // namespace roofwalk::vgpu
