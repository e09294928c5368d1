// The roofs of a machine as a chart draws them: DRAM, L2, L1 and shared memory, and the FP32 peak.
#pragma once

#include "common/measure/roof_rates.h"
#include "common/roofline/roofline.h"
#include "common/specs/machine.h"

namespace roofwalk {

// As its data sheet promises them.
Roofs roofs_of(const Machine& machine);

// As they were measured, with the data sheet's figure beside each. A roof that was not measured is the data sheet's;
// one that neither tells is left out.
Roofs roofs_of(const Machine& machine, const RoofRates& measured);

// The peak of one kind of arithmetic (fp32, half2 or mma), measured where it was.
ComputeRoof compute_roof_of(const Machine& machine, const RoofRates& measured, Roof roof);

}  // namespace roofwalk
