// The roofs of the current device: measured by the kernels of common/roofs, and kept until something changes.
#pragma once

#include "common/measure/roof_rates.h"
#include "grader/rig/rig.h"

namespace roofwalk {

// Reads .cache/roofs if the roofs were measured before on the same machine by the same toolkit, program and kernels;
// otherwise, or if `fresh`, measures them now. Failure to keep them is no error. Errors: no toolkit; trouble with the
// device.
Result<RoofRates> measured_roofs(const Rig& rig, bool fresh = false);

// Replaces the data sheet's roofs by the measured ones. This is done from the very first run on, at the cost of a
// second or two once: if the data sheet's roofs were used until someone measures them, the same kernel could pass on
// one day and fail on the next. Without a toolkit nothing changes: nothing can be built then, and the build reports
// that better.
Status use_measured_roofs(Rig& rig);

}  // namespace roofwalk
