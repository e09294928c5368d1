// Attributes the time that the algorithm does not need to causes, each part of it to one cause only.
#pragma once

#include <vector>

#include "common/roofline/cause.h"

namespace roofwalk {

struct Loss {
  const Cause* cause = nullptr;
  double ns = 0;
  bool is_bytes = false;  // mostly unnecessary bytes at DRAM: the dot is too far left, not too low
};

// Most first; small ones too. Without modelled parts all of what is lost is put down to the cause with most evidence.
std::vector<Loss> losses(const DiagnosisInput& input);

}  // namespace roofwalk
