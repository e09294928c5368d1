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

void add_general(std::span<const CauseHints> table, const std::string& trouble, std::vector<OfferedHint>& offered) {
  for (const CauseHints& row : table) {
    if (row.cause != trouble) continue;
    for (std::size_t i = 0; i < row.degrees.size(); ++i) {
      offered.push_back({fmt::format("{} {}", trouble, i + 1), std::string(row.degrees[i]), trouble});
    }
  }
}

}  // namespace

std::string trouble_of(const Json& attempt) {
  const auto diagnosis = attempt.find("diagnosis");
  const bool is_known = diagnosis != attempt.end() && diagnosis->is_object();
  if (const std::string cause = is_known ? diagnosis->value("cause", "none") : "none"; cause != "none") return cause;
  const std::string verdict = attempt.value("verdict", "");
  const bool is_wrong = std::any_of(std::begin(kVerdictHints), std::end(kVerdictHints),
                                    [&](const CauseHints& row) { return row.cause == verdict; });
  return is_wrong ? verdict : "none";
}

std::vector<OfferedHint> hints_for(const Chapter& chapter, const std::string& trouble) {
  std::vector<OfferedHint> offered;
  const auto add_own = [&](bool fitting) {
    for (std::size_t i = 0; i < chapter.hints.size(); ++i) {
      const auto& causes = chapter.hints[i].causes;
      const bool fits = std::find(causes.begin(), causes.end(), trouble) != causes.end();
      if (fitting ? !fits : !causes.empty()) continue;
      offered.push_back({fmt::format("chapter {}", i + 1), chapter.hints[i].text, fitting ? trouble : std::string()});
    }
  };
  add_own(true);
  if (offered.empty()) {
    add_general(cause_hints(), trouble, offered);
    add_general(kVerdictHints, trouble, offered);
  }
  add_own(false);
  return offered;
}

HintGiver::HintGiver(Store& store, const Chapter& chapter, const std::string& device)
    : store_(store), key_("hints " + chapter.name) {
  std::string trouble = "none";
  if (const auto history = store.history(chapter.name, device)) {
    const auto last = std::find_if(history->rbegin(), history->rend(), [](const auto& a) { return a.is_in_walk; });
    if (last != history->rend()) trouble = trouble_of(last->attempt);
  }
  offered_ = hints_for(chapter, trouble);
  const Json kept = Json::parse(store.note(key_).value_or("[]"), nullptr, /*allow_exceptions=*/false);
  for (const Json& id : kept) {
    if (id.is_string()) given_.push_back(id.get<std::string>());
  }
}

bool HintGiver::was_given(const OfferedHint& hint) const {
  return std::find(given_.begin(), given_.end(), hint.id) != given_.end();
}

std::size_t HintGiver::given() const {
  return static_cast<std::size_t>(
      std::count_if(offered_.begin(), offered_.end(), [&](const auto& hint) { return was_given(hint); }));
}

Status HintGiver::keep() { return store_.set_note(key_, Json(given_).dump()); }

Result<const OfferedHint*> HintGiver::next() {
  const auto found =
      std::find_if(offered_.begin(), offered_.end(), [&](const OfferedHint& hint) { return !was_given(hint); });
  if (found == offered_.end()) return nullptr;
  given_.push_back(found->id);
  ROOFWALK_TRY_STATUS(keep());
  return &*found;
}

Status HintGiver::give_all() {
  for (const OfferedHint& hint : offered_) {
    if (!was_given(hint)) given_.push_back(hint.id);
  }
  return keep();
}

Status HintGiver::forget() {
  given_.clear();
  return keep();
}

}  // namespace roofwalk
