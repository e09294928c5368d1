// Loads of constant memory whose lanes read different words.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

constexpr double kManyWords = 1.5;  // distinct words of constant memory per load

bool constants_diverge(const DiagnosisInput& in) {
  return in.constant_passes > 0 && in.constant_passes >= kManyWords * in.constant_requests;
}

void claim_divergent_constants(Claim& claim) {
  const DiagnosisInput& in = claim.input();
  if (!constants_diverge(in)) return;
  claim.take(TimePart::constant, in.constant_ns * (1 - in.constant_requests / in.constant_passes));
}

Explanation explain_divergent_constants(const DiagnosisInput& in) {
  const auto* line = worst_line(in.lines, [](const auto& l) { return l.constant_passes - l.constant_requests; });
  const std::string words =
      number_text(line ? line->constant_passes / line->constant_requests : in.constant_passes / in.constant_requests);
  return {fmt::format("the threads of a warp read {0} different words of constant memory at once: {0} passes{1}, since "
                      "its cache hands out a word at a time. Keep there what all threads of a warp read together, and "
                      "what differs from thread to thread in an ordinary array, in shared memory or in registers.",
                      words, place_text(number_of(line))),
          number_of(line), fmt::format("{0} words of constant memory a load: {0} passes", words)};
}

}  // namespace

const Cause cause::divergent_constants = {
    .id = "divergent_constants",
    .order = 160,
    .claim = claim_divergent_constants,
    .is_behind_wait = [](const DiagnosisInput& in, std::string_view wait,
                         bool) { return wait == "constant" && constants_diverge(in); },
    .evidence = [](const DiagnosisInput& in) { return constants_diverge(in) ? 80 : 0; },
    .explain = explain_divergent_constants,
    .figure = "passes",
    .hints =
        {"Which word of the __constant__ array does each thread of a warp read on that line? How many different ones "
         "are those?",
         "The constant cache hands one word to all threads of a warp that want it. Threads that want different words "
         "take turns: 32 words, 32 turns.",
         "Index __constant__ arrays by what is the same for the whole warp: a loop counter, blockIdx. A table that "
         "each "
         "thread looks up elsewhere belongs into an ordinary array, or into shared memory."}};

}  // namespace roofwalk
