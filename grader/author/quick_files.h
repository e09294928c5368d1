// The files of a chapter that the quick check runs besides the starter and the last step. A file is marked by the line
// `// quick` right below its first line.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

inline constexpr std::string_view kQuickLine = "// quick";

// The dodge, a correct kernel without the chapter's idea: the marked wrong solution, else the first by name whose
// verdict is `fail`. Errors: no wrong solution has that verdict, several are marked, or the marked one has another
// verdict.
Result<std::filesystem::path> quick_dodge(const std::vector<std::filesystem::path>& wrong_solutions);

// The idiom, the idea as a good engineer would first write it: the marked step, else the first. Errors: there are no
// steps, or several are marked.
Result<std::filesystem::path> quick_idiom(const std::vector<std::filesystem::path>& steps);

}  // namespace roofwalk
