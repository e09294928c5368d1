// Selects the dots of a walk that are drawn, and names dots at the same place.
#pragma once

#include <string>
#include <vector>

#include "common/plot/plot.h"

namespace roofwalk {

struct DrawnWalk {
  std::vector<PlotPoint> points;  // in order; the last is the newest
  std::vector<bool> gap_before;   // attempts between this point and the previous one are not drawn
  bool has_starter = false;       // points[0] is the starter
  std::size_t unplaced = 0;       // left out, because they have no place on logarithmic axes
  std::size_t skipped = 0;        // left out, because there are too many
};

DrawnWalk drawn_walk(const std::vector<PlotPoint>& walk);

// Returns "starter, 1-3, 7" for {"starter", "1", "2", "3", "7"}.
std::string joined_labels(const std::vector<std::string>& labels);

}  // namespace roofwalk
