// The figures of a line as short texts, one column each: what the terminal and the page show alike.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "grader/profile/profile.h"

namespace roofwalk {

struct FigureCell {
  std::string text;     // empty: nothing to tell
  bool is_bad = false;  // far from what it could be
};

struct FigureColumn {
  std::string_view title, meaning;  // "sectors"; a phrase for the legend
  int rank = 0;                     // what tells most comes first where not all fit
  FigureCell (*cell)(const Profile&, const LineFigures&);
};

// In the order in which they stand. The first is the time.
std::span<const FigureColumn> figure_columns();

// The column's phrase for a legend; of waits with the words that are used and do not explain themselves. Empty where it
// has none.
std::string meaning_of(const FigureColumn& column, const Profile& profile);

// The time of a line in ns, for comparisons: shares of two different wholes would tell nothing.
FigureCell elapsed_cell(const Profile& profile, const LineFigures& figures);

// "16.5 of 2.5": sectors of a request, and the fewest that would do.
FigureCell sectors_cell(const Profile& profile, const LineFigures& figures);

// Source as it is shown: tabs widened to four columns, everything that is no text made harmless.
std::string shown_source(std::string_view source);

// For code that no line owns: "(headers and the like: 8.2 k warp instructions)".
std::string elsewhere_text(const LineFigures& figures);

// "17.5 ms (modelled), 4.19 M warp instructions, 35.7 MB at DRAM".
std::string totals_text(const Profile& profile);

}  // namespace roofwalk
