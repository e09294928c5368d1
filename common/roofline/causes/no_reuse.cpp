// Missing reuse: threads of a block load the same bytes repeatedly.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/redundancy.h"

namespace roofwalk {
namespace {

Explanation explain_no_reuse(const DiagnosisInput& in) {
  const auto* line = worst_line(in.lines, [](const auto& l) { return l.l1_sectors; });
  return {fmt::format("{}{}: threads of a block load the same values again and again. Keep a tile in shared memory or "
                      "registers and reuse it.",
                      redundancy_text(in), line ? fmt::format(", most of it at line {}", line->line) : ""),
          number_of(line), redundancy_in_brief(in), slowest_level(in).name};
}

}  // namespace

const Cause cause::no_reuse = {
    .id = "no_reuse",
    .order = 130,
    .claim = [](Claim& claim) { claim_redundant_bytes(claim, MissingReuse::within_block); },
    .is_behind_wait = [](const DiagnosisInput& in, std::string_view wait,
                         bool) { return is_redundancy_behind_wait(in, wait, MissingReuse::within_block); },
    .evidence = [](const DiagnosisInput& in) { return evidence_of_redundancy(in, MissingReuse::within_block); },
    .explain = explain_no_reuse,
    .moves_right = true,
    .hints =
        {"How often is one element of the input needed, and how often is it loaded?",
         "Data that many threads of a block need can be loaded once into shared memory; data that one thread needs "
         "again can stay in its registers.",
         "Load a tile into shared memory together, __syncthreads(), use it for all products that need it, "
         "__syncthreads(), next tile. Then let a thread compute several results from each value that it reads."}};

}  // namespace roofwalk
