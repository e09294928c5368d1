// Contended atomics: those on one word of global memory take turns.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

// Takes the turns. Where they take longer than anything else of L2, takes the time of the atomics beside other words,
// too: L2 moves bytes at least as fast as DRAM, and what it needs beyond that is for atomics.
void claim_contended_atomics(Claim& claim) {
  const DiagnosisInput& in = claim.input();
  claim.take_rest(TimePart::contention);
  if (in.contention_ns <= in.l2_ns || in.dram_bytes <= 0) return;
  claim.take(TimePart::l2, in.l2_ns - in.l2_bytes * in.dram_ns / in.dram_bytes);
}

Explanation explain_contended_atomics(const DiagnosisInput& in) {
  const auto* line = worst_line(in.lines, [](const auto& l) { return l.atomics; });
  return {fmt::format("atomics on one word take turns, and those on the most contended word take {} of the {}{}. Add "
                      "up near first: in a register, in the warp (__shfl_xor_sync), in the block's shared memory. "
                      "Then make one atomic a block for each word.",
                      time_text(in.contention_ns), time_text(in.elapsed_ns), place_text(number_of(line))),
          number_of(line), "the atomics on one word take turns"};
}

}  // namespace

// Without a modelled time, counts do not tell whether atomics are on one word or on many, so there is no evidence.
const Cause cause::contended_atomics = {
    .id = "contended_atomics",
    .order = 35,
    .claim = claim_contended_atomics,
    // Where turns take longest, waits for memory are for a turn.
    .is_behind_wait = [](const DiagnosisInput&, std::string_view wait,
                         bool is_main) { return is_main && is_memory_wait(wait); },
    .explain = explain_contended_atomics,
    .hints = {"How many of the atomics on that line go to the same word? L2 makes these one after the other, a few "
              "nanoseconds each. How long does that take in all?",
              "Atomics on different words go on side by side, but those on one word stand in a queue. More threads do "
              "not make it any shorter. Values that are added up before they get there do.",
              "Let each thread add up many values in a register. Then add up in the warp (__shfl_xor_sync), and in the "
              "block (shared memory and a barrier). At the end, one thread makes one atomic for the whole block."}};

}  // namespace roofwalk
