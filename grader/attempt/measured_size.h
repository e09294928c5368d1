// The size of a chapter's measured problem on a machine.
#pragma once

#include "common/exercise/chapter.h"
#include "common/specs/machine.h"

namespace roofwalk {

// Whether a size is large enough for figures at DRAM. The compulsory bytes must be at least eight times the L2, so
// that L2 hits are negligible. The launch overhead must be at most 2.5 % of the sum of itself and the time of these
// bytes at DRAM. If the overhead is unknown (a GPU without a machine file), 3 us are assumed.
bool fills(const Work& work, const Machine& machine);

// The manifest's size for this machine. For a machine that the manifest does not name, it depends on the goals. If a
// goal is a share of the DRAM roof, it is the default size, whose largest extent is halved while the half also fills
// the machine or the machine's memory cannot hold the whole, but which never gets below the manifest's smallest size.
// Otherwise it is the manifest's smallest size that fills the machine, or the default if none does.
Size measured_size(const Chapter& chapter, const Machine& machine);

}  // namespace roofwalk
