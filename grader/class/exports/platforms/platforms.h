// What platforms read about one student's hand-in. Pure functions of the sheet; the head of each file states the rules
// of its format.
#pragma once

#include <string>

#include "common/base/json_fwd.h"
#include "grader/class/exports/platforms/sheet.h"

namespace roofwalk {

// GitLab's report of code quality, which puts each remark at its line of a merge request, and its report of tests.
Json to_code_quality(const Sheet& sheet);
std::string to_gitlab_junit(const Sheet& sheet);

// Gradescope's results.json.
Json to_gradescope(const Sheet& sheet);

// PrairieLearn's results.json.
Json to_prairielearn(const Sheet& sheet);

// What an autograder of Autolab prints. The last line has the scores.
std::string to_autolab(const Sheet& sheet);

// What vpl_execution prints for Moodle's VPL. The grade is a percentage.
std::string to_vpl(const Sheet& sheet);

}  // namespace roofwalk
