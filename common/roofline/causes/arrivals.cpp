// Arrivals at barrier objects in shared memory: the threads of a warp that arrive at one object take turns.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"

namespace roofwalk {
namespace {

bool arrive_in_turns(const DiagnosisInput& in) {
  return arrival_conflicts(in) > 0 && arrival_conflicts(in) >= kConflictShare * in.shared_wavefronts;
}

void claim_arrivals(Claim& claim) {
  const DiagnosisInput& in = claim.input();
  if (arrive_in_turns(in)) claim.take(TimePart::shared, in.shared_ns * arrival_conflicts(in) / in.shared_wavefronts);
}

Explanation explain_arrivals(const DiagnosisInput& in) {
  const auto* line = worst_line(in.lines, [](const auto& l) { return l.arrival_conflicts; });
  return {
      fmt::format("{} of the shared-memory wavefronts are a warp's threads that arrive at one cuda::barrier or "
                  "cuda::pipeline one after another{}. Let one thread of each warp arrive, after __syncwarp(), at a "
                  "barrier that expects one arrival a warp; or use __syncthreads(), with a pipeline of each "
                  "thread's own: cuda::make_pipeline().",
                  percent_text(arrival_conflicts(in) / in.shared_wavefronts), most_at_text(line)),
      number_of(line), "a warp's threads arrive one after another"};
}

}  // namespace

const Cause cause::arrivals = {
    .id = "arrivals",
    .order = 135,
    .claim = claim_arrivals,
    .is_behind_wait = [](const DiagnosisInput& in, std::string_view wait,
                         bool) { return wait == "bank_conflict" && arrival_conflicts(in) > array_conflicts(in); },
    .evidence = [](const DiagnosisInput& in) { return arrive_in_turns(in) ? 91 : 0; },
    .explain = explain_arrivals,
    .figure = "ways",
    .hints = {"How many threads of a warp arrive at the barrier on that line? Each of them updates the same 8 bytes of "
              "shared memory.",
              "Updates of one word take turns, so a warp that arrives with 32 threads takes 32 turns. A warp that "
              "arrives with one thread takes one.",
              "Initialise the barrier with the number of warps. Then __syncwarp(), and one thread of each warp arrives "
              "for all; everyone waits. Where all threads wait anyway, __syncthreads() does it for you."}};

}  // namespace roofwalk
