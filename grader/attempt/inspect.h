// Turns counters per source line into sentences that tell the learner where to look.
#pragma once

#include "common/specs/machine.h"
#include "grader/attempt/attempt.h"

namespace roofwalk {

Finding inspect(const RunRecord& record, const Measurement& measurement, const Machine& machine, const Roofs& roofs,
                const std::string& source_text);

// Says that a virtual GPU's figures lack a considerable part of the bytes at DRAM, because registers spill more than
// the caches hold: PTX has no spills. nullopt if they do not.
std::optional<std::string> uncounted_spills(const RunRecord& record, const Measurement& measurement,
                                            const Machine& machine);

// Diagnoses a wrong answer. A wrong kernel has no dot to diagnose, but the errors of its answer may show that it
// computed in half precision.
Finding inspect_wrong(const Correctness& correctness, int suspect_line);

// For an attempt that met every goal: removes all diagnoses except that of spills, because the chapter asks for nothing
// faster. No chapter is about spills, and the virtual GPU's dot does not fully show their cost.
void settle(Finding& finding);

// If only goals `right` are missed, puts the first diagnosis whose cure is fewer bytes before the others, or one of
// of_bytes if there is none among them: a learner wants to know first what keeps the dot from the goal. Where
// sector_use is missed, that is over-fetch. If only goals about counts are missed, the same is done with the diagnosis
// of the first of them that has one, such as bank conflicts.
void lead_with_missed(const Judgement& judgement, Finding& finding);

// While other warps wait at a barrier, the last warp to arrive still works or waits for something else. Returns what it
// did, as shares of `cycles`, the cycles for which the other warps waited there.
std::vector<DiagnosisInput::Waiting::Part> last_warp_of(const std::vector<HeldUpBy>& held_up, double cycles);

// Words that complete "wait for ...", such as "a barrier". Not for Wait::issued, which is not a wait.
std::string_view wait_words(Wait wait);

// Line `line` (from 1) of a text, without blanks at both ends; empty if there is none.
std::string source_line(const std::string& text, int line);

}  // namespace roofwalk
