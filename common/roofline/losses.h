// Divides the lost time, which is the time beyond what the algorithm needs, among causes; each part of it goes to one
// cause only.
#pragma once

#include <vector>

#include "common/roofline/cause.h"

namespace roofwalk {

struct Loss {
  const Cause* cause = nullptr;
  double ns = 0;
  bool is_bytes = false;  // mostly unnecessary DRAM bytes: the dot is too far left, not too low
};

// Returns the losses, largest first, including small ones. If the parts of the time are unknown, the cause with the
// strongest evidence gets all of the lost time.
std::vector<Loss> losses(const DiagnosisInput& input);

}  // namespace roofwalk
