#include "grader/class/hand_ins/zip/zip_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "grader/text/characters.h"

namespace roofwalk {
namespace {

// The name of an entry as libzip reads it: up to a zero byte, and from Info-ZIP's extra field "up" (a version, a
// checksum of the plain name, then the name in UTF-8) if the entry has one.
std::string_view name_in(std::string_view extra, std::string_view plain) {
  constexpr std::uint64_t kUtf8Name = 0x7075;
  constexpr std::size_t kFieldHead = 4, kBeforeName = 5;
  std::string_view name = plain;
  while (extra.size() >= kFieldHead) {
    const std::string_view field = extra.substr(kFieldHead).substr(0, static_cast<std::size_t>(number_at(extra, 2, 2)));
    if (number_at(extra, 0, 2) == kUtf8Name && field.size() > kBeforeName) name = field.substr(kBeforeName);
    extra.remove_prefix(kFieldHead + field.size());
  }
  return name.substr(0, name.find('\0'));
}

// libzip's hash of a name.
std::uint32_t libzip_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

// libzip's hash tables have a power of two of places, at most twice as many as this one for the entries of a class. So
// names that share a place there share one here.
constexpr std::uint32_t kPlaces = 1u << 15;

// The places of an entry in the hash table: whether libzip takes its plain name or the one in its extra field, and
// whether it converts the name, depends on more than is looked at here.
std::set<std::uint32_t> places_of(std::string_view plain, std::string_view extra) {
  std::set<std::uint32_t> places;
  for (const std::string_view name : {plain.substr(0, plain.find('\0')), name_in(extra, plain)}) {
    places.insert(libzip_hash(name) % kPlaces);
    if (!is_plain_text(name)) places.insert(libzip_hash(from_code_page_437(name)) % kPlaces);
  }
  return places;
}

}  // namespace

bool is_plain_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const Character one = character_at(text, i);
    if (!one.code || *one.code < ' ') return false;
    i += one.bytes;
  }
  return true;
}

std::string from_code_page_437(std::string_view name) {
  constexpr std::u16string_view kLow =
      u"\u263a\u263b\u2665\u2666\u2663\u2660\u2022\u25d8\u25cb\u25d9\u2642\u2640\u266a\u266b\u263c\u25ba"
      u"\u25c4\u2195\u203c\u00b6\u00a7\u25ac\u21a8\u2191\u2193\u2192\u2190\u221f\u2194\u25b2\u25bc";
  constexpr std::u16string_view kHigh =
      u"\u00c7\u00fc\u00e9\u00e2\u00e4\u00e0\u00e5\u00e7\u00ea\u00eb\u00e8\u00ef\u00ee\u00ec\u00c4\u00c5"
      u"\u00c9\u00e6\u00c6\u00f4\u00f6\u00f2\u00fb\u00f9\u00ff\u00d6\u00dc\u00a2\u00a3\u00a5\u20a7\u0192"
      u"\u00e1\u00ed\u00f3\u00fa\u00f1\u00d1\u00aa\u00ba\u00bf\u2310\u00ac\u00bd\u00bc\u00a1\u00ab\u00bb"
      u"\u2591\u2592\u2593\u2502\u2524\u2561\u2562\u2556\u2555\u2563\u2551\u2557\u255d\u255c\u255b\u2510"
      u"\u2514\u2534\u252c\u251c\u2500\u253c\u255e\u255f\u255a\u2554\u2569\u2566\u2560\u2550\u256c\u2567"
      u"\u2568\u2564\u2565\u2559\u2558\u2552\u2553\u256b\u256a\u2518\u250c\u2588\u2584\u258c\u2590\u2580"
      u"\u03b1\u00df\u0393\u03c0\u03a3\u03c3\u00b5\u03c4\u03a6\u0398\u03a9\u03b4\u221e\u03c6\u03b5\u2229"
      u"\u2261\u00b1\u2265\u2264\u2320\u2321\u00f7\u2248\u00b0\u2219\u00b7\u221a\u207f\u00b2\u25a0\u00a0";
  constexpr char16_t kHouse = u'\u2302';  // 0x7f
  static_assert(kLow.size() == ' ' - 1 && kHigh.size() == 0x80);
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_low = byte > 0 && byte < ' ';
    text += utf8_of(is_low ? kLow[byte - 1u] : byte >= 0x80 ? kHigh[byte - 0x80u] : byte == 0x7f ? kHouse : byte);
  }
  return text;
}

std::string why_costly(std::string_view bytes, const EntryList& list, const ZipCost& most) {
  constexpr std::size_t kMostAlike = 500;
  std::uint64_t name_bytes = 0, extra_bytes = 0;
  std::size_t alike = 0;
  std::vector<std::size_t> in_place(kPlaces);
  for_each_head(bytes, list, [&](std::uint64_t at, std::uint64_t) {
    const std::uint64_t name_size = number_at(bytes, at + 28, 2), extra_size = number_at(bytes, at + 30, 2);
    name_bytes += name_size;
    extra_bytes += extra_size;
    if (name_bytes > most.name_bytes || extra_bytes > most.extra_bytes) return false;
    const std::string_view behind = bytes.substr(static_cast<std::size_t>(at)).substr(kHeadBytes);
    const std::string_view plain = behind.substr(0, static_cast<std::size_t>(name_size));
    const std::string_view extra = behind.substr(plain.size()).substr(0, static_cast<std::size_t>(extra_size));
    for (const std::uint32_t place : places_of(plain, extra)) alike = std::max(alike, ++in_place[place]);
    return alike <= kMostAlike;
  });
  if (name_bytes > most.name_bytes) return fmt::format("has more than {} MiB of file names", most.name_bytes >> 20);
  if (extra_bytes > most.extra_bytes)
    return fmt::format("has more than {} MiB of extra fields", most.extra_bytes >> 20);
  return alike > kMostAlike ? fmt::format("has more than {} file names with the same hash", kMostAlike) : "";
}

}  // namespace roofwalk
