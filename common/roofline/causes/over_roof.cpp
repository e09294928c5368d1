// More bytes/s or FLOP/s than the machine can deliver: the kernel skips work, or the roof is wrong.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

std::optional<Explanation> report_over_roof(const DiagnosisInput& in) {
  if (in.elapsed_ns <= 0 || !in.is_impossible) return std::nullopt;
  if (skips_flops(in.executed_flops + in.atomic_flops, in.useful_flops, in.least_flops)) {
    const auto* line = worst_line(in.lines, [](const auto& l) { return l.flops; });
    return Explanation{
        fmt::format("The dot is where no dot can be: {} were executed where the algorithm has {}, so it counts work "
                    "that was not done. Do all of it, as the chapter describes it{}.",
                    si_text(in.executed_flops, "FLOP"), needed_flops_text(in.useful_flops, in.least_flops),
                    place_text(number_of(line))),
        number_of(line), "counts work that was not done"};
  }
  if (in.dram_bytes < kLeastOfCompulsoryBytes * in.compulsory_bytes) {
    return Explanation{
        fmt::format("The dot is further right than any dot can be: {} were moved where {} are compulsory. Part of the "
                    "data was not read, or a cache still held it: read every input and write every output.",
                    si_text(in.dram_bytes, "B"), si_text(in.compulsory_bytes, "B"))};
  }
  return Explanation{
      fmt::format("The dot is {} above its roof, which is impossible. The data came from a cache, whose roof is "
                  "higher, or work was skipped: measure with a size that no cache holds.",
                  percent_text(1 / in.vertical_gap - 1))};
}

}  // namespace

const Cause cause::over_roof = {
    .id = "over_roof",
    .order = 20,
    .report_alone = report_over_roof,
    .hints = {
        "A dot above the roof is not fast, it is impossible. Which work or which bytes does the kernel leave out?",
        "Either a part of the result is not computed, or bytes are served from somewhere that this roof does not "
        "count.",
        "Compare what was executed with the useful work, and bytes with compulsory bytes, on the card: the one that is "
        "too small says which part of the problem is skipped."}};

}  // namespace roofwalk
