// Short names of kernels: those of templates of a library can take hundreds of letters.
#pragma once

#include <string>
#include <string_view>

namespace roofwalk::cudart {

// The name without namespaces: "DeviceScanKernel<int, ...>" of cub's. `name` is a demangled one without parameters, or,
// if that would be too long, the mangled one; of such a one, the template's arguments are left out, too.
std::string short_kernel_name(std::string_view name);

}  // namespace roofwalk::cudart
