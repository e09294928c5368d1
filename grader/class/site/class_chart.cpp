#include "grader/class/site/class_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common/plot/frame.h"
#include "common/roofline/si.h"
#include "grader/class/site/html.h"

namespace roofwalk {
namespace {

constexpr double kWidth = 720, kHeight = 440, kLeft = 76, kRight = 28, kTop = 16, kBottom = 74;

struct Kind {
  const char* name;
  const char* words;
};
constexpr std::array<Kind, 4> kKinds = {
    {{"starter", "starter"}, {"none", "no pass"}, {"pass", "pass"}, {"ace", "ace"}}};

struct Place {
  double x = 0, y = 0;
};

Place place_of(const Frame& frame, const Point& point) {
  return {kLeft + frame.x_share(point.ai) * (kWidth - kLeft - kRight),
          kHeight - kBottom - frame.y_share(point.flops_per_s) * (kHeight - kTop - kBottom)};
}

std::string ticks(const Frame& frame) {
  std::string svg;
  for (const double ai : frame.x_ticks()) {
    const Place p = place_of(frame, {ai, frame.y_low});
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}V{2}\"/><text x=\"{0:.1f}\" y=\"{3:.1f}\" "
        "text-anchor=\"middle\">{4}</text>\n",
        p.x, p.y, kTop, p.y + 26, number_text(ai));
  }
  for (const double flops : frame.y_ticks()) {
    const Place p = place_of(frame, {frame.x_low, flops});
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{0} {1:.1f}H{2}\"/><text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        kLeft, p.y, kWidth - kRight, kLeft - 6, p.y + 4, si_text(flops, ""));
  }
  return svg;
}

std::string roof(const Chart& chart, const Frame& frame) {
  std::string path;
  // Without a flat roof, the slope ends where it leaves the frame.
  const bool is_flat = !chart.roofs.is_memory_only;
  const double bend = is_flat ? ridge(chart) : frame.y_high / bandwidth(chart);
  std::vector<double> ais = {frame.x_low, std::clamp(bend, frame.x_low, frame.x_high)};
  if (is_flat) ais.push_back(frame.x_high);
  for (const double ai : ais) {
    const Place p = place_of(frame, {ai, std::clamp(roof_at(chart, ai), frame.y_low, frame.y_high)});
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", p.x, p.y);
  }
  return fmt::format("<path class=\"roof\" d=\"{}\"/>\n", path);
}

// The legend is HTML text below the picture, because text in the picture cannot wrap, and shrinks with the picture.
std::string legend(const std::vector<ClassDot>& dots, const std::string& baseline) {
  std::string html;
  for (const Kind& kind : kKinds) {
    const auto count =
        std::count_if(dots.begin(), dots.end(), [&](const ClassDot& dot) { return dot.kind == kind.name; });
    if (count == 0) continue;
    const std::string words =
        std::string_view(kind.name) == "starter" ? baseline : fmt::format("{} {}", count, kind.words);
    html += fmt::format("<span class=\"key\" data-kind=\"{}\">{}</span>\n", kind.name, words);
  }
  return html;
}

}  // namespace

std::string class_chart(const Chart& chart, const std::vector<ClassDot>& dots, bool is_walk) {
  std::vector<PlotPoint> points;
  for (const ClassDot& dot : dots) points.push_back({"", dot.point, true, false});
  const Frame frame = frame_of(chart, points);
  std::string svg = fmt::format(
      "<figure>\n<svg class=\"roofline\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth, kHeight,
      escaped(fmt::format("{}: {} dot{} under the {} roof", chart.title, dots.size(), dots.size() == 1 ? "" : "s",
                          upper_case(chart.level))));
  svg += ticks(frame) + roof(chart, frame);
  if (is_walk && dots.size() > 1) {
    std::string path;
    for (const ClassDot& dot : dots) {
      const Place p = place_of(frame, dot.point);
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", p.x, p.y);
    }
    svg += fmt::format("<path class=\"walk\" d=\"{}\"/>\n", path);
  }
  for (const ClassDot& dot : dots) {
    const Place p = place_of(frame, dot.point);
    svg += fmt::format("<circle class=\"dot {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"{}\n", dot.kind, p.x, p.y,
                       dot.kind == "starter" ? 6 : 5,
                       dot.who.empty() ? "/>" : fmt::format("><title>{}</title></circle>", escaped(dot.who)));
    if (!dot.label.empty())
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", p.x + 8, p.y - 6, escaped(dot.label));
  }
  svg += fmt::format(
      "<text x=\"{0}\" y=\"{1}\">useful {5}</text>\n"
      "<text x=\"{2}\" y=\"{3}\" text-anchor=\"end\">useful {6} per byte that moves at {4}</text>\n</svg>\n",
      kLeft + 8, kTop + 18, kWidth - kRight, kHeight - 12, upper_case(chart.level),
      words_of(chart.roofs.unit).per_second, words_of(chart.roofs.unit).many);
  svg += "<figcaption>" + legend(dots, chart.baseline) + "</figcaption>\n</figure>\n";
  return svg;
}

}  // namespace roofwalk
