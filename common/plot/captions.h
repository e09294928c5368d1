// The lines of text above and below the drawn chart.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/plot/plot.h"
#include "common/plot/walk.h"

namespace roofwalk {

// What is modelled, what the colours mean, what is not drawn.
std::string subtitle(const Chart& chart, const DrawnWalk& walk);

// "roofs: measured", or one by one where the sources differ; `has_promises`: the data sheet's are drawn beside them.
std::string roof_sources(const Chart& chart, bool has_promises);

// " (data sheet 3.35 TB/s)" where that is another figure than the roof's own, as people write them.
std::string promise(double rate, std::optional<double> data_sheet, std::string_view unit);

}  // namespace roofwalk
