#include "grader/walk/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "common/base/json.h"
#include "common/roofline/cause.h"
#include "common/store/stored_attempt.h"
#include "grader/attempt/verdict.h"

namespace roofwalk {
namespace {

// Hints for kernels that fail before their speed matters: by verdict, or by kind of fault if there are special ones.
struct VerdictHints {
  std::string_view kind;
  std::array<std::string_view, 3> hints;
};
constexpr VerdictHints kVerdictHints[] = {
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
    {"read only",
     {"The card names the input that is written, and the line. What is stored there, and who reads it afterwards?",
      "Inputs stay as they are: others read them, and on a real GPU in whatever order the blocks come. A value that is "
      "put back afterwards was still another one meanwhile.",
      "Keep what only this thread needs in a register, what its block needs in shared memory, and what a later kernel "
      "needs in scratch<T>(count)."}},
    {"misaligned",
     {"The card names the address and what it must be a multiple of. Which type does the kernel read or write there?",
      "A float4 must start at every fourth float. An odd row length, or an offset of one, moves all later rows off.",
      "Take the wide way only where the address allows it, and floats one by one where it does not."}},
    {"uninitialized",
     {"The card names what is read before anybody has written it. Who was to write it, and when?",
      "An edge of the tile that no thread fills, a first pass that adds to an output, a missing __syncthreads().",
      "Write every element that is read, zeros at the edges too, and wait before others read it."}},
    {"race",
     {"The card names both lines. What says that the one happens before the other?",
      "Threads of a block run in any order: between writing shared memory and reading what another thread wrote there "
      "must be a __syncthreads(), and another before it is written again.",
      "Mark each phase of the kernel, writes and reads, and put one barrier between any two that touch the same words. "
      "Where many threads write one word, let one thread do it."}},
    {"missing wait",
     {"The card names the copy that may still be under way. Where does the kernel wait for it?",
      "__pipeline_wait_prior(n) waits for all groups but the last n that this thread has committed.",
      "Wait, then __syncthreads(), then read: the wait is for your own copies, the barrier for everybody else's."}},
    {"runs too long",
     {"Which loop does the card name? Which variable ends it, and does every thread change it?",
      "A step of 0, a bound that moves along, an unsigned counter that walks below 0: each never ends.",
      "Print the counter of one thread for the first ten turns, or compute it by hand."}},
    {"barrier deadlock",
     {"Every thread of the block must come to the same __syncthreads(), or have ended. Which ones go another way?",
      "A barrier inside an if, or one in a loop that some threads leave for another barrier, waits for threads that "
      "never come.",
      "Guard the work, not the barrier: if (i < n) around the loads and stores, the barrier outside."}},
    {"assertion",
     {"Your own assert failed, at the line and thread on the card. What did you expect there?",
      "The condition was false for that thread at that size: the sizes are odd on purpose.",
      "Print the values that it compares, for that thread alone, and run again."}},
    {"stack overflow",
     {"A device function calls itself. On which input does it stop?",
      "Each open call takes a part of a thread's small stack, 1 KiB: deep recursion does not fit, endless never does.",
      "Make it a loop."}},
    {"bad call",
     {"The card names a call through a pointer. Which line puts the function there, and does every thread pass it?",
      "A table entry that nobody filled, an index beyond the table, an object that was never constructed where this "
      "thread reads it: each leaves a pointer to nothing.",
      "Print the index, or compare the pointer with nullptr, for the thread on the card. A switch over a number does "
      "without pointers, and lets the compiler inline every case."}},
    {"incorrect",
     {"The card names the element and the size at which it went wrong. Which thread should have written it?",
      "Wrong at small odd sizes only: a guard or a tail. Wrong everywhere: an index or a missing __syncthreads(). "
      "Never written: the grid is too small, or blocks have other pieces than you think, such as two the same one.",
      "Follow that one element by hand: who computes it, which inputs it reads, and who might still be writing them."}},
    {"not_graded",
     {"The card says what does not add up. Which work did the kernel leave out?",
      "A sound kernel reads every input and does all of the arithmetic. Less than that is another problem.",
      "Go back to the last attempt that was graded, and change one thing at a time."}},
};

bool is_verdict(const std::string& kind) {
  return std::any_of(std::begin(kVerdictHints), std::end(kVerdictHints),
                     [&](const VerdictHints& row) { return row.kind == kind; });
}

void add_general(const std::string& trouble, std::vector<OfferedHint>& offered) {
  const auto add = [&](const std::array<std::string_view, 3>& hints) {
    for (std::size_t i = 0; i < hints.size(); ++i) {
      offered.push_back({fmt::format("{} {}", trouble, i + 1), std::string(hints[i]), trouble});
    }
  };
  if (const Cause* cause = find_cause(trouble)) add(cause->hints);
  for (const VerdictHints& row : kVerdictHints) {
    if (row.kind == trouble) add(row.hints);
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
  const Json* diagnosis = attempt.member("diagnosis");
  const bool is_known = diagnosis != nullptr && diagnosis->is_object();
  if (const std::string cause = is_known ? diagnosis->value("cause", "none") : "none"; cause != "none") return cause;
  const std::string verdict = attempt.value("verdict", "");
  const Json* fault = attempt.member("fault");
  if (fault != nullptr && fault->is_object()) {
    if (const std::string kind = fault->value("kind", ""); is_verdict(kind)) return kind;
  }
  return is_verdict(verdict) ? verdict : "none";
}

bool is_wrong(const Json& attempt) { return is_verdict(attempt.value("verdict", "")); }

std::vector<OfferedHint> hints_for(const Chapter& chapter, const Situation& situation) {
  std::vector<OfferedHint> fitting, own;
  for (std::size_t i = 0; i < chapter.hints.size(); ++i) {
    const auto& causes = chapter.hints[i].causes;
    const std::string id = fmt::format("chapter {}", i + 1);
    const bool is_for_ace = causes.size() == 1 && causes.front() == kForAce;
    if (std::find(causes.begin(), causes.end(), situation.trouble) != causes.end()) {
      fitting.push_back({id, chapter.hints[i].text, situation.trouble});
    } else if ((causes.empty() || is_for_ace) && !situation.is_wrong) {
      own.push_back({id, chapter.hints[i].text, "", 0, 0, is_for_ace && situation.has_passed});
    }
  }
  if (fitting.empty()) add_general(situation.trouble, fitting);
  // After a pass, drops the chapter's own hints. If the ace is not reached yet, keeps those that lead to it: those that
  // say so, or the last one.
  if (situation.has_ace) own.clear();
  if (situation.has_passed && !own.empty()) {
    const auto leads_on = [](const OfferedHint& hint) { return hint.leads_on; };
    if (std::none_of(own.begin(), own.end(), leads_on)) own.back().leads_on = true;
    std::erase_if(own, std::not_fn(leads_on));
  }
  number(fitting);
  number(own);
  fitting.insert(fitting.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  return fitting;
}

HintGiver::HintGiver(Store& store, const Chapter& chapter, const std::string& device)
    : store_(store), key_("hints " + chapter.name) {
  if (const auto history = store.history(chapter.name, device)) {
    for (const StoredAttempt& stored : *history) {
      if (!stored.is_in_walk) continue;
      situation_.trouble = trouble_of(stored.attempt);
      situation_.is_wrong = is_wrong(stored.attempt);
      situation_.has_passed |= stored.attempt.value("verdict", "") == verdict_name(Verdict::pass);
      situation_.has_ace |= stored.attempt.value("grade", "") == grade_name(Grade::ace);
      last_attempt_ = stored.id;
      if (!situation_.is_wrong) last_correct_ = stored.id;
    }
  }
  offered_ = hints_for(chapter, situation_);
  const Json kept = parse_json(store.note(key_).value_or("{}"));
  if (!kept.is_object()) return;
  for (const auto& [id, attempt] : kept.items()) {
    if (attempt.is_number_integer()) given_[id] = attempt.get<std::int64_t>();
  }
}

// Hints about a wrong kernel that were given before the last correct attempt count as not given, so that a learner
// whose kernel becomes wrong again gets them again.
bool HintGiver::was_given(const OfferedHint& hint) const {
  const auto given = given_.find(hint.id);
  return given != given_.end() && (!is_verdict(hint.cause) || given->second >= last_correct_);
}

bool HintGiver::all_given() const {
  return std::all_of(offered_.begin(), offered_.end(), [&](const auto& hint) { return was_given(hint); });
}

Status HintGiver::keep() { return store_.set_note(key_, json_line(Json(given_))); }

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
