// Draws a roofline: a gnuplot script and its SVG or PNG, and a text plot for the terminal.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/roofline/roofline.h"

namespace roofwalk {

struct PlotPoint {
  std::string label;  // "starter", "3"
  Point point;
  bool modelled = true;   // hollow
  bool accepted = false;  // met its goals
};

// The region that meets the goals: everything right of min_ai and above both share x roof(ai) and min_flops.
struct GoalRegion {
  double min_ai = 0;           // 0: no bound
  double share_of_roof = 0;    // 0: no bound
  double min_flops_per_s = 0;  // 0: no bound
  std::string label;           // "pass"
};

// The roofs must hold the chart's level and one compute roof. A dot with no place on logarithmic axes (an AI or FLOP/s
// that is not positive and finite) is left out, and the chart says so; of more than 12 dots only the starter, the
// fastest and the last 10 are drawn.
struct Chart {
  std::string title;  // "vector-add on virtual:classroom (n=1048576)"
  std::string level;  // "dram": names the x axis, picks the slanted roof that the points belong to
  Roofs roofs;
  std::optional<double> algorithmic_ai;  // the right-hand wall
  std::optional<GoalRegion> goal;
  std::vector<PlotPoint> walk;  // in order; the first is the starter
  bool time_is_modelled = true;
  bool is_walk = true;  // else dots without an order: a picture without arrows, each dot as good as the others
};

// The whole gnuplot script, data inside; needs no gnuplot to make, and is the same on every machine. It writes to
// `output`'s file name in the folder where gnuplot runs. `terminal` is "svg" or "pngcairo".
std::string gnuplot_script(const Chart& chart, const std::filesystem::path& output, const std::string& terminal);

// Writes PATH (.svg or .png) and the script beside it (.gp), folders included. Errors: another ending, a folder that
// cannot be written, gnuplot missing or failing, with its message.
Status write_plot(const Chart& chart, const std::filesystem::path& path);

// A plot of exactly `columns` x `rows` ASCII characters (at least 40 x 12), a newline after each row; `color` adds ANSI
// escapes. Never uses gnuplot.
std::string text_plot(const Chart& chart, int columns, int rows, bool color);

}  // namespace roofwalk
