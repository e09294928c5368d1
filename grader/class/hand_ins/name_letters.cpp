#include "grader/class/hand_ins/name_letters.h"

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "grader/text/characters.h"

namespace roofwalk {
namespace {

// Characters that do not show, or show as a space: Unicode's Space_Separator, joiners and non-joiners, variation
// selectors (Mongolian ones, too), and the format characters of musical notation.
bool is_unseen(char32_t code) {
  constexpr std::array<std::pair<char32_t, char32_t>, 10> kUnseen = {{{0xa0, 0xa0},
                                                                      {0x1680, 0x1680},
                                                                      {0x180b, 0x180f},
                                                                      {0x2000, 0x200f},
                                                                      {0x202f, 0x202f},
                                                                      {0x205f, 0x205f},
                                                                      {0x3000, 0x3000},
                                                                      {0xfe00, 0xfe0f},
                                                                      {0x1d173, 0x1d17a},
                                                                      {0xe0100, 0xe01ef}}};
  return !is_harmless(code) || std::any_of(kUnseen.begin(), kUnseen.end(), [&](const auto& range) {
    return code >= range.first && code <= range.second;
  });
}

}  // namespace

std::string small_letters(const std::string& text) {
  // The only locale that every C library has and that covers all alphabets.
  static const locale_t everywhere = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  constexpr wint_t kFinalSigma = 0x3c2, kSigma = 0x3c3;
  std::string small;
  for (std::size_t i = 0; i < text.size();) {
    const Character one = character_at(text, i);
    const auto code = static_cast<wint_t>(one.code.value_or(0));
    wint_t lower = everywhere != nullptr ? ::towlower_l(code, everywhere) : ::towlower(code);
    if (lower == kFinalSigma) lower = kSigma;  // both have the same capital
    small += one.code && lower != code ? utf8_of(static_cast<char32_t>(lower)) : text.substr(i, one.bytes);
    i += one.bytes;
  }
  return small;
}

std::string small_address(const std::string& address) {
  std::string small = address;
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return small;
}

std::string name_letters(const std::string& given) {
  // The base letters of U+00C0 to U+017F (Latin-1 Supplement, Latin Extended-A), by code point; a space: not a
  // letter.
  constexpr std::string_view kBase =
      "aaaaaaaceeeeiiiidnooooo ouuuuytsaaaaaaaceeeeiiiidnooooo ouuuuyty"
      "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuu"
      "uuuuww"
      "yyyzzzzzzs";
  static_assert(kBase.size() == 0x180 - 0xc0);
  const std::string name = small_letters(given);
  std::string letters;
  for (std::size_t i = 0; i < name.size();) {
    const Character one = character_at(name, i);
    const char32_t code = one.code.value_or(0xfffd);
    if (code < 0x80) {
      if (std::isalnum(static_cast<int>(code)) != 0) letters += static_cast<char>(code);
    } else if (code >= 0xc0 && code < 0xc0 + kBase.size()) {
      const char base = kBase[code - 0xc0];
      if (base != ' ') letters += base;
    } else if ((code < 0x300 || code > 0x36f) && !is_unseen(code)) {  // 0x300: Combining Diacritical Marks
      letters += name.substr(i, one.bytes);
    }
    i += one.bytes;
  }
  return letters;
}

std::string look_of_letters(const std::string& name) {
  // Small letters in the order of their code points: Greek from alpha, Cyrillic from a. Of letters of which only the
  // capital one looks Latin, what that one looks like; a space: neither does.
  constexpr char32_t kGreek = 0x3b1, kCyrillic = 0x430, kMoreCyrillic = 0x455;
  constexpr std::string_view kGreekLooks = "ab  ezh ikl mv op  tu xpw", kCyrillicLooks = "a b  e     kmhop ctyfx   ",
                             kMoreLooks = "sii j";
  constexpr char32_t kFullWidth = 0xff21, kFullWidthSmall = 0xff41;
  const std::string letters = name_letters(name);
  std::string look;
  for (std::size_t i = 0; i < letters.size();) {
    const Character one = character_at(letters, i);
    const char32_t code = one.code.value_or(0);
    char latin = ' ';
    const auto take = [&](char32_t first, std::string_view looks) {
      if (code >= first && code < first + looks.size()) latin = looks[code - first];
    };
    take(kGreek, kGreekLooks);
    take(kCyrillic, kCyrillicLooks);
    take(kMoreCyrillic, kMoreLooks);
    take(kFullWidth, "abcdefghijklmnopqrstuvwxyz");
    take(kFullWidthSmall, "abcdefghijklmnopqrstuvwxyz");
    look += latin == ' ' ? letters.substr(i, one.bytes) : std::string(1, latin);
    i += one.bytes;
  }
  return look;
}

}  // namespace roofwalk
