// How far a call that grades a class is, and what it did.
#pragma once

#include <cstddef>
#include <string>

namespace roofwalk {

struct GradeProgress {
  std::size_t done = 0, all = 0;
  std::size_t faults = 0;  // faults of this program so far; after its first one, a submission is tried again
  double elapsed_s = 0;
};

struct GradeSummary {
  std::size_t graded = 0;    // by this call
  std::size_t already = 0;   // number of named submissions that were graded before
  std::size_t faults = 0;    // number of submissions still without a grade
  std::string last_trouble;  // the last fault's reason
};

}  // namespace roofwalk
