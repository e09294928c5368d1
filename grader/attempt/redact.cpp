#include "grader/attempt/redact.h"

#include <fmt/format.h>

#include <utility>

namespace roofwalk {
namespace {

const char* words_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds:
      return "an access out of bounds";
    case FaultKind::read_only:
      return "a write to an input";
    case FaultKind::misaligned:
      return "a misaligned access";
    case FaultKind::uninitialized:
      return "a read of memory that was never written";
    case FaultKind::race:
      return "a race";
    case FaultKind::missing_wait:
      return "a missing wait for an asynchronous copy";
    case FaultKind::runaway:
      return "a run that exceeds its work limit";
    case FaultKind::barrier_deadlock:
      return "threads that wait at a barrier forever";
    case FaultKind::assertion:
      return "an assertion that does not hold";
    case FaultKind::stack_overflow:
      return "a stack overflow";
    default:
      return "a fault";
  }
}

const char* words_of(Wrong wrong) {
  switch (wrong) {
    case Wrong::unwritten:
      return "holds elements that were never written";
    case Wrong::nan:
      return "holds NaN";
    case Wrong::infinite:
      return "holds an infinity";
    case Wrong::input_changed:
      return "is an input, and was changed";
    case Wrong::guard_changed:
      return "was written beyond its ends";
    default:
      return "holds wrong values";
  }
}

}  // namespace

void hide(Trial& trial, Hidden what) {
  trial.shows_lines = what != Hidden::size;
  trial.case_name = "a hidden size or seed";
  trial.record.printed = {};
  trial.record.warnings.clear();
  if (trial.refusal) {
    trial.refusal->message = "the plan is refused";
    trial.refusal->advice.clear();
    if (!trial.shows_lines) trial.refusal->line = 0;
  }
  if (trial.record.fault) {
    const Fault seen = std::exchange(*trial.record.fault, Fault{});
    Fault& told = *trial.record.fault;
    told.kind = seen.kind;
    told.file = seen.file;
    told.line = trial.shows_lines ? seen.line : 0;
    told.message = words_of(seen.kind);
  }
  if (trial.correctness && !trial.correctness->correct) {
    const Correctness seen = std::exchange(*trial.correctness, Correctness{});
    Correctness& told = *trial.correctness;
    told.wrong = seen.wrong;
    told.buffer = seen.buffer;
    told.looks_like_half = seen.looks_like_half;
    told.reason = fmt::format("{} {}", seen.buffer, words_of(seen.wrong));
  }
}

std::string hidden_case_below(const Size& measured, const std::string& chapter) {
  return fmt::format("a hidden size below {}; `./roofwalk run {} --as-graded` runs one like it", measured.text(),
                     chapter);
}

}  // namespace roofwalk
