#include "grader/author/quick_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "grader/author/claims.h"
#include "grader/course/course.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

bool names_itself(const fs::path& file) {
  std::istringstream lines(file_text(file));
  std::string line;
  std::getline(lines, line);
  return std::getline(lines, line) && line == kQuickLine;
}

// The file with the `// quick` mark, if there is one.
Result<std::optional<fs::path>> named(const std::vector<fs::path>& files) {
  std::optional<fs::path> found;
  for (const fs::path& file : files) {
    if (!names_itself(file)) continue;
    if (found) {
      return Error{fmt::format("{} and {} both say `{}`: keep it in one of them", found->filename().string(),
                               file.filename().string(), kQuickLine)};
    }
    found = file;
  }
  return found;
}

bool misses_a_goal(const fs::path& wrong_solution) {
  const std::string text = file_text(wrong_solution);
  const auto claim = parse_wrong_claim(text.substr(0, text.find('\n')));
  return claim && claim->verdict == verdict_name(Verdict::fail);
}

}  // namespace

Result<fs::path> quick_dodge(const std::vector<fs::path>& wrong_solutions) {
  ROOFWALK_TRY(const auto chosen, named(wrong_solutions));
  if (chosen && !misses_a_goal(*chosen)) {
    return Error{fmt::format("{} says `{}`, and its verdict is not fail", chosen->filename().string(), kQuickLine)};
  }
  if (chosen) return *chosen;
  const auto first = std::find_if(wrong_solutions.begin(), wrong_solutions.end(), misses_a_goal);
  if (first == wrong_solutions.end()) return Error{"no wrong solution has the verdict fail: add one"};
  return *first;
}

Result<fs::path> quick_idiom(const std::vector<fs::path>& steps) {
  ROOFWALK_TRY(const auto chosen, named(steps));
  if (chosen) return *chosen;
  if (steps.empty()) return Error{"there is no solution step"};
  return steps.front();
}

}  // namespace roofwalk
