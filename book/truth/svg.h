// Builds an SVG of a given size from shapes and text, in the colours of the charts.
#pragma once

#include <string>
#include <string_view>

#include "common/plot/style.h"

namespace roofwalk::book {

inline constexpr const char* kPaper = "#ffffff";
inline constexpr const char* kLine = "#b5b5b5";
inline constexpr const char* kEmpty = "#f1f1f1";
inline constexpr const char* kBlue = "#0072b2";
inline constexpr const char* kPaleBlue = "#cfe6f5";
inline constexpr const char* kPaleOrange = "#f9dcc4";

enum class Align { start, middle, end };

class Svg {
 public:
  Svg(double width, double height) : width_(width), height_(height) {}

  void box(double x, double y, double width, double height, std::string_view fill, std::string_view edge);
  void line(double x1, double y1, double x2, double y2, std::string_view color, double width = 1,
            std::string_view dashes = {});
  void dot(double x, double y, double radius, std::string_view color);
  void text(double x, double y, std::string_view words, std::string_view color = kInk, Align align = Align::start,
            double size = 14);

  // Returns the whole SVG file.
  std::string file() const;

 private:
  double width_, height_;
  std::string shapes_;
};

}  // namespace roofwalk::book
