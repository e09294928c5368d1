// What it costs libzip to open a zip, from the zip's list of entries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "grader/class/hand_ins/zip/zip_records.h"

namespace roofwalk {

// Limits on all names and all extra fields of an archive.
struct ZipCost {
  std::uint64_t name_bytes, extra_bytes;
};
inline constexpr ZipCost kOwnCost = {2u << 20, 4u << 20};      // of a student's archive
inline constexpr ZipCost kClassCost = {32u << 20, 16u << 20};  // of a class's: 800 bytes of name for each entry

// Returns why an archive must not be given to libzip; empty if it is harmless. libzip compares each name with the
// others in its place of a hash table, and stores each extra field separately, so an archive of a few hundred kilobytes
// could cost minutes or gigabytes. Students choose names in a class's archive, too.
std::string why_costly(std::string_view bytes, const EntryList& list, const ZipCost& most);

// Whether the text is UTF-8 without control characters.
bool is_plain_text(std::string_view text);

// The name in UTF-8 as libzip takes it if it is not UTF-8: in code page 437, in which control characters are pictures.
std::string from_code_page_437(std::string_view name);

}  // namespace roofwalk
