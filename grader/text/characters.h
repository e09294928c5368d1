// UTF-8 characters, and the characters that must not reach a terminal or a page.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace roofwalk {

struct Character {
  std::optional<char32_t> code;  // nullopt: a byte that is not UTF-8
  std::size_t bytes = 1;
};

// Decodes the character that begins at `at`, which must be within the text.
Character character_at(std::string_view text, std::size_t at);

// Encodes a character as UTF-8.
std::string utf8_of(char32_t code);

// False for control characters (C0, DEL, C1), characters that control text direction, line separators and invisible
// characters. Joiners are harmless: some scripts, and emoji, need them.
bool is_harmless(char32_t code);

}  // namespace roofwalk
