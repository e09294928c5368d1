// How large the measured problem of a chapter is on a machine.
#pragma once

#include "common/exercise/chapter.h"
#include "common/specs/machine.h"

namespace roofwalk {

// Whether a size is large enough for figures at DRAM. The compulsory bytes must be at least eight times the L2, so that
// L2 hits are negligible. The launch overhead must be at most 2.5 % of itself plus the time of these bytes at DRAM. If
// the overhead is unknown (a GPU without a machine file), 3 us are assumed.
bool fills(const Work& work, const Machine& machine);

// The size that the manifest names for this machine. For a machine that it does not name:
// - Where a goal asks for a share of the DRAM roof: the default, with its largest extent halved as long as it still
//   fills the machine, or until the machine's memory holds it, but never below the smallest size of the manifest.
// - Else the smallest size of the manifest that fills the machine, or the default if none does.
Size measured_size(const Chapter& chapter, const Machine& machine);

}  // namespace roofwalk
