// What some lanes of a warp know of other warps without the other lanes: a lane that has waited at an mbarrier, or that
// has acquired a lock or a flag, is ordered after others; the rest of its warp is not until it meets that lane.
#pragma once

#include <cstdint>
#include <vector>

#include "common/vgpu/sanitizer/knowledge.h"

namespace roofwalk::vgpu {

class KnowledgeOfLanes {
 public:
  bool empty() const { return groups_.empty(); }
  void clear() { groups_.clear(); }

  // These lanes learn something. `common`: what all lanes of the warp know; it grows when each of the `live` lanes has
  // learned the same. Returns the work, as rows of lane times (work.h).
  std::size_t learn(std::uint32_t lanes, std::uint32_t live, const Knowledge& told, Knowledge& common);

  // Lanes of the warp meet: from now on, each of them knows what any of them knows. If all lanes meet, `common` has it.
  // If they only exchange values, what they learn from each other is not proven. Returns the work.
  std::size_t meet(std::uint32_t lanes, bool exchange, Knowledge& common);

  // Passes on what any of these lanes know. Returns the work.
  std::size_t tell(std::uint32_t lanes, Knowledge& to, bool is_proven = true) const {
    return groups_.empty() ? 0 : tell_groups(lanes, to, is_proven);
  }

  // What each of these lanes knows apart from what its whole warp knows; null: nothing, or not all the same.
  const Knowledge* of(std::uint32_t lanes) const {
    for (const Group& group : groups_) {
      if ((lanes & ~group.lanes) == 0) return &group.known;
    }
    return nullptr;
  }
  // Whether a lane knows some of it only because lanes of its warp have exchanged values.
  bool has_exchanged(int lane) const {
    for (const Group& group : groups_) {
      if ((group.lanes >> lane & 1u) != 0) return group.has_exchanged;
    }
    return false;
  }

 private:
  struct Group {  // lanes that know the same; no lane is in two groups
    std::uint32_t lanes = 0;
    bool has_exchanged = false;
    Knowledge known;
  };
  // Makes `lanes` a union of groups, and returns those of them that are in no group.
  std::uint32_t set_apart(std::uint32_t lanes);
  std::size_t tell_groups(std::uint32_t lanes, Knowledge& to, bool is_proven) const;
  // Moves to `common` what each of the live lanes knows.
  std::size_t settle(std::uint32_t live, Knowledge& common);

  std::vector<Group> groups_;
};

}  // namespace roofwalk::vgpu
