// The figures of a kernel in a program's JSON, by name: "dram_bytes", "ai_by_level.dram", "counters.flops_f32".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_fwd.h"

namespace roofwalk {

struct Figure {
  std::string name;
  std::string text;             // "1024", "sm", "64x1x1"; empty for null
  std::optional<double> value;  // nullopt if it is no number
};

// All members of a kernel that are not null, in order; those of its objects have the object's name before a dot.
std::vector<Figure> figures_in(const Json& kernel);

// The number of that name; nullopt if the kernel has none. A counter's name may stand alone, as "flops_f32" may for
// "counters.flops_f32", and "time_ns" for "elapsed_ns".
std::optional<double> figure_of(const Json& kernel, std::string_view name);

}  // namespace roofwalk
