#include "common/plot/dark.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "common/base/pattern.h"

namespace roofwalk {
namespace {

using Color = std::array<double, 3>;  // red, green, blue, 0 to 1

constexpr double kDarkest = 0.08, kLightest = 0.92;  // a dark page is not quite black, and its text is not quite white

// Inverts a colour's HSL lightness, within kDarkest and kLightest. Hue and saturation stay the same.
Color turned(const Color& color) {
  const auto [low, high] = std::minmax_element(color.begin(), color.end());
  const double lightness = (*low + *high) / 2, spread = *high - *low;
  const double room = 1 - std::abs(2 * lightness - 1);
  const double saturation = room > 0 ? spread / room : 0;
  const double wanted = kDarkest + (1 - lightness) * (kLightest - kDarkest);
  const double chroma = saturation * (1 - std::abs(2 * wanted - 1));
  Color out{};
  for (std::size_t i = 0; i < 3; ++i) {
    out[i] = spread > 0 ? wanted - chroma / 2 + (color[i] - *low) / spread * chroma : wanted;
  }
  return out;
}

std::string hex_of(const Color& color) {
  std::string text = "#";
  for (const double channel : color) text += fmt::format("{:02x}", static_cast<int>(std::lround(255 * channel)));
  return text;
}

Color color_of(const Pattern::Groups& match) {
  if (!match[1].empty()) {
    const auto value = std::stoul(match[1], nullptr, 16);
    return {static_cast<double>(value >> 16 & 255) / 255, static_cast<double>(value >> 8 & 255) / 255,
            static_cast<double>(value & 255) / 255};
  }
  if (!match[2].empty()) return {std::stod(match[2]) / 255, std::stod(match[3]) / 255, std::stod(match[4]) / 255};
  return match[5] == "white" ? Color{1, 1, 1} : Color{0, 0, 0};
}

// A colour as gnuplot and our own drawings write it. Groups: hexadecimal digits; red, green, blue; a name.
const std::string kColor =
    R"((?:#([0-9a-fA-F]{6})\b|rgb\(\s*(\d{1,3}),\s*(\d{1,3}),\s*(\d{1,3})\s*\)|\b(black|white)\b))";

std::string dark_of_match(const Pattern::Groups& match) { return hex_of(turned(color_of(match))); }

constexpr std::string_view kSheet = "<style>@media (prefers-color-scheme: dark) {\n";
constexpr std::string_view kSheetEnd = "}</style>\n";

}  // namespace

std::string dark_of(const std::string& svg) {
  static const Pattern kPattern(kColor);
  return kPattern.replace_each(svg, dark_of_match);
}

std::string with_dark_scheme(const std::string& svg) {
  static const Pattern kAttribute(R"(\b(fill|stroke|color) ?= ?("[#a-zA-Z0-9(), ]+"|'[#a-zA-Z0-9(), ]+'))");
  std::set<std::string> rules;
  for (const Pattern::Groups& match : kAttribute.search_all(svg)) {
    const std::string dark = dark_of(match[2]);
    if (dark == match[2]) continue;  // "none", "currentColor"
    rules.insert(fmt::format("[{}={}] {{ {}: {} }}\n", match[1], match[2], match[1], dark.substr(1, dark.size() - 2)));
  }
  const std::size_t tag = svg.find("<svg"), end = tag == std::string::npos ? tag : svg.find('>', tag);
  if (end == std::string::npos || rules.empty()) return svg;
  std::string sheet(kSheet);
  for (const std::string& rule : rules) sheet += rule;
  return svg.substr(0, end + 1) + sheet + std::string(kSheetEnd) + svg.substr(end + 1);
}

std::string without_dark_scheme(const std::string& svg) {
  const std::size_t begin = svg.find(kSheet);
  if (begin == std::string::npos) return svg;
  const std::size_t end = svg.find(kSheetEnd, begin);
  return end == std::string::npos ? svg : svg.substr(0, begin) + svg.substr(end + kSheetEnd.size());
}

}  // namespace roofwalk
