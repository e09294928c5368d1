#include "grader/class/hand_ins/group_hand_in.h"

#include <algorithm>
#include <iterator>

namespace roofwalk {

GroupHandIn::GroupHandIn(const ChapterNames& chapters, const std::vector<Owner>& owners)
    : hand_in_(chapters, owners.front()) {
  for (const Owner& owner : owners) {
    const auto is_same = [&](const Owner& other) { return other.student == owner.student; };
    if (std::none_of(owners_.begin(), owners_.end(), is_same)) owners_.push_back(owner);
  }
}

Status GroupHandIn::settle(const KeepSource& keep, Handed& handed) {
  Handed own;
  ROOFWALK_TRY_STATUS(hand_in_.settle(keep, own));
  for (const Owner& owner : owners_) {
    for (Submission submission : own.submissions) {
      submission.owner = owner;
      handed.submissions.push_back(std::move(submission));
    }
    for (LeftOut out : own.left_out) {
      out.student = owner.student;
      handed.left_out.push_back(std::move(out));
    }
  }
  return kOk;
}

}  // namespace roofwalk
