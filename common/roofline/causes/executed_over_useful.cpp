// More FLOPs than useful: redundant arithmetic, or the whole work repeated.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

constexpr double kExtraFlops = 1.25;  // executed over useful

bool executes_too_much(const DiagnosisInput& in) {
  return in.useful_flops > 0 && in.executed_flops >= kExtraFlops * in.useful_flops;
}

void claim_executed_over_useful(Claim& claim) {
  const DiagnosisInput& in = claim.input();
  // Without the repeats, all units would have less to do, and warps would wait less, by this share.
  const double repeated_share = 1 - 1 / repeats_of_work(in);
  for (const TimePart unit : kMachineUnits) claim.take(unit, part_ns(in, unit) * repeated_share);
  claim.take(TimePart::waiting, in.latency_ns * repeated_share);
  if (!executes_too_much(in)) return;
  for (const TimePart unit : {TimePart::issue, TimePart::flops}) {
    claim.take(unit, part_ns(in, unit) * arithmetic_share(in) * (1 - in.useful_flops / in.executed_flops));
  }
}

int evidence_of_executed_over_useful(const DiagnosisInput& in) {
  return repeats_of_work(in) > 1 ? 130 : executes_too_much(in) ? 60 : 0;
}

// Explains that the same results are computed and stored repeatedly.
Explanation explain_repeated_work(const DiagnosisInput& in) {
  const auto* line = worst_line(in.lines, [](const auto& l) { return l.flops > 0 ? l.store_requests : 0; });
  if (line == nullptr) line = worst_line(in.lines, [](const auto& l) { return l.store_requests; });
  const double repeats = repeats_of_work(in);
  constexpr double kNearlyAll = 0.5;
  if (in.blocks > 1 && repeats >= kNearlyAll * in.blocks) {
    return {fmt::format("every block does all the elements: {:.0f} blocks execute {} FLOPs for each useful one, and "
                        "store each result again. blockIdx is missing in the index{}: give each block a part of its "
                        "own.",
                        in.blocks, number_text(repeats), place_text(number_of(line))),
            number_of(line), "every block does all the elements"};
  }
  return {fmt::format("each result is computed {} times over and stored each time{}. Several threads or blocks have "
                      "the same index: compare the grid{} with what one block computes, one block for each piece.",
                      number_text(repeats), place_text(number_of(line)),
                      in.launch_line > 0 ? fmt::format(" of line {}", in.launch_line) : ""),
          number_of(line), fmt::format("computed and stored {} times over", number_text(repeats))};
}

Explanation explain_executed_over_useful(const DiagnosisInput& in) {
  if (repeats_of_work(in) > 1) return explain_repeated_work(in);
  const auto* line = worst_line(in.lines, [](const auto& l) { return l.flops; });
  const std::string ratio = number_text(in.executed_flops / in.useful_flops);
  return {fmt::format("the kernel executes {} FLOPs for each useful one{}. Compute nothing twice and nothing that is "
                      "thrown away.",
                      ratio, most_at_text(line)),
          number_of(line), fmt::format("{} FLOPs executed for each useful one", ratio)};
}

}  // namespace

const Cause cause::executed_over_useful = {
    .id = "executed_over_useful",
    .order = 40,
    .claim = claim_executed_over_useful,
    .is_behind_wait = [](const DiagnosisInput&, std::string_view wait,
                         bool is_main) { return wait == "dependency" && is_main; },
    .evidence = evidence_of_executed_over_useful,
    .explain = explain_executed_over_useful,
    .figure = "FLOPs",
    .hints = {
        "The card shows executed and useful FLOPs. Which results are computed twice, or not used? Is blockIdx in the "
        "index?",
        "Arithmetic on padding, or the same value computed by several threads, takes time and moves no dot.",
        "Guard what lies outside the problem, and compute what several threads share once, into shared memory."}};

}  // namespace roofwalk
