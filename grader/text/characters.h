// The characters of a text in UTF-8, and which of them a stranger's text must not bring to a terminal or a page.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace roofwalk {

struct Character {
  std::optional<char32_t> code;  // nothing: a byte that is no UTF-8
  std::size_t bytes = 1;
};

// The one that begins at `at`, which is within the text.
Character character_at(std::string_view text, std::size_t at);

// A character in UTF-8.
std::string utf8_of(char32_t code);

// Not one of these: control characters (C0, DEL, C1), marks that turn the direction in which a text is read, separators
// of lines, marks that nobody sees. Joiners stay: some scripts, and emoji, cannot be written without them.
bool is_harmless(char32_t code);

}  // namespace roofwalk
