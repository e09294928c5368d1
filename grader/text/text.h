// Words and columns for the terminal. Text from learners must go through printable() or paragraphs() before it is
// printed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roofwalk {

// Replaces bytes that are not UTF-8 and characters that are not harmless (characters.h), such as escape sequences, by
// \xNN or \uNNNN; a tab becomes a space.
std::string printable(std::string_view text);

// 12582912 -> "12,582,912".
std::string grouped(double count);

// 9.27 -> "x9.27".
std::string factor(double value);

// Lines of at most `columns` columns, broken at spaces; a longer word is not broken. Colour codes take no columns,
// and must not span words.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

// Makes text of several lines harmless and wraps its paragraphs; indented lines are code and are not wrapped.
std::vector<std::string> paragraphs(const std::string& text, std::size_t columns);

// The columns that a line takes on a terminal; colour codes take none.
std::size_t shown_columns(std::string_view line);

// Cuts a line to `columns`. Colour codes are not cut, and colour ends at the cut.
std::string cut_to(std::string_view line, std::size_t columns);

// Pads with spaces on the right up to `columns`.
std::string padded(std::string_view text, std::size_t columns);

// Removes the blanks at both ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t");

// At most `columns` bytes; a text that was cut ends in "...".
std::string shortened(std::string_view text, std::size_t columns);

// At most three of the candidates, those most similar to the typed text, in decreasing order of similarity.
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

// Whether standard output is a terminal that can show colour and NO_COLOR is not set.
bool wants_color();

}  // namespace roofwalk
