#include "common/plot/captions.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/plot/frame.h"
#include "common/roofline/si.h"

namespace roofwalk {

std::string subtitle(const Chart& chart, const DrawnWalk& walk) {
  std::string text = chart.time_is_modelled ? "times are modelled" : "times are measured";
  const auto modelled = std::count_if(walk.points.begin(), walk.points.end(), [](auto& p) { return p.modelled; });
  if (modelled > 0) {
    const bool all = modelled == static_cast<std::ptrdiff_t>(walk.points.size());
    text += all ? " (hollow dots)" : "; hollow dots: modelled, filled: measured";
  }
  if (std::any_of(walk.points.begin(), walk.points.end(), [](auto& p) { return p.accepted; })) {
    text += "; green: goals met";
  }
  if (std::any_of(walk.points.begin(), walk.points.end(), [](auto& p) { return p.older; })) {
    text += "; grey: an older model";
  }
  if (std::any_of(walk.points.begin(), walk.points.end(), [](auto& p) { return p.time_share > 0; }))
    text += "; area: share of the time";
  if (chart.library) text += fmt::format("; diamond: {}'s own kernel", chart.library->label);
  if (walk.skipped > 0) text += fmt::format("; {} attempts in between not drawn", walk.skipped);
  if (walk.unplaced > 0)
    text += fmt::format("; {} without {}, bytes or time not drawn", walk.unplaced, words_of(chart.roofs.unit).many);
  return text;
}

std::string roof_sources(const Chart& chart, bool has_promises) {
  std::vector<std::pair<std::string, std::string>> sources;
  for (const auto& roof : chart.roofs.memory) sources.emplace_back(upper_case(roof.level), roof.source);
  for (const auto& roof : chart.roofs.compute) sources.emplace_back(upper_case(roof.name), roof.source);
  const bool same = std::all_of(sources.begin(), sources.end(), [&](auto& s) { return s.second == sources[0].second; });
  std::string text;
  if (same) {
    text = sources[0].second.empty() ? "" : "roofs: " + sources[0].second;
  } else {
    for (const auto& [name, source] : sources) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, source);
  }
  return has_promises ? text + "; dashed: what the data sheet promises" : text;
}

std::string promise(double rate, std::optional<double> data_sheet, std::string_view unit) {
  if (!data_sheet || si_text(rate, unit) == si_text(*data_sheet, unit)) return {};
  return fmt::format(" (data sheet {})", si_text(*data_sheet, unit));
}

}  // namespace roofwalk
