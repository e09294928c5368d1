// The figures of a line as short texts, one per column. Used on the terminal and on the page.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "grader/profile/profile.h"

namespace roofwalk {

struct FigureCell {
  std::string text;     // empty: nothing to show
  bool is_bad = false;  // whether it is far from its ideal
};

struct FigureColumn {
  std::string_view title, meaning;  // title: "sectors"; meaning: a phrase for the legend
  int rank = 0;                     // columns with lower ranks are kept if not all have room
  FigureCell (*cell)(const Profile&, const LineFigures&);
};

// The columns in display order; the first is the time.
std::span<const FigureColumn> figure_columns();

// The column's phrase for a legend; empty if it has none. The column of waits shows short words; its phrase includes
// the meanings of those that occur in the profile.
std::string meaning_of(const FigureColumn& column, const Profile& profile);

// The time of a line in ns, for comparisons, because shares of two different totals cannot be compared.
FigureCell elapsed_cell(const Profile& profile, const LineFigures& figures);

// "16.5 of 2.5": sectors per request, and the fewest possible.
FigureCell sectors_cell(const Profile& profile, const LineFigures& figures);

// The source as shown: tabs are widened to the next multiple of four columns, and characters that are not harmless are
// replaced.
std::string shown_source(std::string_view source);

// Text for what belongs to no line: "(headers and the like: 8.2 k warp instructions)"; "(the launches)" of a program
// whose launches are in no line of the kernel's file.
std::string elsewhere_text(const LineFigures& figures);

// "17.5 ms (modelled), 4.19 M warp instructions, 35.7 MB at DRAM".
std::string totals_text(const Profile& profile);

}  // namespace roofwalk
