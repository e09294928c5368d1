// Demangled names of functions and variables.
#pragma once

#include <string>

namespace roofwalk::vgpu {

// The name without return type and parameters: "add" from "_Z3addPKfS0_Pfi", "scale<128>" from an instance of a
// template.
std::string display_name(const std::string& mangled);

}  // namespace roofwalk::vgpu
