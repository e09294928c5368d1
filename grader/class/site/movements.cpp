#include "grader/class/site/movements.h"

#include <fmt/format.h>

#include <array>

#include "grader/class/site/html.h"
#include "grader/course/prediction.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

// The directions in the order in which they are shown.
enum class Way { both, right, up, stayed, back };
struct WayWords {
  Way way;
  const char* words;
};
constexpr std::array<WayWords, 5> kWays = {{{Way::both, "right and up"},
                                            {Way::right, "right"},
                                            {Way::up, "up"},
                                            {Way::stayed, "less than 10 % either way"},
                                            {Way::back, "left or down"}}};

Way way_of(const Movement& moved) {
  constexpr double kMovedBack = 1 / 1.1;
  if (const auto direction = direction_of(moved)) {
    return *direction == Direction::both ? Way::both : *direction == Direction::right ? Way::right : Way::up;
  }
  return moved.right <= kMovedBack || moved.up <= kMovedBack ? Way::back : Way::stayed;
}

}  // namespace

std::string movements_html(const std::vector<MovedDot>& dots, const std::string& from) {
  if (dots.empty()) return {};
  std::string counts, rows;
  for (const auto& [way, words] : kWays) {
    std::size_t count = 0;
    std::string who;
    for (const MovedDot& dot : dots) {
      if (way_of(dot.moved) != way) continue;
      ++count;
      who +=
          fmt::format("{}{} ({} right, {} up{})", who.empty() ? "" : "; ", escaped(dot.shown), factor(dot.moved.right),
                      factor(dot.moved.up), dot.kind == "none" ? "" : fmt::format(", {}", dot.kind));
    }
    if (count == 0) continue;
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, words);
    rows += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", words, who);
  }
  return fmt::format(
      "<details>\n<summary>From the {}: {}</summary>\n<table>\n<tbody>\n{}</tbody>\n</table>\n</details>\n",
      escaped(from), counts, rows);
}

}  // namespace roofwalk
