// The roofs of the device at hand: measured by the kernels of common/roofs, and kept until something changes.
#pragma once

#include "common/measure/roof_rates.h"
#include "grader/rig/bench.h"

namespace roofwalk {

// From .cache/roofs where they were measured before on the same machine, by the same toolkit, program and kernels; else
// measured now, unless the caller asks for `fresh` ones, which are measured in any case. What cannot be kept is no
// error. Errors: no toolkit, the device's own trouble.
Result<RoofRates> measured_roofs(const Bench& bench, bool fresh = false);

// Puts the measured roofs in place of the data sheet's. Whatever is judged or drawn is held against them from the very
// first run on, at the cost of a second or two once: were the data sheet used until somebody asks for the roofs, the
// same kernel would pass on one day and fail on the next. Without a toolkit nothing changes: nothing can be built then,
// and the build says so better.
Status use_measured_roofs(Bench& bench);

}  // namespace roofwalk
