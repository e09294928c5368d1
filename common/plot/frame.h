// Used by both the drawn chart and the text plot: axis ranges, and the roofs and the goal as curves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/plot/plot.h"

namespace roofwalk {

// Both axes are logarithmic; the ends are positive. `x` in FLOP/byte, `y` in FLOP/s.
struct Frame {
  double x_low = 0, x_high = 0, y_low = 0, y_high = 0;

  // x_share and y_share return 0 at the low end of the axis, 1 at the high end.
  double x_share(double ai) const;
  double y_share(double flops_per_s) const;
  double x_decades() const;
  double y_decades() const;
  std::vector<double> x_ticks() const;  // powers of ten
  std::vector<double> y_ticks() const;
};

// Returns a frame that contains every point, the ridge (if there is one), the wall and the goal, with margins; x in
// whole decades.
Frame frame_of(const Chart& chart, const std::vector<PlotPoint>& points);

double bandwidth(const Chart& chart);  // of the chart's level, bytes/s
double peak(const Chart& chart);       // of the first compute roof, FLOP/s; infinity if memory roofs apply alone
double ridge(const Chart& chart);      // where the two intersect, FLOP/byte; infinity if memory roofs apply alone
double roof_at(const Chart& chart, double ai);

// The goal region, clipped to the roof and the wall.
struct GoalOutline {
  std::vector<Point> lower, upper;  // left to right, with the same AIs in both
};
std::optional<GoalOutline> goal_outline(const Chart& chart, const Frame& frame);

// Returns the chart with only the memory roofs that are drawn: its own level's, and higher ones. A lower one would
// belong to another level's AI, and dots may stand above it. Of roofs that would lie on each other, only one is drawn.
Chart with_drawn_roofs(Chart chart);

// Returns "DRAM" for "dram".
std::string upper_case(std::string text);

}  // namespace roofwalk
