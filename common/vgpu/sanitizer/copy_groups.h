// A warp's asynchronous copies (cp.async): which batches its lanes have closed, and which they have waited for. Both
// are matters of each thread, so lanes that once closed or waited without the others are counted apart from then on.
//
// A batch ends where a group does, and where copies arrive at an mbarrier: the phase waits for the copies so far, but
// cp.async.wait_group counts only groups, and an arrival forms none (PTX ISA, cp.async.mbarrier.arrive). A batch may be
// waited for in several ways: by the thread itself, which is kept here, and at one or more mbarriers, which is kept by
// those who know of it (known_copies.h). Each way is enough for those who take it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/vgpu/sanitizer/knowledge.h"

namespace roofwalk::vgpu {

class CopyGroups {
 public:
  // Lanes that have always closed batches and waited together.
  struct Part {
    std::uint32_t lanes = kAllLanes;
    std::uint32_t closed = 0;   // number of closed batches
    std::uint32_t arrived = 0;  // so many of these arrive at some mbarrier
    // By batch: the time of the warp at which its threads waited for the batch. Never decreases from batch to batch.
    std::vector<Clock> waited;
    std::vector<std::uint32_t> groups;  // by group: `closed` at its end

    // The first `batches` batches are over for whoever knows time `at` of the warp.
    void end(std::uint32_t batches, Clock at) {
      while (waited.size() < batches) waited.push_back(at);
    }
  };

  const Part& of(int lane) const {
    if ((first_.lanes >> lane & 1u) != 0) return first_;
    std::size_t p = 0;
    while ((others_[p].lanes >> lane & 1u) == 0) ++p;
    return others_[p];
  }

  // Calls visit(part) for each part of these lanes, after it has set lanes apart where necessary.
  template <class Visit>
  void for_each(std::uint32_t lanes, Visit&& visit) {
    set_apart(first_, lanes);
    if ((first_.lanes & lanes) != 0) visit(first_);
    for (std::size_t p = 0; p < others_.size(); ++p) {
      set_apart(others_[p], lanes);
      if ((others_[p].lanes & lanes) != 0) visit(others_[p]);
    }
  }

  std::size_t parts() const { return 1 + others_.size(); }

 private:
  // Makes a new part of those lanes of `part` that are not in `lanes`, if some are and some are not.
  void set_apart(Part& part, std::uint32_t lanes) {
    const std::uint32_t rest = part.lanes & ~lanes;
    if (rest == 0 || rest == part.lanes) return;
    Part other = part;
    other.lanes = rest;
    part.lanes &= lanes;
    others_.push_back(std::move(other));
  }

  Part first_;
  std::vector<Part> others_;
};

}  // namespace roofwalk::vgpu
