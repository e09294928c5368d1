// What kernels print.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/json_fwd.h"

namespace roofwalk {

// What kernels printed; on the virtual GPU in the order of launches, blocks and threads. Truncated if too long.
struct Printed {
  std::string text;
  std::uint64_t more_lines = 0;  // number of lines left out
  bool operator==(const Printed&) const = default;
};

Json to_json(const Printed& printed);

}  // namespace roofwalk
