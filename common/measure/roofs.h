// The roofs that a machine's data sheet promises.
#pragma once

#include "common/roofline/roofline.h"
#include "common/specs/machine.h"

namespace roofwalk {

Roofs roofs_of(const Machine& machine);

}  // namespace roofwalk
