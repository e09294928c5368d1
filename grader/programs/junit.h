// What was judged, as JUnit XML, which CI systems show beside a change.
#pragma once

#include <string>
#include <vector>

#include "grader/programs/conditions.h"

namespace roofwalk {

// A case for each kernel and condition, and one for the faults. In the subset on which Jenkins' and Ant's schemas
// agree: testsuites > testsuite > testcase > at most one of skipped, failure.
std::string junit_text(const std::string& command, const std::vector<Judged>& judged,
                       const std::vector<std::string>& faults);

}  // namespace roofwalk
