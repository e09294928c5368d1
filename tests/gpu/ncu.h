// Reads what NVIDIA's own profiler reports about a kernel, if it is available.
#pragma once

#include <map>
#include <string>

#include "common/base/result.h"

namespace roofwalk::test {

// Metrics of the last kernel in the output of `ncu --csv --page raw --print-units base`, by name. Errors: no kernel.
Result<std::map<std::string, double>> metrics_of_ncu(const std::string& output);

}  // namespace roofwalk::test
