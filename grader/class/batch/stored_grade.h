// Rows of the store of grades.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/json.h"

namespace roofwalk {

// What one grading gave. The key is a hash of all that it depends on: the submission's bytes, the chapter, the grader,
// the machine, the seeds and sizes. The same key again is the same grade again.
struct StoredGrade {
  std::int64_t id = 0;
  std::string key;
  std::int64_t round = 1;  // 2 and more: graded again because somebody asked for it
  std::string chapter, source_sha256;
  std::string graded_at = {};  // UTC, ISO 8601; add() fills it in
  Json result = {};            // "roofwalk.grade/1": the attempt and its scales
  std::string plot = {};       // SVG; empty where there is no dot
  std::string profile = {};    // a page; empty where nothing was measured
};

struct StoredFault {
  std::string key, reason, at;
  std::int64_t round = 1;
};

}  // namespace roofwalk
