// The size of a chapter's measured problem on a machine.
#pragma once

#include "common/exercise/chapter.h"
#include "common/specs/machine.h"

namespace roofwalk {

// Whether a problem is large enough for figures at DRAM. Its compulsory bytes must be at least eight times the L2, so
// that L2 hits are negligible. The launch overhead must be at most 2.5 % of the time, which is that overhead plus the
// time of the compulsory bytes at DRAM. If the overhead is unknown (a GPU without a machine file), 3 us are assumed.
bool fills(const Work& work, const Machine& machine);

// The size for this machine: the manifest's, if the manifest names the machine. Otherwise, if a goal is a share of the
// DRAM roof: the default size, its largest extent halved until half of the size would no longer fill the machine, and
// further if the size does not fit into its memory, but never below the manifest's smallest size. If there is no such
// goal: the manifest's smallest size that fills the machine, or the default if none does; on a slice of a chip, the
// chip's size with so few results that each SM has about as many as on the chip.
Size measured_size(const Chapter& chapter, const Machine& machine);

}  // namespace roofwalk
