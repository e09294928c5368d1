// The roofs of the current device: measured by the kernels of common/roofs, and stored until something changes.
#pragma once

#include "common/measure/roof_rates.h"
#include "grader/rig/rig.h"

namespace roofwalk {

// Reads .cache/roofs if the roofs were measured before on the same machine with the same toolkit, program and
// kernels; otherwise, or if `fresh`, measures them now. Failing to store them is not an error. Errors: no toolkit;
// trouble with the device.
Result<RoofRates> measured_roofs(const Rig& rig, bool fresh = false);

// Replaces the data sheet's roofs by the measured ones. Every run does this, although it costs the very first one a
// second or two. If runs used the data sheet's roofs until somebody measures the roofs, the same kernel could pass on
// one day and fail on the next. Does nothing without a toolkit, because the kernels that measure roofs cannot be built
// then, nor can the learner's, whose build reports that better.
Status use_measured_roofs(Rig& rig);

}  // namespace roofwalk
