#include "book/truth/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common/base/hash.h"
#include "common/base/pattern.h"

namespace roofwalk::book {
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

constexpr std::string_view kSeal = "<!-- roofwalk: script ";

}  // namespace

std::string dark_of(const std::string& svg) {
  static const Pattern kColor(R"(#([0-9a-fA-F]{6})\b|rgb\(\s*(\d+),\s*(\d+),\s*(\d+)\s*\)|\b(black|white)\b)");
  return kColor.replace_each(svg.substr(0, svg.find(kSeal)),
                             [](const Pattern::Groups& match) { return hex_of(turned(color_of(match))); });
}

std::string sealed(const std::string& svg, const std::string& script) {
  return svg + fmt::format("{}{} picture {} -->\n", kSeal, sha256_hex(script), sha256_hex(svg));
}

std::string broken_seal(const std::string& picture, const std::string& script) {
  const std::size_t seal = picture.find(kSeal);
  if (seal == std::string::npos) return "no program drew it";
  const std::string svg = picture.substr(0, seal);
  if (picture.find("script " + sha256_hex(script)) == std::string::npos) return "another one would be drawn now";
  return picture == sealed(svg, script) ? "" : "it was changed after it was drawn";
}

}  // namespace roofwalk::book
