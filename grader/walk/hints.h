// Chooses the next hint. Hints are grouped by kind and numbered within it: those for what the last attempt suffers
// from, and the chapter's own. Gentle ones come before concrete ones, and each is given once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/exercise/chapter.h"
#include "common/store/store.h"

namespace roofwalk {

struct OfferedHint {
  std::string id;  // "chapter 2", "race 1": stable while the hint keeps its place
  std::string text;
  std::string cause;               // its kind: the diagnosis or verdict that it is for; empty: the chapter's own
  std::size_t number = 0, of = 0;  // within its kind: 2 of 3
  bool leads_on = false;           // the chapter's last one, moved to the front after a pass: it leads to the ace
};

// What the hints are chosen by.
struct Situation {
  std::string trouble = "none";  // from trouble_of()
  bool is_wrong = false;         // the kernel is not correct, so its speed does not matter yet
  bool has_passed = false;
  bool has_ace = false;
};

// What an attempt suffers from: its diagnosis; without one, its verdict if that is not about speed ("fault", or the
// kind of the fault: "race"); "none" if nothing stands out.
std::string trouble_of(const Json& attempt);

// The result is wrong or missing, so hints about speed would not help.
bool is_wrong(const Json& attempt);

// All hints that apply, in order: the chapter's hints for the trouble, or the general ones if the chapter has none;
// then, unless the kernel is wrong, the chapter's hints for any attempt. After a pass only the last of those is left,
// and moves to the front; after an ace none is.
std::vector<OfferedHint> hints_for(const Chapter& chapter, const Situation& situation);

// Gives the hints of one chapter on one device, one after the other.
class HintGiver {
 public:
  HintGiver(Store& store, const Chapter& chapter, const std::string& device);

  const std::vector<OfferedHint>& offered() const { return offered_; }
  bool was_given(const OfferedHint& hint) const;
  const Situation& situation() const { return situation_; }
  bool all_given() const;

  // Returns the next hint that was not given, and marks it as given; nullptr if all were.
  Result<const OfferedHint*> next();
  Status give_all();
  Status forget();  // starts again with the gentlest

 private:
  void note(const OfferedHint& hint) { given_[hint.id] = last_attempt_; }
  Status keep();

  Store& store_;
  std::string key_;
  Situation situation_;
  std::vector<OfferedHint> offered_;
  std::int64_t last_attempt_ = 0, last_correct_ = 0;  // ids in the store; 0: none
  std::map<std::string, std::int64_t> given_;         // by hint id, of all kinds: the last attempt when it was given
};

}  // namespace roofwalk
