#include "grader/profile/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "grader/text/text.h"

namespace roofwalk {
namespace {

std::vector<std::string> sources(const Profile& profile) {
  std::vector<std::string> lines;
  for (const ProfileLine& line : profile.lines) lines.push_back(line.source);
  return lines;
}

}  // namespace

std::vector<LinePair> matched(const std::vector<std::string>& was, const std::vector<std::string>& now) {
  constexpr std::size_t kMostCells = 16'000'000;
  const auto same = [&](std::size_t i, std::size_t j) { return trimmed(was[i]) == trimmed(now[j]); };
  const auto pair = [](std::size_t i, std::size_t j) { return LinePair{static_cast<int>(i), static_cast<int>(j)}; };
  std::size_t first = 0, was_end = was.size(), now_end = now.size();
  std::vector<LinePair> pairs;
  for (; first < std::min(was_end, now_end) && same(first, first); ++first) pairs.push_back(pair(first + 1, first + 1));
  while (was_end > first && now_end > first && same(was_end - 1, now_end - 1)) {
    --was_end;
    --now_end;
  }
  // common[i * columns + j]: length of the longest common subsequence of was[first + i ...] and now[first + j ...].
  const std::size_t rows = was_end - first + 1, columns = now_end - first + 1;
  std::vector<std::uint32_t> common(rows * columns <= kMostCells ? rows * columns : 0);
  const bool is_known = !common.empty();
  if (is_known) {
    for (std::size_t i = rows - 1; i-- > 0;) {
      for (std::size_t j = columns - 1; j-- > 0;) {
        common[i * columns + j] = same(first + i, first + j)
                                      ? common[(i + 1) * columns + j + 1] + 1
                                      : std::max(common[(i + 1) * columns + j], common[i * columns + j + 1]);
      }
    }
  }
  std::size_t i = 0, j = 0;
  while (i + 1 < rows || j + 1 < columns) {
    const bool both = i + 1 < rows && j + 1 < columns;
    if (is_known && both && same(first + i, first + j)) {
      pairs.push_back(pair(first + ++i, first + ++j));
    } else if (i + 1 < rows && (!both || !is_known || common[(i + 1) * columns + j] >= common[i * columns + j + 1])) {
      pairs.push_back(pair(first + ++i, 0));
    } else {
      pairs.push_back(pair(0, first + ++j));
    }
  }
  for (; was_end < was.size(); ++was_end, ++now_end) pairs.push_back(pair(was_end + 1, now_end + 1));
  return pairs;
}

std::vector<LinePair> matched(const Profile& was, const Profile& now) { return matched(sources(was), sources(now)); }

std::string speed_up(const Profile& was, const Profile& now) {
  const double before = was.attempt.measurement->elapsed_ns.value, after = now.attempt.measurement->elapsed_ns.value;
  constexpr double kAlike = 1.01;
  if (std::max(before, after) < kAlike * std::min(before, after)) return "as fast";
  return before > after ? factor(before / after) + " faster" : factor(after / before) + " slower";
}

}  // namespace roofwalk
