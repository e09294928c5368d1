// Bound by arithmetic: the FLOPs themselves take the time.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"

namespace roofwalk {
namespace {

void claim_fp_bound(Claim& claim) {
  if (is_mostly_arithmetic(claim.input())) claim.take_rest(TimePart::flops);
}

Explanation explain_fp_bound(const DiagnosisInput& in) {
  const auto* line = worst_line(in.lines, [](const auto& l) { return l.flops; });
  return {fmt::format("the arithmetic itself takes the time{}. Use fused multiply-adds, fewer divisions and special "
                      "functions.",
                      most_at_text(line)),
          number_of(line), "the arithmetic itself takes the time"};
}

}  // namespace

const Cause cause::fp_bound = {
    .id = "fp_bound",
    .order = 190,
    .claim = claim_fp_bound,
    .evidence = [](const DiagnosisInput&) { return 1; },  // the cause if the counts point to no other
    .explain = explain_fp_bound,
    .figure = "FLOPs",
    .hints = {"What does each result cost in divisions, roots and exponentials?",
              "A fused multiply-add does two FLOPs in one slot. Special functions have a pipe of their own, a narrow "
              "one.",
              "Multiply by a reciprocal that is computed once, write a * b + c, and keep several independent sums."}};

}  // namespace roofwalk
