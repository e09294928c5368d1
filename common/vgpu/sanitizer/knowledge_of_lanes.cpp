#include "common/vgpu/sanitizer/knowledge_of_lanes.h"

#include <algorithm>
#include <utility>

namespace roofwalk::vgpu {

std::uint32_t KnowledgeOfLanes::set_apart(std::uint32_t lanes) {
  std::uint32_t rest = lanes;
  const std::size_t count = groups_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t own = groups_[i].lanes & lanes;
    rest &= ~own;
    if (own == 0 || own == groups_[i].lanes) continue;
    Group part = groups_[i];
    part.lanes = own;
    groups_[i].lanes &= ~own;
    groups_.push_back(std::move(part));
  }
  return rest;
}

std::size_t KnowledgeOfLanes::learn(std::uint32_t lanes, std::uint32_t live, const Knowledge& told, Knowledge& common) {
  std::size_t work = 1 + told.copies.parts() / KnownCopies::kPartsPerRow;
  if (common.covers(told)) return work;
  const auto knows = [&](const Group& group) { return (group.lanes & lanes) == 0 || group.known.covers(told); };
  std::uint32_t grouped = 0;
  bool is_news = false;
  for (const Group& group : groups_) {
    grouped |= group.lanes;
    is_news = is_news || !knows(group);
  }
  work *= 1 + groups_.size();
  if (!is_news && (lanes & ~grouped) == 0) return work;
  const std::uint32_t rest = set_apart(lanes);
  for (Group& group : groups_) {
    if (!knows(group)) work += group.known.join(told);
  }
  if (rest != 0) groups_.push_back({rest, false, told});
  return work + settle(live, common);
}

std::size_t KnowledgeOfLanes::settle(std::uint32_t live, Knowledge& common) {
  std::uint32_t lanes = 0;
  for (const Group& group : groups_) lanes |= group.lanes;
  if ((live & ~lanes) != 0) return 0;
  std::size_t work = 2 * groups_.size();
  const auto lives = [&](const Group& group) { return (group.lanes & live) != 0; };
  const auto first = std::find_if(groups_.begin(), groups_.end(), lives);
  if (first == groups_.end()) return work;
  Knowledge of_all = first->known;
  for (auto group = first + 1; group != groups_.end(); ++group) {
    if (!lives(*group)) continue;
    work += of_all.keep_common(group->known);
    if (!common.covers(of_all)) continue;
    std::iter_swap(groups_.begin(), group);  // lanes that know so little are the first to ask the next time, too
    break;
  }
  if (!common.covers(of_all)) work += common.join(of_all);
  std::erase_if(groups_, [&](const Group& group) { return common.covers(group.known); });
  return work;
}

std::size_t KnowledgeOfLanes::meet(std::uint32_t lanes, bool exchange, Knowledge& common) {
  if (groups_.empty()) return 0;
  if (lanes == kAllLanes && !exchange) {
    const std::size_t work = tell(lanes, common);
    groups_.clear();
    return work;
  }
  Knowledge of_any(common.warps.size());
  std::size_t work = tell(lanes, of_any);
  const auto have_met = [&](const Group& group) { return (group.lanes & lanes) != 0; };
  if (work == 0) return 0;
  if (!exchange) {
    set_apart(lanes);
    std::erase_if(groups_, have_met);
    groups_.push_back({lanes, false, std::move(of_any)});
    return work;
  }
  const std::uint32_t rest = set_apart(lanes);
  for (Group& group : groups_) {
    if (!have_met(group) || group.known.covers(of_any, false)) continue;
    work += 1 + group.known.join(of_any, false);
    group.has_exchanged = true;
  }
  if (rest == 0) return work;
  groups_.push_back({rest, true, Knowledge(common.warps.size())});
  return work + groups_.back().known.join(of_any, false);
}

std::size_t KnowledgeOfLanes::tell_groups(std::uint32_t lanes, Knowledge& to, bool is_proven) const {
  std::size_t work = 0;
  for (const Group& group : groups_) {
    if ((group.lanes & lanes) != 0) work += 1 + to.join(group.known, is_proven);
  }
  return work;
}

}  // namespace roofwalk::vgpu
