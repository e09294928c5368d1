// The part of a vector clock that asynchronous copies have: which of them are known to be over because somebody has
// waited at the mbarrier at which they arrive. Whoever only arrives there, or meets the copying threads elsewhere,
// knows nothing of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace roofwalk::vgpu {

class KnownCopies {
 public:
  // Whether this batch (copy_groups.h) of a lane of a warp is over.
  bool include(std::uint32_t warp, int lane, std::uint32_t batch) const {
    return std::ranges::any_of(over_, [&](const Part& part) {
      return part.warp == warp && (part.lanes >> lane & 1u) != 0 && batch <= part.batches;
    });
  }
  // The first `batches` batches of these lanes are over.
  void add(std::uint32_t warp, std::uint32_t lanes, std::uint32_t batches) {
    const Part added{warp, lanes, batches};
    const auto at = std::ranges::lower_bound(over_, added, comes_before);
    if (at == over_.end() || comes_before(added, *at)) {
      over_.insert(at, added);
    } else {
      at->batches = std::max(at->batches, batches);
    }
  }
  // Returns how many parts it has compared.
  std::size_t join(const KnownCopies& other) {
    if (other.over_.empty()) return 0;
    if (over_.empty()) {
      over_ = other.over_;
    } else {
      for (const Part& part : other.over_) add(part.warp, part.lanes, part.batches);
    }
    return over_.size();
  }
  void clear() { over_.clear(); }
  // Whether all that `other` knows to be over is so here, too.
  bool cover(const KnownCopies& other) const {
    return std::ranges::all_of(other.over_, [&](const Part& part) {
      return std::ranges::any_of(over_, [&](const Part& own) {
        return own.warp == part.warp && (part.lanes & ~own.lanes) == 0 && part.batches <= own.batches;
      });
    });
  }
  // Those that both know to be over.
  KnownCopies in_common(const KnownCopies& other) const {
    KnownCopies out;
    for (const Part& own : over_) {
      for (const Part& part : other.over_) {
        const std::uint32_t lanes = own.lanes & part.lanes;
        if (own.warp == part.warp && lanes != 0) out.add(own.warp, lanes, std::min(own.batches, part.batches));
      }
    }
    return out;
  }

 private:
  struct Part {  // lanes of a warp that have closed their batches together
    std::uint32_t warp = 0, lanes = 0, batches = 0;
  };
  static bool comes_before(const Part& a, const Part& b) {
    return std::tie(a.warp, a.lanes) < std::tie(b.warp, b.lanes);
  }

  std::vector<Part> over_;  // sorted
};

}  // namespace roofwalk::vgpu
