// Which files of a chapter the quick check runs beside the starter and the last step. A file names itself by a line
// `// quick` right below its first line.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

inline constexpr std::string_view kQuickLine = "// quick";

// The dodge, a kernel that is correct and does without the chapter's idea: the wrong solution that names itself, else
// the first by name whose verdict is `fail`. Errors: no wrong solution has that verdict, several name themselves, or
// the one that does has another verdict.
Result<std::filesystem::path> quick_dodge(const std::vector<std::filesystem::path>& wrong_solutions);

// The idiom, the idea as a good engineer would write it first: the step that names itself, else the first. Errors:
// there are no steps, or several name themselves.
Result<std::filesystem::path> quick_idiom(const std::vector<std::filesystem::path>& steps);

}  // namespace roofwalk
