// Local memory: a thread's values that are not in registers, because these ran out or because the values are arrays.
#include <fmt/format.h>

#include <algorithm>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

// Per thread. 16 spilled values mean that registers are short; a few may spill at the end of a loop by chance.
constexpr double kManySpilledBytes = 64;

void claim_spills(Claim& claim) {
  const DiagnosisInput& in = claim.input();
  if (in.local_bytes <= 0) return;
  // Local memory takes the same path as other data, so its share of the traffic is taken to be the same at each
  // level.
  for (const TimePart level : kMemoryLevels) {
    const double ns = part_ns(in, level);
    claim.take(level, std::min(ns * in.local_bytes / in.l1_bytes, ns - compulsory_ns(in, level)));
  }
}

// Reports spilled registers. Neither their bytes nor how often a loop moves them are counted, so the loss is an
// estimate.
std::optional<UnmeasuredLoss> report_spills(const DiagnosisInput& in) {
  const double share = in.spill_ns / (in.elapsed_ns + in.spill_ns);
  if (share < kWorthCuring && !(has_gap(in) && in.spilled_bytes_per_thread >= kManySpilledBytes)) return std::nullopt;
  return UnmeasuredLoss{
      share,
      {fmt::format("The compiler (ptxas) ran out of registers and keeps {:.0f} bytes of each thread in local "
                   "memory. The virtual GPU's time has the loads and stores for that as instructions that warps "
                   "wait for, but not their bytes: moved once out and once back, these take about {} more, and a "
                   "loop may move them each turn. Hold fewer values at once, or allow more registers "
                   "(__launch_bounds__){}.",
                   in.spilled_bytes_per_thread, time_text(in.spill_ns), place_text(in.launch_line)),
       in.launch_line, fmt::format("registers ran out: {:.0f} bytes a thread spill", in.spilled_bytes_per_thread)}};
}

// Explains arrays in local memory.
Explanation explain_spills(const DiagnosisInput& in) {
  const auto* line = worst_line(in.lines, [](const auto& l) { return l.local_sectors; });
  return {
      fmt::format("{} of the {} at L1 are local memory, a thread's own arrays that cannot live in registers since "
                  "their indices are known only as it runs{}. Give loops over them constant bounds and unroll them, "
                  "or keep them in shared memory.",
                  percent_text(in.local_bytes / in.l1_bytes), si_text(in.l1_bytes, "B"), place_text(number_of(line))),
      number_of(line), "a thread's own array, in local memory"};
}

}  // namespace

const Cause cause::spills = {
    .id = "spills",
    .order = 70,
    .claim = claim_spills,
    .report_unmeasured = report_spills,
    .explain = explain_spills,
    .figure = "L1",
    .moves_right = true,
    .hints = {
        "The kernel uses memory that you never asked for. Which values of a thread have no register?",
        "A thread has at most 255 registers, fewer where many threads share an SM. What does not fit goes to local "
        "memory, and that is DRAM.",
        "Use smaller tiles a thread, constant indices into local arrays (unroll the loop), or fewer threads a block."}};

}  // namespace roofwalk
