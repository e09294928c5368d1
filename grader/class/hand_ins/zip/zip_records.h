// The records of a zip that list its entries, found without libzip, which trusts what they say of themselves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

namespace roofwalk {

// Records of an archive (PKWARE's APPNOTE, 4.3.12 to 4.3.16), and their sizes without the parts of variable length.
inline constexpr std::string_view kEntry = "PK\3\4", kEnd = "PK\5\6", kLocator = "PK\6\7", kEnd64 = "PK\6\6",
                                  kHead = "PK\1\2";
inline constexpr std::size_t kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56, kHeadBytes = 46,
                             kLongestComment = 0xffff;

struct EntryList {
  std::uint64_t at = 0, bytes = 0;
  std::uint64_t said_entries = 0;  // the number that the archive states, modulo 65,536 if it has only 16 bits for it
  bool is_64 = false;
};

// A number of `size` bytes, the lowest first. Bytes behind the end count as zero.
std::uint64_t number_at(std::string_view bytes, std::uint64_t at, std::size_t size);

bool stands_at(std::string_view bytes, std::uint64_t at, std::string_view what);

// The list that the end record at `end` is about.
EntryList list_of(std::string_view bytes, std::size_t end);

// The position of the archive's end record. Only the record's comment comes behind it, and a few bytes that some
// programs append. Bytes that look like an end record may be part of any file in the archive. So this takes the last
// record that states the true place of the list; if there is none, the last one whose comment ends the file or, failing
// that, the last one. If an archive follows other bytes, the list is not where its record says, so such an archive is
// refused. So is a class's archive that was cut off directly after an archive inside it.
std::optional<std::size_t> end_of(std::string_view bytes);

// Calls visit(place, bytes) for each entry of the list, until visit returns false. Ignores the number of entries that
// the archive states, because it may be wrong.
template <class Visit>
void for_each_head(std::string_view bytes, const EntryList& list, Visit&& visit) {
  std::uint64_t at = list.at, left = list.bytes;
  while (left >= kHeadBytes && stands_at(bytes, at, kHead)) {
    const std::uint64_t size =
        kHeadBytes + number_at(bytes, at + 28, 2) + number_at(bytes, at + 30, 2) + number_at(bytes, at + 32, 2);
    if (!visit(at, size)) return;
    at += size;
    left -= std::min(left, size);
  }
}

}  // namespace roofwalk
