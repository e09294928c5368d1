// Unusual zip files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "grader/class/hand_ins/archive.h"
#include "grader/course/course.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk::test {

// How a zip stores the number of its entries: modulo 65,536, as Info-ZIP does, or in a zip64 record.
enum class SaidCount { modulo, in_64_bits };

inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>((value >> (8 * i)) & 0xff);
  return text;
}

// Returns a zip with `count` entries that all refer to the same file.
inline std::string zip_of_many(std::size_t count, const std::function<std::string(std::size_t)>& name,
                               const std::string& file, SaidCount said = SaidCount::modulo) {
  const ScratchFolder folder;
  if (!write_archive(folder.path() / "one.zip", {{"x", file}})) return {};
  std::string bytes = file_text(folder.path() / "one.zip");
  const std::size_t list = bytes.rfind("PK\1\2");
  std::string head = bytes.substr(list, 46);
  head.replace(30, 4, std::string(4, '\0'));  // no comment or other fields
  bytes.resize(list);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string called = name(i);
    bytes += head.replace(28, 2, little_endian(called.size(), 2)) + called;
  }
  const std::size_t end = bytes.size();
  const bool is_64 = said == SaidCount::in_64_bits;
  if (is_64) {
    bytes += "PK\6\6" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) + little_endian(0, 8) +
             little_endian(count, 8) + little_endian(count, 8) + little_endian(end - list, 8) + little_endian(list, 8);
    bytes += "PK\6\7" + little_endian(0, 4) + little_endian(end, 8) + little_endian(1, 4);
  }
  const std::string here = little_endian(is_64 ? 0xffff : count % 65536, 2);
  return bytes + "PK\5\6" + little_endian(0, 4) + here + here + little_endian(is_64 ? ~0u : end - list, 4) +
         little_endian(is_64 ? ~0u : list, 4) + little_endian(0, 2);
}

}  // namespace roofwalk::test
