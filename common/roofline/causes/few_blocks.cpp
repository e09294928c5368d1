// A grid with too few blocks to fill the GPU.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"

namespace roofwalk {
namespace {

// Whether the grid fills at most half of the GPU's slots for blocks, or has fewer blocks than there are SMs.
bool has_few_blocks(const DiagnosisInput& in) {
  return in.blocks > 0 &&
         (in.blocks <= in.resident_blocks / 2 || in.blocks * in.resident_blocks_per_sm < in.resident_blocks);
}

void claim_few_blocks(Claim& claim) {
  if (has_few_blocks(claim.input())) claim.take_rest(TimePart::waiting);
}

Explanation explain_few_blocks(const DiagnosisInput& in) {
  const char* plural = in.blocks == 1 ? "" : "s";
  return {
      fmt::format("the grid has {:.0f} block{} where {:.0f} fit on the GPU at once, so most of it idles while a few "
                  "warps wait. Launch more blocks, each with less to do{}.",
                  in.blocks, plural, in.resident_blocks, place_text(in.launch_line)),
      in.launch_line, fmt::format("{:.0f} block{} where {:.0f} fit", in.blocks, plural, in.resident_blocks)};
}

}  // namespace

const Cause cause::few_blocks = {
    .id = "few_blocks",
    .order = 50,
    .claim = claim_few_blocks,
    .evidence = [](const DiagnosisInput& in) { return has_few_blocks(in) ? 120 : 0; },
    .explain = explain_few_blocks,
    .hints = {"A block lives on one SM. How many blocks do you launch, and how many SMs are there?",
              "An SM hides waiting by having other warps at hand, so the GPU wants many blocks for each SM.",
              "Give each thread less to do and compute the grid from the problem: ceil_div(n, threads) blocks."}};

}  // namespace roofwalk
