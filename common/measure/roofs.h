// The roofs of a machine for charts: DRAM, L2, L1 and shared memory, and the FP32 peak.
#pragma once

#include "common/measure/roof_rates.h"
#include "common/roofline/roofline.h"
#include "common/specs/machine.h"

namespace roofwalk {

// Returns the roofs of the data sheet.
Roofs roofs_of(const Machine& machine);

// Returns the measured roofs, with the data sheet's figures for comparison. A roof that was not measured is the data
// sheet's; one that has neither is left out.
Roofs roofs_of(const Machine& machine, const RoofRates& measured);

// Returns the peak of one kind of arithmetic (fp32, half2 or mma): the measured one if there is one.
ComputeRoof compute_roof_of(const Machine& machine, const RoofRates& measured, Roof roof);

}  // namespace roofwalk
