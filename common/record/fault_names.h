// The names of all kinds of faults, for those who read one.
#pragma once

#include <string_view>
#include <vector>

namespace roofwalk {

std::vector<std::string_view> fault_names();  // as of fault_name(), in the order of FaultKind

}  // namespace roofwalk
