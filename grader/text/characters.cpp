#include "grader/text/characters.h"

#include <algorithm>
#include <array>
#include <utility>

namespace roofwalk {

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + bytes > text.size()) return {};
  char32_t code = first & (0x7fu >> bytes);
  for (std::size_t i = at + 1; i < at + bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  // The lowest code by length; a lower code is an overlong encoding.
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[bytes] || code > 0x10ffff || is_surrogate) return {};
  return {code, bytes};
}

std::string utf8_of(char32_t code) {
  constexpr char32_t kPart = 0x3f;  // the payload of a continuation byte
  if (code < 0x80) return {static_cast<char>(code)};
  std::string tail;
  const auto shift = [&] {
    tail.insert(tail.begin(), static_cast<char>(0x80 | (code & kPart)));
    code >>= 6;
  };
  shift();
  char32_t first = 0xc0, room = 0x20;  // the first byte's mark, and the number of codes that fit into it
  for (; code >= room; first |= room, room >>= 1) shift();
  return static_cast<char>(first | code) + tail;
}

bool is_harmless(char32_t code) {
  // Unicode's Bidi_Control, Line_Separator and Paragraph_Separator; those Default_Ignorable_Code_Points that no
  // script needs; the Hangul fillers and the Braille blank, which are invisible. Variation selectors are allowed,
  // because Japanese names contain them.
  constexpr std::array<std::pair<char32_t, char32_t>, 19> kHarmful = {{{0x00, 0x1f},
                                                                       {0x7f, 0x9f},
                                                                       {0xad, 0xad},
                                                                       {0x34f, 0x34f},
                                                                       {0x61c, 0x61c},
                                                                       {0x115f, 0x1160},
                                                                       {0x17b4, 0x17b5},
                                                                       {0x180e, 0x180e},
                                                                       {0x200b, 0x200b},
                                                                       {0x200e, 0x200f},
                                                                       {0x2028, 0x202e},
                                                                       {0x2060, 0x206f},
                                                                       {0x2800, 0x2800},
                                                                       {0x3164, 0x3164},
                                                                       {0xfeff, 0xfeff},
                                                                       {0xffa0, 0xffa0},
                                                                       {0xfff9, 0xfffb},
                                                                       {0xfffe, 0xffff},
                                                                       {0xe0000, 0xe007f}}};
  return std::none_of(kHarmful.begin(), kHarmful.end(),
                      [&](const auto& range) { return code >= range.first && code <= range.second; });
}

}  // namespace roofwalk
