// Chooses the next hint. Hints are grouped by kind and numbered within it: those for the last attempt's trouble, and
// the chapter's own. Gentle hints come before concrete ones, and each hint is given once (one about a wrong kernel once
// more if a correct attempt lies in between).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/exercise/chapter.h"
#include "common/store/store.h"

namespace roofwalk {

struct OfferedHint {
  std::string id;  // "chapter 2", "race 1": stable while the hint keeps its position
  std::string text;
  std::string cause;               // the diagnosis or verdict that it is for, which is its kind; empty: the chapter's
                                   // own
  std::size_t number = 0, of = 0;  // position within its kind: 2 of 3
  bool leads_on = false;           // whether it is a hint of the chapter after a pass, which leads to the ace
};

// The facts by which hints are chosen.
struct Situation {
  std::string trouble = "none";  // from trouble_of()
  bool is_wrong = false;         // the kernel is not correct, so its speed does not matter yet
  bool has_passed = false;
  bool has_ace = false;
};

// What is wrong with an attempt, in one word: the cause of its diagnosis; if it has none, its verdict, if that is not
// about speed (for a fault, its kind, such as "race"); otherwise "none".
std::string trouble_of(const Json& attempt);

// Whether the result is wrong or missing, so that hints about speed would not help.
bool is_wrong(const Json& attempt);

// All hints that apply, in order: the chapter's hints for the trouble, or the general ones if the chapter has none;
// then, unless the kernel is wrong, the chapter's hints that are for any attempt. After a pass, of these only those for
// the ace remain, or the very last if none says so; after an ace, none of them.
std::vector<OfferedHint> hints_for(const Chapter& chapter, const Situation& situation);

// Gives the hints of one chapter on one device, one after the other.
class HintGiver {
 public:
  HintGiver(Store& store, const Chapter& chapter, const std::string& device);

  const std::vector<OfferedHint>& offered() const { return offered_; }
  bool was_given(const OfferedHint& hint) const;
  const Situation& situation() const { return situation_; }
  bool all_given() const;

  // Returns the first hint that was not given yet, and marks it as given; nullptr if all were given.
  Result<const OfferedHint*> next();
  Status give_all();
  Status forget();  // starts again with the gentlest hint

 private:
  void note(const OfferedHint& hint) { given_[hint.id] = last_attempt_; }
  Status keep();

  Store& store_;
  std::string key_;
  Situation situation_;
  std::vector<OfferedHint> offered_;
  std::int64_t last_attempt_ = 0, last_correct_ = 0;  // ids in the store; 0: none
  // By hint id, for hints of all kinds: the id of the attempt that was the last one when the hint was given.
  std::map<std::string, std::int64_t> given_;
};

}  // namespace roofwalk
