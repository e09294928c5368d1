// Demangled names of functions and variables.
#pragma once

#include <string>

namespace roofwalk::vgpu {

// "add" from "_Z3addPKfS0_Pfi", "scale<128>" from its template: the name without return type and parameters.
std::string display_name(const std::string& mangled);

}  // namespace roofwalk::vgpu
