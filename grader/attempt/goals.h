// A chapter's goals for one machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/exercise/chapter.h"
#include "common/measure/measurement.h"
#include "common/specs/machine.h"

namespace roofwalk {

struct MachineGoals {
  std::vector<Goal> asked;            // in the chapter's order
  std::vector<std::string> left_out;  // for each of the other goals: one sentence that says why it is left out
};

// What the goal asks for, in a word: "right" or "up", for where the dot is to be; "stay", for an AI that is to stay; or
// "count", for what is counted and is no place in the chart.
std::string goal_direction(const Goal& goal);

// Gives each goal the machine's own thresholds (Goal::on) as its thresholds.
void use_thresholds_of(const Machine& machine, Chapter& chapter);

// The goals have the machine's own thresholds (Goal::on). A goal about the AI at DRAM is left out if the compulsory
// bytes are less than four times the L2, because the L2 then absorbs so many repeated reads that every kernel has about
// the same AI at DRAM.
// `counts_accesses`: whether the device counts single accesses, as the virtual GPU does: the sectors and wavefronts
// that each needs, the lanes of each atomic. If not, goals about these are left out.
MachineGoals goals_on(const Machine& machine, const Chapter& chapter, const Work& work, bool counts_accesses = true);

// The roof of which a goal asks for a share, FLOP/s: the one above the dot. Bytes that nobody needs, such as those of a
// memset of scratch memory, lead a slow kernel under a lower roof, and hide how slow it is. So at DRAM, if none of
// `goals` asks a pass for its AI, there or at L2, the dot's AI counts as no less than four fifths of the algorithm's.
// nullopt: unknown.
std::optional<double> roof_of(const Goal& goal, const std::vector<Goal>& goals, const Measurement& measurement);

}  // namespace roofwalk
