// How large the measured problem of a chapter is on a machine.
#pragma once

#include "common/exercise/chapter.h"
#include "common/specs/machine.h"

namespace roofwalk {

// Whether the figures at DRAM mean what they say: the compulsory bytes are at least eight times the L2, so that what
// it keeps hardly shows, and the launch is at most 2.5 % of the time that a launch and those bytes at DRAM take. A
// launch that is not known, as of a GPU without a machine file, is taken to last 3 us.
bool fills(const Work& work, const Machine& machine);

// The size that the manifest names for this machine. For a machine that it does not name:
// - Where a goal asks for a share of the DRAM roof: the default, with its largest extent halved as long as it still
//   fills the machine, or until the machine's memory holds it, but never below the smallest size of the manifest.
// - Else the smallest size of the manifest that fills the machine, or the default if none does.
Size measured_size(const Chapter& chapter, const Machine& machine);

}  // namespace roofwalk
