// The files of a chapter that the quick check runs in addition to the starter and the last step. The line `// quick`
// directly below a file's first line marks it.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

inline constexpr std::string_view kQuickLine = "// quick";

// The dodge, a correct kernel without the chapter's idea: the marked wrong solution, otherwise the first by name with
// verdict `fail`. Errors: no wrong solution has that verdict, several are marked, or the marked one has another
// verdict.
Result<std::filesystem::path> quick_dodge(const std::vector<std::filesystem::path>& wrong_solutions);

// The idiom, the chapter's idea as a good engineer would write it at first: the marked step, otherwise the first.
// Errors: there are no steps, or several are marked.
Result<std::filesystem::path> quick_idiom(const std::vector<std::filesystem::path>& steps);

}  // namespace roofwalk
