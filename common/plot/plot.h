// Draws a roofline: as a gnuplot script with its SVG or PNG, and as a text plot for the terminal.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/roofline/roofline.h"

namespace roofwalk {

struct PlotPoint {
  std::string label;  // "starter", "reference", "3"
  Point point;
  bool modelled = true;   // drawn hollow
  bool accepted = false;  // met its goals
  bool older = false;     // modelled by another version of the model: drawn grey
  double time_share = 0;  // > 0: of the time of all dots; the dot's area is in proportion to it
};

// The region that meets the goals: AI is at least min_ai, and FLOP/s are at least share_of_roof x roof(ai) and at
// least min_flops_per_s.
struct GoalRegion {
  double min_ai = 0;           // 0: no bound
  double share_of_roof = 0;    // 0: no bound
  double min_flops_per_s = 0;  // 0: no bound
  std::string label;           // "pass"
};

// The roofs must contain the chart's level and one compute roof, unless they are of memory only. A dot without a place
// on logarithmic axes (its AI or FLOP/s is not positive and finite) is left out, and the chart says so. If there are
// more than 12 dots, only the starter, the fastest and the last 10 are drawn.
struct Chart {
  std::string title;  // "vector-add on virtual:classroom (n=1048576)"
  std::string level;  // "dram": names the x axis and selects the memory roof for the points
  Roofs roofs;
  std::optional<double> algorithmic_ai;  // the right-hand wall
  std::optional<GoalRegion> goal;
  std::vector<PlotPoint> walk;       // in order; the starter first
  std::optional<PlotPoint> library;  // a library's own kernel: a diamond beside the walk, without arrows; must have a
                                     // place on logarithmic axes
  std::string baseline = "starter";  // what the first dot is called: "reference" if the starter has none
  bool time_is_modelled = true;
  bool is_walk = true;            // false: unordered dots, drawn without arrows and with equal weight
  bool is_of_useful_work = true;  // false: the dots have all work that was executed; what is useful is not known
};

// Returns the complete gnuplot script, including data, without calling gnuplot. The script is the same on every machine
// and writes to `output`'s file name in gnuplot's working folder. `terminal` is "svg" or "pngcairo".
std::string gnuplot_script(const Chart& chart, const std::filesystem::path& output, const std::string& terminal);

// Writes PATH (.svg or .png) and the script next to it (.gp), creating folders. An SVG has light and dark colours, as
// the reader prefers. Errors: another extension; a folder that cannot be written; gnuplot is missing or fails, with its
// message.
Status write_plot(const Chart& chart, const std::filesystem::path& path);

// Returns a plot of exactly `columns` x `rows` ASCII characters (at least 40 x 12), with a newline after each row;
// `color` adds ANSI escapes. Does not use gnuplot.
std::string text_plot(const Chart& chart, int columns, int rows, bool color);

}  // namespace roofwalk
