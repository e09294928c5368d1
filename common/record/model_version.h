// The version of the virtual GPU's model.
#pragma once

namespace roofwalk {

// Raised by each change after which a kernel may have another modelled time or other counts; figures of different
// versions are not compared. 1: until November 2026. 2: blocks are dispatched at a rate, L1 by banks and tags, shared
// memory at the machine code's widths, atomics in turns. 3: DRAM by pages and by its mixture of reads and writes, L2 in
// two halves, shared memory's own lanes. 4: shared memory as ptxas merges it across iterations of a loop.
// 5: whatever an atomic or an mbarrier tells makes its warp wait for the warp that wrote it; __nanosleep(); additions
// of 1 to shared memory count lanes.
inline constexpr int kModelVersion = 5;

}  // namespace roofwalk
