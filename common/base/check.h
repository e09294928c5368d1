// Assertions that stay on in release builds: the grader is never so hot that it may be wrong.
#pragma once

namespace roofwalk {

// Prints "file:line: check failed: expression" to stderr and exits with code 3 (our own fault).
[[noreturn]] void check_failed(const char* file, int line, const char* expression);

}  // namespace roofwalk

#define ROOFWALK_CHECK(expression) \
  (static_cast<bool>(expression) ? void(0) : ::roofwalk::check_failed(__FILE__, __LINE__, #expression))
