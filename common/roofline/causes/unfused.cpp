// Unfused kernels: intermediate arrays go through DRAM from one kernel to the next.
#include <fmt/format.h>

#include <algorithm>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/redundancy.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

Explanation explain_unfused(const DiagnosisInput& in) {
  const double kernels = std::max(in.streaming_kernels, in.chained_kernels);
  return {
      fmt::format(
          "{:.0f} kernels pass whole arrays on to each other through DRAM, or fetch the same ones again: {} "
          "where {} are compulsory. Fuse them: what one kernel reads or computes, the next should find in registers{}.",
          kernels, si_text(in.dram_bytes, "B"), si_text(in.compulsory_bytes, "B"), place_text(in.launch_line)),
      in.launch_line, fmt::format("{:.0f} kernels pass arrays on through DRAM", kernels)};
}

}  // namespace

const Cause cause::unfused = {
    .id = "unfused",
    .order = 110,
    .claim = [](Claim& claim) { claim_redundant_bytes(claim, MissingReuse::between_kernels); },
    .is_behind_wait = [](const DiagnosisInput& in, std::string_view wait,
                         bool) { return is_redundancy_behind_wait(in, wait, MissingReuse::between_kernels); },
    .evidence = [](const DiagnosisInput& in) { return evidence_of_redundancy(in, MissingReuse::between_kernels); },
    .explain = explain_unfused,
    .figure = "DRAM",
    .goes_beyond_roof = true,
    .moves_right = true,
    .hints =
        {"Count the kernels, and the arrays that travel between them. Who reads what the first one wrote?",
         "What one kernel writes and the next one reads crosses DRAM twice. Inside one kernel it could stay on the "
         "chip.",
         "Compute the next step while the values are in registers or shared memory: one kernel, one pass over the "
         "data."}};

}  // namespace roofwalk
