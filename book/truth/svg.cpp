#include "book/truth/svg.h"

#include <fmt/format.h>

#include "grader/text/markup.h"

namespace roofwalk::book {

void Svg::box(double x, double y, double width, double height, std::string_view fill, std::string_view edge) {
  shapes_ +=
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" stroke=\"{}\"/>\n", x,
                  y, width, height, fill, edge);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view color, double width,
               std::string_view dashes) {
  shapes_ += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n", x1, y1,
      x2, y2, color, width, dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes));
}

void Svg::dot(double x, double y, double radius, std::string_view color) {
  shapes_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\"/>\n", x, y, radius, color);
}

void Svg::text(double x, double y, std::string_view words, std::string_view color, Align align, double size) {
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  shapes_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n",
                         x, y, size, kAnchors[static_cast<int>(align)], color, escaped(words));
}

std::string Svg::file() const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "font-family=\"DejaVu Sans, Verdana, sans-serif\">\n<rect width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "fill=\"{2}\"/>\n{3}"
      "</svg>\n",
      width_, height_, kPaper, shapes_);
}

}  // namespace roofwalk::book
