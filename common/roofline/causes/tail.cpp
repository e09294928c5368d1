// Tail: the last wave is nearly empty, or blocks take very different times.
#include <fmt/format.h>

#include <cstdint>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"

namespace roofwalk {
namespace {

void claim_tail(Claim& claim) {
  const DiagnosisInput& in = claim.input();
  claim.take(TimePart::waiting, wait_share(in, "tail") * (in.elapsed_ns - in.launch_ns));
}

Explanation explain_tail(const DiagnosisInput& in) {
  const double waves = in.resident_blocks > 0 ? in.blocks / in.resident_blocks : 0;
  const double whole = static_cast<double>(static_cast<std::int64_t>(waves));
  const double left = in.blocks - whole * in.resident_blocks;
  const auto* empty = wait_of(in, "tail");
  const std::string idle = empty ? fmt::format(", and {} of the warp slots are empty", percent_text(empty->share)) : "";
  constexpr double kManyWaves = 8;
  if (left > 0 && waves < kManyWaves) {
    return {
        fmt::format("{:.0f} blocks fit at once and the grid has {:.0f}: the last {:.0f} run on a GPU that is nearly "
                    "idle{}. Cut the work into a multiple of {:.0f} equal blocks, or into many small ones{}.",
                    in.resident_blocks, in.blocks, left, idle, in.resident_blocks, place_text(in.launch_line)),
        in.launch_line, fmt::format("the last {:.0f} of {:.0f} blocks run nearly alone", left, in.blocks)};
  }
  return {fmt::format("some blocks run far longer than the others{}. Share the work out evenly{}.", idle,
                      place_text(in.launch_line)),
          in.launch_line, "some blocks run far longer than the others"};
}

}  // namespace

const Cause cause::tail = {
    .id = "tail",
    .order = 60,
    .claim = claim_tail,
    .explain = explain_tail,
    .hints = {
        "Has one block more to do than another? If not, divide the number of blocks by the number that fits on the "
        "GPU at once: what does the remainder do?",
        "A launch takes as long as its last block. Where a few blocks have most of the work, or a last wave has "
        "only a few blocks, most SMs stand idle until the end.",
        "Cut the work into equal pieces, wherever its rows or lists begin and end. Choose smaller blocks or "
        "another tile, so that the last wave is full or one of many."}};

}  // namespace roofwalk
