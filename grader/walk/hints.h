// Which hint comes next. Hints are of a kind, and counted within it: those for what the last attempt suffers from, and
// the chapter's own. Gentle before concrete, each once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/exercise/chapter.h"
#include "common/store/store.h"

namespace roofwalk {

struct OfferedHint {
  std::string id;  // stays while the words stay where they are
  std::string text;
  std::string cause;               // its kind: the diagnosis or verdict that it is for; empty: the chapter
  std::size_t number = 0, of = 0;  // within its kind: 2 of 3
  bool leads_on = false;           // the chapter's last one, brought forward after a pass: it is for the ace
};

// What hints are to be about.
struct Situation {
  std::string trouble = "none";  // as trouble_of() says
  bool is_wrong = false;         // the kernel is not correct: its speed does not matter yet
  bool has_passed = false;
  bool has_ace = false;
};

// What an attempt suffers from: its diagnosis; without one its verdict, where that is not about speed ("fault", or the
// kind of the fault: "race"); "none" where nothing stands out.
std::string trouble_of(const Json& attempt);

// The result is not right, or nothing came of it, so that no word on its speed would help.
bool is_wrong(const Json& attempt);

// Everything that helps, in order: the chapter's hints for the trouble, or the general words for it where the chapter
// has none; then, unless the kernel is wrong, the chapter's hints for any attempt. After a pass only the last of those
// is left, and comes before all others; after an ace none.
std::vector<OfferedHint> hints_for(const Chapter& chapter, const Situation& situation);

// The hints of one chapter on one device as somebody asks for them.
class HintGiver {
 public:
  HintGiver(Store& store, const Chapter& chapter, const std::string& device);

  const std::vector<OfferedHint>& offered() const { return offered_; }
  bool was_given(const OfferedHint& hint) const;
  const Situation& situation() const { return situation_; }
  bool all_given() const;

  // The next one that was not given, which from now on was; nullptr when all were.
  Result<const OfferedHint*> next();
  Status give_all();
  Status forget();  // the next one is the gentlest again

 private:
  void note(const OfferedHint& hint) { given_[hint.id] = last_attempt_; }
  Status keep();

  Store& store_;
  std::string key_;
  Situation situation_;
  std::vector<OfferedHint> offered_;
  std::int64_t last_attempt_ = 0, last_correct_ = 0;  // ids in the store; 0: there is none
  std::map<std::string, std::int64_t> given_;         // by id, of other kinds too: the last attempt at that time
};

}  // namespace roofwalk
