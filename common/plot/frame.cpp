#include "common/plot/frame.h"

#include <algorithm>
#include <cmath>

namespace roofwalk {
namespace {

constexpr double kMarginDecades = 0.2;      // between the outermost element and the frame
constexpr double kRoofMarginDecades = 0.4;  // above the compute roof, for its label
constexpr double kFewestDecades = 3;

std::vector<double> decades_between(double low, double high) {
  std::vector<double> ticks;
  for (int e = static_cast<int>(std::ceil(std::log10(low) - 1e-9)); e <= std::floor(std::log10(high) + 1e-9); ++e) {
    ticks.push_back(std::pow(10.0, e));
  }
  return ticks;
}

double share(double value, double low, double high) { return std::log10(value / low) / std::log10(high / low); }

// Returns the FLOP/s that the goal requires at this AI: the highest of its bounds, because all must be met; the bottom
// of the frame if the goal has no bounds.
double goal_floor(const Chart& chart, const Frame& frame, double ai) {
  const GoalRegion& goal = *chart.goal;
  return std::max({goal.share_of_roof * roof_at(chart, ai), goal.min_flops_per_s, frame.y_low});
}

}  // namespace

double Frame::x_share(double ai) const { return share(ai, x_low, x_high); }
double Frame::y_share(double flops_per_s) const { return share(flops_per_s, y_low, y_high); }
double Frame::x_decades() const { return std::log10(x_high / x_low); }
double Frame::y_decades() const { return std::log10(y_high / y_low); }
std::vector<double> Frame::x_ticks() const { return decades_between(x_low, x_high); }
std::vector<double> Frame::y_ticks() const { return decades_between(y_low, y_high); }

double bandwidth(const Chart& chart) {
  const MemoryRoof* roof = chart.roofs.memory_roof(chart.level);
  ROOFWALK_CHECK(roof != nullptr && roof->bytes_per_s > 0);
  return roof->bytes_per_s;
}

double peak(const Chart& chart) {
  const auto peak = chart.roofs.peak();
  ROOFWALK_CHECK(peak && *peak > 0);
  return *peak;
}

double ridge(const Chart& chart) { return ridge_flops_per_byte(bandwidth(chart), peak(chart)); }

double roof_at(const Chart& chart, double ai) { return attainable_flops_per_s(ai, bandwidth(chart), peak(chart)); }

Frame frame_of(const Chart& chart, const std::vector<PlotPoint>& points) {
  double x_least = ridge(chart), x_most = x_least;
  double y_most = peak(chart), y_least = y_most;
  if (chart.roofs.is_memory_only) x_most = y_most = 0;
  const auto hold_x = [&](double ai) {
    x_least = std::min(x_least, ai);
    x_most = std::max(x_most, ai);
  };
  const auto hold_y = [&](double flops_per_s) {
    y_least = std::min(y_least, flops_per_s);
    y_most = std::max(y_most, flops_per_s);
  };
  const auto hold = [&](const PlotPoint& p) {
    hold_x(p.point.ai);
    hold_y(p.point.flops_per_s);
    hold_y(roof_at(chart, p.point.ai));
  };
  std::for_each(points.begin(), points.end(), hold);
  if (chart.library) hold(*chart.library);
  if (chart.algorithmic_ai && *chart.algorithmic_ai > 0) hold_x(*chart.algorithmic_ai);
  if (chart.goal && chart.goal->min_ai > 0) hold_x(chart.goal->min_ai);
  if (chart.roofs.is_memory_only) {
    if (x_most == 0) hold_x(1);  // a chart with nothing in it but the roofs
    hold_y(roof_at(chart, x_most));
  }
  for (const ComputeRoof& roof : chart.roofs.compute) {
    hold_y(roof.flops_per_s);
    hold_y(roof.data_sheet_flops_per_s.value_or(roof.flops_per_s));
  }

  double x_low = std::floor(std::log10(x_least) - kMarginDecades);
  double x_high = std::ceil(std::log10(x_most) + kMarginDecades);
  while (x_high - x_low < kFewestDecades) {
    // Widen the side with less margin.
    if (x_high - std::log10(x_most) < std::log10(x_least) - x_low) {
      x_high += 1;
    } else {
      x_low -= 1;
    }
  }
  const double y_high = std::log10(y_most) + kRoofMarginDecades;
  const double y_low = std::min(std::floor(std::log10(y_least) - kMarginDecades), std::floor(y_high - kFewestDecades));
  return {.x_low = std::pow(10.0, x_low),
          .x_high = std::pow(10.0, x_high),
          .y_low = std::pow(10.0, y_low),
          .y_high = std::pow(10.0, y_high)};
}

Chart with_drawn_roofs(Chart chart) {
  constexpr double kOnEachOther = 1.02;
  std::vector<MemoryRoof> drawn = {*chart.roofs.memory_roof(chart.level)};
  for (const MemoryRoof& roof : chart.roofs.memory) {
    const bool is_apart = std::ranges::all_of(drawn, [&](const MemoryRoof& other) {
      return std::max(roof.bytes_per_s, other.bytes_per_s) >
             kOnEachOther * std::min(roof.bytes_per_s, other.bytes_per_s);
    });
    if (is_apart && roof.bytes_per_s > drawn.front().bytes_per_s) drawn.push_back(roof);
  }
  chart.roofs.memory = std::move(drawn);
  return chart;
}

std::optional<GoalOutline> goal_outline(const Chart& chart, const Frame& frame) {
  if (!chart.goal) return std::nullopt;
  const GoalRegion& goal = *chart.goal;
  const double left = std::max(goal.min_ai, frame.x_low);
  double right = chart.algorithmic_ai ? std::min(*chart.algorithmic_ai, frame.x_high) : frame.x_high;
  if (chart.roofs.is_memory_only) right = std::min(right, frame.y_high / bandwidth(chart));
  // The AIs where an edge of the region may bend: between them, both edges are straight on logarithmic axes.
  std::vector<double> knots = {left, right, ridge(chart)};
  if (goal.min_flops_per_s > 0) {
    knots.push_back(goal.min_flops_per_s / bandwidth(chart));
    if (goal.share_of_roof > 0) knots.push_back(goal.min_flops_per_s / (goal.share_of_roof * bandwidth(chart)));
  }
  std::sort(knots.begin(), knots.end());
  GoalOutline outline;
  for (const double ai : knots) {
    if (ai < left || ai > right) continue;
    const double upper = roof_at(chart, ai), lower = goal_floor(chart, frame, ai);
    if (lower > upper * (1 + 1e-9)) continue;  // the roof is below the goal here
    outline.lower.push_back({.ai = ai, .flops_per_s = lower});
    outline.upper.push_back({.ai = ai, .flops_per_s = upper});
  }
  if (outline.lower.size() < 2 || outline.lower.front().ai >= outline.lower.back().ai) return std::nullopt;
  return outline;
}

std::string upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

}  // namespace roofwalk
