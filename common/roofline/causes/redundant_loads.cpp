// Redundant loads: blocks fetch bytes that other blocks, or they themselves, fetched before.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/redundancy.h"

namespace roofwalk {
namespace {

Explanation explain_redundant_loads(const DiagnosisInput& in) {
  const auto* line = worst_line(in.lines, [](const auto& l) { return l.dram_bytes > 0 ? l.dram_bytes : l.l1_sectors; });
  return {
      fmt::format("{}{}: the same bytes come again, from another block or from the same one after its cache lost "
                  "them. Where blocks share data, let each do more with what it loads (a larger tile), or let those "
                  "that share run together; what one reads again, keep in registers or shared memory.",
                  redundancy_text(in), most_at_text(line)),
      number_of(line), redundancy_in_brief(in), slowest_level(in).name};
}

}  // namespace

const Cause cause::redundant_loads = {
    .id = "redundant_loads",
    .order = 120,
    .claim = [](Claim& claim) { claim_redundant_bytes(claim, MissingReuse::between_blocks); },
    .is_behind_wait = [](const DiagnosisInput& in, std::string_view wait,
                         bool) { return is_redundancy_behind_wait(in, wait, MissingReuse::between_blocks); },
    .evidence = [](const DiagnosisInput& in) { return evidence_of_redundancy(in, MissingReuse::between_blocks); },
    .explain = explain_redundant_loads,
    .moves_right = true,
    .hints =
        {"Which bytes come a second time: for a neighbouring block, or for the same one after its cache lost them?",
         "Blocks share nothing but L2: what several of them need is loaded by each. And what one reads again comes "
         "from "
         "DRAM again where L1 and L2 hold too little.",
         "Let a block compute a larger piece of the result, so that fewer blocks load the same data, or number the "
         "blocks so that those that share data run together; keep what a thread needs again in registers or shared "
         "memory."}};

}  // namespace roofwalk
