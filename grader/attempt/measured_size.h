// The size of a chapter's measured problem on a machine.
#pragma once

#include "common/exercise/chapter.h"
#include "common/specs/machine.h"

namespace roofwalk {

// Whether a size is large enough for figures at DRAM. The compulsory bytes must be at least eight times the L2, so
// that L2 hits are negligible. The launch overhead must be at most 2.5 % of the sum of itself and the time of these
// bytes at DRAM. If the overhead is unknown (a GPU without a machine file), 3 us are assumed.
bool fills(const Work& work, const Machine& machine);

// The size in the manifest for this machine. For a machine that the manifest does not name:
// - If a goal is a share of the DRAM roof: the default size, with its largest extent halved as often as it still
//   fills the machine, and until the machine's memory can hold it, but not below the smallest size of the manifest.
// - Otherwise the smallest size of the manifest that fills the machine, or the default if none does.
Size measured_size(const Chapter& chapter, const Machine& machine);

}  // namespace roofwalk
