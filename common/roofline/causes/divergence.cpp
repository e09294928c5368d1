// Divergence: the lanes of a warp take different branches.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

constexpr double kDivergentShare = 0.1;  // of the branches
constexpr double kLanesLost = 0.15;      // inactive lanes over all lanes of the issued instructions

// Returns the average share of active lanes per warp instruction.
double active_lanes(const DiagnosisInput& in) {
  return in.warp_instructions > 0 ? in.thread_instructions / (32 * in.warp_instructions) : 1;
}

bool diverges(const DiagnosisInput& in) {
  return in.divergent_branches > 0 && in.divergent_branches >= kDivergentShare * in.branches &&
         active_lanes(in) <= 1 - kLanesLost;
}

void claim_divergence(Claim& claim) {
  const DiagnosisInput& in = claim.input();
  if (!diverges(in)) return;
  for (const TimePart unit : {TimePart::issue, TimePart::flops}) {
    claim.take(unit, part_ns(in, unit) * (1 - active_lanes(in)));
  }
}

Explanation explain_divergence(const DiagnosisInput& in) {
  const auto* branch = worst_line(in.lines, [](const auto& l) { return l.divergent_branches; });
  return {fmt::format("{} of the branches split their warp{}, and each side then runs alone: {} of 32 lanes work on "
                      "average. Let all threads of a warp take the same side.",
                      percent_text(in.divergent_branches / in.branches), most_at_text(branch),
                      number_text(in.thread_instructions / in.warp_instructions)),
          number_of(branch), "splits its warps: each side runs alone"};
}

}  // namespace

const Cause cause::divergence = {
    .id = "divergence",
    .order = 170,
    .claim = claim_divergence,
    .is_behind_wait = [](const DiagnosisInput&, std::string_view wait,
                         bool is_main) { return wait == "dependency" && is_main; },
    .evidence = [](const DiagnosisInput& in) { return diverges(in) ? 70 : 0; },
    .explain = explain_divergence,
    .figure = "lanes",
    .hints = {"Which condition differs between the threads of one warp?",
              "The 32 threads of a warp share one instruction stream. Where they part, both sides run one after the "
              "other.",
              "Let the condition depend on the warp or the block instead of the thread, or compute both sides and "
              "select."}};

}  // namespace roofwalk
