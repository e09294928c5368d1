// The text above and below the drawn chart.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/plot/plot.h"
#include "common/plot/walk.h"

namespace roofwalk {

// Explains which figures are modelled, the colours, and which dots are not drawn.
std::string subtitle(const Chart& chart, const DrawnWalk& walk);

// Names the source of the roofs: "roofs: measured", or "DRAM: measured, FP32: data sheet" if the sources differ.
// `has_promises`: the data sheet's roofs are drawn as well, which the text then explains.
std::string roof_sources(const Chart& chart, bool has_promises);

// Returns " (data sheet 3.35 TB/s)" if that differs, as displayed, from the roof's own rate; otherwise empty.
std::string promise(double rate, std::optional<double> data_sheet, std::string_view unit);

}  // namespace roofwalk
