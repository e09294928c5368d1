// The lines of text above and below the drawn chart.
#pragma once

#include <string>

#include "common/plot/plot.h"
#include "common/plot/walk.h"

namespace roofwalk {

// What is modelled, what the colours mean, what is not drawn.
std::string subtitle(const Chart& chart, const DrawnWalk& walk);

// "roofs: data sheet", or one by one where the sources differ.
std::string roof_sources(const Chart& chart);

}  // namespace roofwalk
