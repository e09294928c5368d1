// Runs the kernels of common/roofs on a device and tells how fast each was: bytes or FLOPs over elapsed time. Where the
// device has no such counter, bytes and FLOPs are what the kernel asks for by its text.
#pragma once

#include <optional>

#include "common/device/device.h"
#include "common/measure/roof_rates.h"

namespace roofwalk {

// common/roofs, compiled for the device.
struct Microkernels {
  Artifact memory;      // memory.cu
  Artifact arithmetic;  // arithmetic.cu
};

// The rate of one roof, in roof_unit(). Two runs, one four times as long as the other: their difference holds neither
// the launch nor the start and the end of the grid. Where time is measured and not modelled, each run is the fastest of
// a few, and is made longer until the difference is long against what a clock can tell. Sizes follow the machine:
// streams of several times the L2, a working set between L1 and L2, one that L1 holds, all the warps that a block may
// have on every SM. Nothing where the device has no such part: no tensor cores, no room between L1 and L2, an SM that
// does not hold one block; and nothing of L2 where its sectors are not counted, since L1 keeps some of them away.
// Errors: the device's own trouble, any other fault in a microkernel.
Result<std::optional<double>> measure_roof(Device& device, const Microkernels& kernels, Roof roof);

}  // namespace roofwalk
