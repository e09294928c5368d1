// Barriers at which a whole block waits for its loads.
#include <fmt/format.h>

#include <algorithm>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/last_warp.h"

namespace roofwalk {
namespace {

constexpr double kBarrierShare = 0.1;  // of the waiting
// If an SM has at most this many blocks, there is rarely another block to run while one waits at a barrier.
constexpr double kFewBlocksToSwitchTo = 2;

double blocks_on_sm(const DiagnosisInput& in) {
  if (in.resident_blocks <= 0) return in.resident_blocks_per_sm;
  return in.resident_blocks_per_sm * std::min(1.0, in.blocks / in.resident_blocks);
}

// Whether waits at barriers are really waits for memory: if a whole block waits for one load, only the last warp waits
// for the load itself; all others wait at the barrier.
bool wait_for_memory_at_barriers(const DiagnosisInput& in) {
  const double barrier = wait_share(in, "barrier");
  const double memory = wait_share(in, "dram") + wait_share(in, "l2") + wait_share(in, "l1");
  const bool no_other_block =
      blocks_on_sm(in) <= kFewBlocksToSwitchTo && barrier >= kBarrierShare * total_wait_share(in);
  return barrier > 0 && (no_other_block || barrier >= memory);
}

bool is_barrier_behind_wait(const DiagnosisInput& in, std::string_view wait, bool) {
  // A wait for a last warp that is still issuing instructions is due to the barrier, too: if all warps had equal work,
  // none would wait for it.
  if (wait == "barrier" || wait == "issue" || wait == "issued") return true;
  return is_memory_wait(wait) && wait_for_memory_at_barriers(in);
}

int evidence_of_barriers(const DiagnosisInput& in) {
  return in.observed_ai < in.ridge && wait_for_memory_at_barriers(in) ? 40 : 0;
}

// Explains why no second block works during the wait.
std::string hardly_another(const DiagnosisInput& in) {
  if (in.limit.empty() || in.resident_blocks_per_sm > 1) {
    return "and hardly any other block has work meanwhile";
  }
  return fmt::format("and no other block has work meanwhile: only one fits an SM, for {}", in.limit);
}

Explanation explain_barriers(const DiagnosisInput& in) {
  const auto* wait = wait_of(in, "barrier");
  const int barrier_line = wait ? wait->line : 0;
  if (in.resident_blocks_per_sm > kFewBlocksToSwitchTo) {
    const std::string share = percent_text(wait ? wait->share : 0);
    return {fmt::format("warps wait at barriers {} of their time{}, until the slowest warp of their block arrives. Use "
                        "fewer barriers: what stays within a warp needs none (__shfl_xor_sync).",
                        share, place_text(barrier_line)),
            barrier_line, fmt::format("warps wait here {} of their time", share)};
  }
  const std::string last = wait ? last_warp_words(wait->last_warp) : "";
  const auto* load = wait_for_memory(in);
  const bool is_load = load && load->line > 0 && load->share > (wait ? wait->share : 0);
  if (!is_load && !last.empty() && !waits_for_loads(wait->last_warp)) {
    return {fmt::format("warps wait at the barrier{} {} of their time, {}. The last of their block {}. Give its warps "
                        "equal work and more of it between two barriers.",
                        place_text(barrier_line), percent_text(wait->share), hardly_another(in), last),
            barrier_line, fmt::format("the last warp {}", last)};
  }
  // If warps wait longer for a load than at the barrier, all of them load at the same time. Then the text is about the
  // load's line, not the barrier's.
  const int line = is_load ? load->line : barrier_line;
  const std::string waits =
      is_load ? fmt::format("between its barriers the whole block waits for the loads of line {} at once", line)
              : fmt::format("at its barriers{} the whole block waits for the slowest load", place_text(line));
  const bool more_could_fit = in.limit.empty();
  return {fmt::format("{}, {}. Start the next tile's loads before computing on this one: two buffers, filled by "
                      "__pipeline_memcpy_async (cp.async){}.",
                      waits, hardly_another(in), more_could_fit ? ", or let more blocks share an SM" : ""),
          line,
          is_load        ? "all warps of the block wait for this at once"
          : last.empty() ? "the whole block waits here for its loads"
                         : fmt::format("the last warp {}", last)};
}

}  // namespace

const Cause cause::barriers = {
    .id = "barriers",
    .order = 100,
    .is_behind_wait = is_barrier_behind_wait,
    .evidence = evidence_of_barriers,
    .explain = explain_barriers,
    .hints = {
        "What does each warp do before it comes to the barrier, and which of them comes last?",
        "At __syncthreads() everybody waits for the slowest warp. Work that needs nothing of the others could go on.",
        "Sums within a warp take shuffles and no barrier. For tiles use two buffers: start the loads of the next "
        "tile (cp.async, or into registers), compute on this one, then wait. Or let two blocks share an SM."}};

}  // namespace roofwalk
