// The chart's colours, and quoting of text in gnuplot scripts.
#pragma once

#include <string>

namespace roofwalk {

// The palette of Okabe and Ito, which colour-blind readers can distinguish. Green is for goals only, vermillion for the
// walk.
inline constexpr const char* kInk = "#222222";
inline constexpr const char* kQuiet = "#666666";
inline constexpr const char* kGrid = "#ececec";
inline constexpr const char* kWalk = "#d55e00";
inline constexpr const char* kGoal = "#009e73";
inline constexpr const char* kGoalFill = "#def3eb";
inline constexpr const char* kGoalText = "#00755a";
inline constexpr const char* kWall = "#7a7a7a";

struct RoofStyle {
  const char* line;
  const char* text;  // darker if the line's colour is too light for text
};
RoofStyle roof_style(const std::string& level);

// Returns the colour as a number (0xd55e00 for "#d55e00"), blended with white: `share` 0 gives the colour itself, 1
// white.
int lighter(const char* colour, double share);
int rgb(const char* colour);

// Returns the text as a gnuplot string, including quotes. The text may contain any characters.
std::string quoted(const std::string& text);

}  // namespace roofwalk
