#include "common/plot/style.h"

#include <cmath>

namespace roofwalk {

RoofStyle roof_style(const std::string& level) {
  if (level == "dram") return {"#0072b2", "#0072b2"};
  if (level == "l2") return {"#cc79a7", "#a34d7e"};
  if (level == "l1") return {"#56b4e9", "#2a7aab"};
  return {"#999999", "#666666"};
}

// Uses single quotes, because gnuplot does not expand such strings. A single quote inside, even a doubled one, may end
// the string (gnuplot 5.4), so it becomes a typographic apostrophe. Control characters would break the script's lines.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "\u2019";
    } else {
      out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return out + "'";
}

int rgb(const char* colour) { return static_cast<int>(std::stoul(colour + 1, nullptr, 16)); }

int lighter(const char* colour, double share) {
  const int value = rgb(colour);
  int out = 0;
  for (const int shift : {16, 8, 0}) {
    const int channel = (value >> shift) & 255;
    out |= static_cast<int>(std::lround(channel + share * (255 - channel))) << shift;
  }
  return out;
}

}  // namespace roofwalk
