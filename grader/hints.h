// Which hint comes next: those that fit what the last attempt suffers from before the general ones, gentle before
// concrete, each once.
#pragma once

#include <string>
#include <vector>

#include "common/base/json.h"
#include "common/exercise/chapter.h"
#include "common/store/store.h"

namespace roofwalk {

struct OfferedHint {
  std::string id;  // stays while the words stay where they are
  std::string text;
  std::string cause;  // the diagnosis or verdict that it is for; empty: any attempt
};

// What an attempt suffers from: its diagnosis; without one its verdict, where that is not about speed ("fault"); "none"
// where nothing stands out.
std::string trouble_of(const Json& attempt);

// Everything that helps with `trouble`, in order: the chapter's hints for it, or the general words for it where the
// chapter has none; then the chapter's hints for any attempt.
std::vector<OfferedHint> hints_for(const Chapter& chapter, const std::string& trouble);

// The hints of one chapter on one device as somebody asks for them.
class HintGiver {
 public:
  HintGiver(Store& store, const Chapter& chapter, const std::string& device);

  const std::vector<OfferedHint>& offered() const { return offered_; }
  bool was_given(const OfferedHint& hint) const;
  std::size_t given() const;  // how many of those offered were given before

  // The next one that was not given, which from now on was; nullptr when all were.
  Result<const OfferedHint*> next();
  Status give_all();
  Status forget();  // the next one is the gentlest again

 private:
  Status keep();

  Store& store_;
  std::string key_;
  std::vector<OfferedHint> offered_;
  std::vector<std::string> given_;  // ids, of other troubles too
};

}  // namespace roofwalk
