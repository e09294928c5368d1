#include "grader/hints.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/roofline/cause_hints.h"
#include "grader/verdict.h"

namespace roofwalk {
namespace {

// For what a kernel must be before its speed matters.
constexpr CauseHints kVerdictHints[] = {
    {"compile_error",
     {"Read the first error on the card; those that follow are often its children. Which line does it name?",
      "The file is device code: no headers of the host, no streams, no cudaMalloc. SOLVE only launches.",
      "Undo your last change until it compiles again, then make it in smaller steps. `./roofwalk reset NAME` keeps "
      "your file and gives you the starter."}},
    {"refused",
     {"The card names a line and what it asks for. Does SOLVE need that to plan the launches?",
      "SOLVE decides what runs, from sizes alone: it cannot look at the data and cannot wait for results.",
      "Move whatever reads or computes into a kernel, and leave launches, scratch memory and copies in SOLVE."}},
    {"fault",
     {"The card names the line, the buffer and the index. Which extent of the problem should have stopped that thread?",
      "The sizes are odd on purpose: the last block has threads with nothing to do, and a vector load may reach over "
      "the end.",
      "Compute the index by hand for the last thread of the grid at the size on the card, and add the guard that it "
      "lacks, such as if (i < n). After a guard, no thread may miss a __syncthreads()."}},
    {"incorrect",
     {"The card names the element and the size at which it went wrong. Which thread should have written it?",
      "Wrong at small odd sizes only: a guard or a tail. Wrong everywhere: an index or a missing __syncthreads(). "
      "Never written: the grid is too small.",
      "Follow that one element by hand: who computes it, which inputs it reads, and who might still be writing them."}},
    {"not_graded",
     {"The card says what does not add up. Which work did the kernel leave out?",
      "A sound kernel reads every input and does all of the arithmetic. Less than that is another problem.",
      "Go back to the last attempt that was graded, and change one thing at a time."}},
};

bool is_verdict(const std::string& kind) {
  return std::any_of(std::begin(kVerdictHints), std::end(kVerdictHints),
                     [&](const CauseHints& row) { return row.cause == kind; });
}

void add_general(std::span<const CauseHints> table, const std::string& trouble, std::vector<OfferedHint>& offered) {
  for (const CauseHints& row : table) {
    if (row.cause != trouble) continue;
    for (std::size_t i = 0; i < row.degrees.size(); ++i) {
      offered.push_back({fmt::format("{} {}", trouble, i + 1), std::string(row.degrees[i]), trouble});
    }
  }
}

void number(std::vector<OfferedHint>& kind) {
  for (std::size_t i = 0; i < kind.size(); ++i) {
    kind[i].number = i + 1;
    kind[i].of = kind.size();
  }
}

}  // namespace

std::string trouble_of(const Json& attempt) {
  const auto diagnosis = attempt.find("diagnosis");
  const bool is_known = diagnosis != attempt.end() && diagnosis->is_object();
  if (const std::string cause = is_known ? diagnosis->value("cause", "none") : "none"; cause != "none") return cause;
  const std::string verdict = attempt.value("verdict", "");
  return is_verdict(verdict) ? verdict : "none";
}

bool is_wrong(const Json& attempt) { return is_verdict(attempt.value("verdict", "")); }

std::vector<OfferedHint> hints_for(const Chapter& chapter, const Situation& situation) {
  std::vector<OfferedHint> fitting, own;
  for (std::size_t i = 0; i < chapter.hints.size(); ++i) {
    const auto& causes = chapter.hints[i].causes;
    const std::string id = fmt::format("chapter {}", i + 1);
    if (std::find(causes.begin(), causes.end(), situation.trouble) != causes.end()) {
      fitting.push_back({id, chapter.hints[i].text, situation.trouble});
    } else if (causes.empty() && !situation.is_wrong) {
      own.push_back({id, chapter.hints[i].text, ""});
    }
  }
  if (fitting.empty()) {
    add_general(cause_hints(), situation.trouble, fitting);
    add_general(kVerdictHints, situation.trouble, fitting);
  }
  number(fitting);
  number(own);
  std::vector<OfferedHint> offered;
  if (situation.has_passed && !own.empty()) {
    offered.push_back(std::move(own.back()));
    offered.back().leads_on = true;
    own.pop_back();
  }
  offered.insert(offered.end(), fitting.begin(), fitting.end());
  offered.insert(offered.end(), own.begin(), own.end());
  return offered;
}

HintGiver::HintGiver(Store& store, const Chapter& chapter, const std::string& device)
    : store_(store), key_("hints " + chapter.name) {
  if (const auto history = store.history(chapter.name, device)) {
    for (const StoredAttempt& stored : *history) {
      if (!stored.is_in_walk) continue;
      situation_.trouble = trouble_of(stored.attempt);
      situation_.is_wrong = is_wrong(stored.attempt);
      situation_.has_passed |= stored.attempt.value("verdict", "") == verdict_name(Verdict::pass);
      last_attempt_ = stored.id;
      if (!situation_.is_wrong) last_correct_ = stored.id;
    }
  }
  offered_ = hints_for(chapter, situation_);
  const Json kept = Json::parse(store.note(key_).value_or("{}"), nullptr, /*allow_exceptions=*/false);
  if (!kept.is_object()) return;
  for (const auto& [id, attempt] : kept.items()) {
    if (attempt.is_number_integer()) given_[id] = attempt.get<std::int64_t>();
  }
}

// A kernel that was correct since has got over what a wrong one was told: the next wrong one hears it anew.
bool HintGiver::was_given(const OfferedHint& hint) const {
  const auto given = given_.find(hint.id);
  return given != given_.end() && (!is_verdict(hint.cause) || given->second >= last_correct_);
}

bool HintGiver::all_given() const {
  return std::all_of(offered_.begin(), offered_.end(), [&](const auto& hint) { return was_given(hint); });
}

Status HintGiver::keep() { return store_.set_note(key_, Json(given_).dump()); }

Result<const OfferedHint*> HintGiver::next() {
  const auto found =
      std::find_if(offered_.begin(), offered_.end(), [&](const OfferedHint& hint) { return !was_given(hint); });
  if (found == offered_.end()) return nullptr;
  note(*found);
  ROOFWALK_TRY_STATUS(keep());
  return &*found;
}

Status HintGiver::give_all() {
  for (const OfferedHint& hint : offered_) note(hint);
  return keep();
}

Status HintGiver::forget() {
  given_.clear();
  return keep();
}

}  // namespace roofwalk
