// Bank conflicts: accesses of a warp to arrays in shared memory that are serialized.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

bool conflicts(const DiagnosisInput& in) {
  return array_conflicts(in) > 0 && array_conflicts(in) >= kConflictShare * in.shared_wavefronts;
}

void claim_bank_conflicts(Claim& claim) {
  const DiagnosisInput& in = claim.input();
  if (conflicts(in)) claim.take(TimePart::shared, in.shared_ns * array_conflicts(in) / in.shared_wavefronts);
}

Explanation explain_bank_conflicts(const DiagnosisInput& in) {
  const auto* line = worst_line(in.lines, [](const auto& l) { return l.shared_bank_conflicts - l.arrival_conflicts; });
  return {
      fmt::format("{} of the shared-memory wavefronts are bank conflicts, where threads of a warp hit the same "
                  "bank{}. Let neighbouring threads read neighbouring words, or pad or swizzle the tile's rows: "
                  "by one float for float accesses, by four for float4.",
                  percent_text(array_conflicts(in) / in.shared_wavefronts), most_at_text(line)),
      number_of(line),
      line ? fmt::format("{}-way bank conflicts",
                         number_text(line->shared_wavefronts / (line->shared_wavefronts - line->shared_bank_conflicts)))
           : ""};
}

}  // namespace

const Cause cause::bank_conflicts = {
    .id = "bank_conflicts",
    .order = 140,
    .claim = claim_bank_conflicts,
    .is_behind_wait = [](const DiagnosisInput&, std::string_view wait, bool) { return wait == "bank_conflict"; },
    .evidence = [](const DiagnosisInput& in) { return conflicts(in) ? 90 : 0; },
    .explain = explain_bank_conflicts,
    .figure = "ways",
    .hints =
        {"Shared memory has 32 banks, one float wide. Which bank does each thread of the warp ask on that line?",
         "Threads that want different words of one bank take turns. A column of a tile that is 32 floats wide lies in "
         "a "
         "single bank.",
         "Let neighbouring threads read neighbouring words. For columns make the rows one float longer (tile[32][33]), "
         "four where float4 is read; or swizzle the column index by the row."}};

}  // namespace roofwalk
