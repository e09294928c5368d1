// One submission on a platform that says whose it is: one person's or a group's.
#pragma once

#include <string>
#include <vector>

#include "grader/class/hand_ins/hand_in.h"

namespace roofwalk {

// Its limits are its own: a member's other submissions, which may be better, take no room in it, and lose none by it.
// It is read once, however many members it has.
class GroupHandIn {
 public:
  // `owners`: at least one. One who is named twice counts once.
  GroupHandIn(const ChapterNames& chapters, const std::vector<Owner>& owners);

  void add(Pile pile, const std::string& label) { hand_in_.add(std::move(pile), label); }

  // Like HandIn::settle(); what the submission gives is every member's.
  Status settle(const KeepSource& keep, Handed& handed);

 private:
  std::vector<Owner> owners_;
  HandIn hand_in_;
};

}  // namespace roofwalk
