#include "common/plot/walk.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace roofwalk {
namespace {

constexpr std::size_t kMostPoints = 12;
constexpr std::size_t kLastPoints = 10;

bool drawable(double value) { return std::isfinite(value) && value > 0; }

// Returns the label as a number, or -1.
int number_of(const std::string& label) {
  int number = -1;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
  return error == std::errc() && end == label.data() + label.size() ? number : -1;
}

}  // namespace

DrawnWalk drawn_walk(const std::vector<PlotPoint>& walk) {
  std::vector<std::size_t> placed;
  for (std::size_t i = 0; i < walk.size(); ++i) {
    if (drawable(walk[i].point.ai) && drawable(walk[i].point.flops_per_s)) placed.push_back(i);
  }
  std::vector<std::size_t> kept = placed;
  if (placed.size() > kMostPoints) {
    const auto last = placed.end() - kLastPoints;
    const auto best = std::max_element(placed.begin() + 1, placed.end(), [&](std::size_t a, std::size_t b) {
      return walk[a].point.flops_per_s < walk[b].point.flops_per_s;
    });
    kept = {placed.front()};
    if (best < last) kept.push_back(*best);
    kept.insert(kept.end(), last, placed.end());
  }
  DrawnWalk drawn;
  drawn.unplaced = walk.size() - placed.size();
  drawn.skipped = placed.size() - kept.size();
  drawn.has_starter = !kept.empty() && kept.front() == 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    drawn.points.push_back(walk[kept[i]]);
    drawn.gap_before.push_back(i > 0 && kept[i] != kept[i - 1] + 1);
  }
  return drawn;
}

std::string joined_labels(const std::vector<std::string>& labels) {
  std::string text;
  for (std::size_t i = 0; i < labels.size();) {
    std::size_t end = i + 1;  // end of the run of consecutive numbers that starts here
    while (end < labels.size() && number_of(labels[i]) >= 0 &&
           number_of(labels[end]) == number_of(labels[i]) + static_cast<int>(end - i)) {
      ++end;
    }
    if (end - i < 3) end = i + 1;  // "1, 2" reads better than "1-2"
    if (!text.empty()) text += ", ";
    text += end - i == 1 ? labels[i] : labels[i] + "-" + labels[end - 1];
    i = end;
  }
  return text;
}

}  // namespace roofwalk
