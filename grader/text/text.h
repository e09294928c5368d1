// Words and columns for the terminal. Whatever a learner wrote is made harmless before it is printed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roofwalk {

// Control characters (escape sequences among them) and bytes that are no UTF-8 become \xNN, marks that turn or hide
// text \uNNNN; a tab becomes a space.
std::string printable(std::string_view text);

// 12582912 -> "12,582,912".
std::string grouped(double count);

// 9.27 -> "x9.27".
std::string factor(double value);

// Lines of at most `columns` columns, broken at spaces; a longer word stays whole. Colours take none, and must not span
// words.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

// Text of several lines, made harmless: indented lines are code and stay as they are, the others are paragraphs,
// wrapped afresh.
std::vector<std::string> paragraphs(const std::string& text, std::size_t columns);

// Columns that a line takes on a terminal: colours take none.
std::size_t shown_columns(std::string_view line);

// A line cut to `columns`; colours stay whole, and none goes on behind the cut.
std::string cut_to(std::string_view line, std::size_t columns);

// With spaces behind it up to `columns`.
std::string padded(std::string_view text, std::size_t columns);

// Without the blanks at both ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t");

// At most `columns` characters, the last three dots where something was cut.
std::string shortened(std::string_view text, std::size_t columns);

// The candidates that a person may have meant, closest first, at most three.
std::vector<std::string> near_names(std::string_view typed, const std::vector<std::string>& candidates);

// ANSI colours, or nothing.
class Colors {
 public:
  explicit Colors(bool on) : on_(on) {}
  bool on() const { return on_; }
  std::string good(std::string_view text) const { return paint("32", text); }
  std::string bad(std::string_view text) const { return paint("31", text); }
  std::string caution(std::string_view text) const { return paint("33", text); }
  std::string strong(std::string_view text) const { return paint("1", text); }
  std::string faint(std::string_view text) const { return paint("2", text); }

 private:
  std::string paint(std::string_view code, std::string_view text) const;
  bool on_;
};

// On a terminal whose user has not said NO_COLOR.
bool wants_color();

}  // namespace roofwalk
