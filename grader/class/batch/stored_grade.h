// Rows of the grade store.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/json.h"

namespace roofwalk {

// The result of one grading. The key is a hash of everything on which it depends: the submission's bytes, the
// chapter, the grader, the machine, the seeds and sizes. The same key gives the same grade.
struct StoredGrade {
  std::int64_t id = 0;
  std::string key;
  std::int64_t round = 1;  // 2 and more: graded again on request
  std::string chapter, source_sha256;
  std::string graded_at = {};  // UTC, ISO 8601; set by add()
  Json result = {};            // "roofwalk.grade/1": the attempt and its scales
  std::string plot = {};       // SVG; empty if there is no dot
  std::string profile = {};    // a page; empty if nothing was measured
};

struct StoredFault {
  std::string key, reason, at;
  std::int64_t round = 1;
};

}  // namespace roofwalk
