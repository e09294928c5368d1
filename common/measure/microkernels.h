// Runs the kernels of common/roofs on a device and measures their rates: bytes or FLOPs per time. On a device without
// the counters, bytes and FLOPs follow from the kernel's source.
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

// Returns the rate of one roof, in roof_unit(). It is computed from the difference of two runs, one four times as long
// as the other, which excludes the launch and the start and end of the grid. If time is measured and not modelled, each
// run is the fastest of several, and runs get longer until the difference is well above the clock's resolution. Sizes
// depend on the machine: streams are at least as large as L2; working sets are between L1 and L2 or fit in L1. Kernels
// other than streams run one block per SM, of 4 or 8 warps per scheduler or as many as a block may have. nullopt if the
// device has no such part: no tensor cores, no size between L1 and L2, an SM that cannot hold one block. nullopt also
// for L2 if its sectors are not counted, because L1 serves some of the loads. Errors: trouble of the device, or any
// other fault in a microkernel.
Result<std::optional<double>> measure_roof(Device& device, const Microkernels& kernels, Roof roof);

}  // namespace roofwalk
