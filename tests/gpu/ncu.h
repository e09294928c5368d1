// Reads what NVIDIA's profiler ncu reports about a kernel.
#pragma once

#include <map>
#include <string>

#include "common/base/result.h"

namespace roofwalk::test {

// Returns the metrics, by name, of the last kernel in the output of `ncu --csv --page raw --print-units base`. Fails if
// the output contains no kernel.
Result<std::map<std::string, double>> metrics_of_ncu(const std::string& output);

}  // namespace roofwalk::test
