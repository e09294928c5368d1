// Bound by instruction issue: most issue slots go to instructions other than arithmetic.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

void claim_instruction_bound(Claim& claim) {
  // If constant loads diverge, divergent_constants has already claimed all passes but one per load. The rest is the
  // cost of issuing them, as for other instructions.
  claim.take_rest(TimePart::constant);
  claim.take_rest(TimePart::issue);
  if (!is_mostly_arithmetic(claim.input())) claim.take_rest(TimePart::flops);
}

std::string instructions_in_brief(const DiagnosisInput& in, const DiagnosisInput::Line* line) {
  if (in.unit != WorkUnit::flop) return "issuing instructions takes the time, most of it here";
  if (line == nullptr || in.warp_instructions <= 0) return "more instructions than arithmetic";
  const bool is_access = line->shared_wavefronts + line->load_requests + line->store_requests > 0;
  return fmt::format("{} is no arithmetic, most here: {}", percent_text(1 - arithmetic_share(in)),
                     is_access ? "use float4" : "unroll");
}

Explanation explain_instruction_bound(const DiagnosisInput& in) {
  const auto* line = worst_line(in.lines, [](const auto& l) { return l.warp_instructions - l.flops / kFlopsOfFma; });
  const std::string remedy = "Use wider accesses, unroll, and take index arithmetic out of the loop.";
  if (in.unit != WorkUnit::flop) {
    return {fmt::format("the kernel issues {} warp instructions for {} {}{}. {}", si_text(in.warp_instructions, ""),
                        si_text(in.useful_work, ""), words_of(in.unit).many,
                        line ? fmt::format(", most of them at line {}", line->line) : "", remedy),
            number_of(line), instructions_in_brief(in, line)};
  }
  return {fmt::format("the kernel issues {} warp instructions, where the FLOPs that the algorithm needs are {} fused "
                      "multiply-adds{}. {}",
                      si_text(in.warp_instructions, ""), si_text(in.useful_flops / kFlopsOfFma, ""),
                      line ? fmt::format("; most of the others are at line {}", line->line) : "", remedy),
          number_of(line), instructions_in_brief(in, line)};
}

}  // namespace

const Cause cause::instruction_bound = {
    .id = "instruction_bound",
    .order = 180,
    .claim = claim_instruction_bound,
    .explain = explain_instruction_bound,
    .figure = "runs",
    .hints = {"Which instructions of the inner loop are not arithmetic on your data?",
              "Index arithmetic, loop counters and narrow loads take issue slots like everything else.",
              "Unroll the loop, move address arithmetic out of it, and use float4 loads."}};

}  // namespace roofwalk
