// Assertions that also run in release builds: correct results matter more than the time that checks take.
#pragma once

namespace roofwalk {

// Prints "file:line: check failed: expression" to stderr and exits with code 3, for faults of this program.
[[noreturn]] void check_failed(const char* file, int line, const char* expression);

}  // namespace roofwalk

#define ROOFWALK_CHECK(expression) \
  (static_cast<bool>(expression) ? void(0) : ::roofwalk::check_failed(__FILE__, __LINE__, #expression))
