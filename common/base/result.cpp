#include "common/base/result.h"

#include <cstdio>
#include <cstdlib>

namespace roofwalk {

std::string Error::text() const {
  std::string out;
  if (!file.empty()) {
    out += file;
    if (line > 0) out.append(":").append(std::to_string(line));
    out += ": ";
  }
  out += message;
  if (!advice.empty()) out.append(" (").append(advice).append(")");
  return out;
}

void check_failed(const char* file, int line, const char* expression) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, expression);
  std::fflush(stderr);
  std::_Exit(3);
}

}  // namespace roofwalk
