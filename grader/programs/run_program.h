// Runs a program of the user's own in the foreground: its output, input and signals are its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

// Returns its exit code, 128 + the signal that ended it. Signals to this process go to the program, so that this
// process outlives it. Error: it cannot be found or started.
Result<int> run_in_foreground(const std::vector<std::string>& command,
                              const std::map<std::string, std::string>& environment);

// The value with which a variable becomes `first`, then its old entries.
std::string put_first(const char* variable, const std::string& first, char separator);

}  // namespace roofwalk
