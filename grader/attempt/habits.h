// Features of a kernel that decide how its measurement is judged.
#pragma once

#include <vector>

#include "grader/attempt/trial.h"
#include "grader/rig/rig.h"

namespace roofwalk {

// Features that a kernel uses. The virtual GPU finds them at the small sizes, because a real GPU may have no counter
// for them.
struct Habits {
  bool adds_by_atomics = false, multiplies_on_tensor_cores = false;

  void add(const std::vector<Trial>& trials);
};

// Whether the measured run multiplied on tensor cores. A real GPU does not count products of integers, so there the
// code of the launched kernels decides.
Result<bool> multiplies_on_tensor_cores(const Rig& rig, const RunRecord& record, const Artifact& artifact,
                                        const Habits& habits);

}  // namespace roofwalk
