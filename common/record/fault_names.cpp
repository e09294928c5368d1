#include "common/record/fault_names.h"

#include "common/record/fault.h"

namespace roofwalk {

std::vector<std::string_view> fault_names() {
  std::vector<std::string_view> names;
  for (int kind = 0; kind <= static_cast<int>(FaultKind::resource); ++kind) {
    names.push_back(fault_name(static_cast<FaultKind>(kind)));
  }
  return names;
}

}  // namespace roofwalk
