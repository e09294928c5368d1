// Which dots of a walk are drawn, and how dots that share a place are named.
#pragma once

#include <string>
#include <vector>

#include "common/plot/plot.h"

namespace roofwalk {

struct DrawnWalk {
  std::vector<PlotPoint> points;  // in order; the last is the newest
  std::vector<bool> gap_before;   // attempts between this point and the one before it are not drawn
  bool has_starter = false;       // points[0] is the starter
  std::size_t unplaced = 0;       // left out: no place on logarithmic axes
  std::size_t skipped = 0;        // left out: too many
};

DrawnWalk drawn_walk(const std::vector<PlotPoint>& walk);

// {"starter", "1", "2", "3", "7"} -> "starter, 1-3, 7".
std::string joined_labels(const std::vector<std::string>& labels);

}  // namespace roofwalk
