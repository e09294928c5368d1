// Hardware counters of what a GPU runs between two marks.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

struct RangeValues {
  std::string name;
  std::map<std::string, double> metrics;  // NaN: not available
};

class RangeCounters {
 public:
  virtual ~RangeCounters() = default;

  // Runs `pass` once for each pass the set needs. What it launches between begin(name) and end() is counted.
  struct Pass {
    virtual ~Pass() = default;
    virtual Status begin(const std::string& name) = 0;
    virtual Status end() = 0;
  };
  virtual Result<std::vector<RangeValues>> count(const std::function<Status(Pass&)>& pass) = 0;
};

}  // namespace roofwalk
