#include "tests/gpu/ncu.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace roofwalk::test {
namespace {

// Returns the quoted fields of a CSV line.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  for (std::size_t at = 0; (at = line.find('"', at)) != std::string::npos;) {
    const std::size_t end = line.find('"', at + 1);
    if (end == std::string::npos) break;
    fields.push_back(line.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return fields;
}

}  // namespace

Result<std::map<std::string, double>> metrics_of_ncu(const std::string& output) {
  std::vector<std::string> names, values;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    const auto fields = fields_of(line);
    if (fields.empty()) continue;
    if (fields.front() == "ID") {
      names = fields;
    } else if (fields.size() == names.size() && !fields.front().empty()) {  // the line with units has no ID
      values = fields;
    }
  }
  if (values.empty()) return Error{.message = "ncu reports no kernel: " + output.substr(0, 400)};
  std::map<std::string, double> metrics;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].find("__") == std::string::npos) continue;
    std::string digits = values[i];
    digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
    metrics[names[i]] = std::strtod(digits.c_str(), nullptr);
  }
  return metrics;
}

}  // namespace roofwalk::test
