// The roofs of the current device: measured by the kernels of common/roofs, and stored until something changes.
#pragma once

#include "common/measure/roof_rates.h"
#include "grader/rig/rig.h"

namespace roofwalk {

// Reads .cache/roofs if the roofs were measured before on the same machine with the same toolkit, program and
// kernels; otherwise, or if `fresh`, measures them now. Failing to store them is not an error. Errors: no toolkit;
// trouble with the device.
Result<RoofRates> measured_roofs(const Rig& rig, bool fresh = false);

// Replaces the data sheet's roofs by the measured ones. The very first run already does this, which costs it one or
// two seconds: if the data sheet's roofs were used until someone measures them, the same kernel could pass on one day
// and fail on the next. Without a toolkit nothing changes, because nothing can be built then, and the build reports
// that better.
Status use_measured_roofs(Rig& rig);

}  // namespace roofwalk
