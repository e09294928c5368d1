// A file of a class at the place where it was found, and the properties that its name gives before it is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

inline constexpr std::size_t kMostFileBytes = 64u << 20;   // limit for a zip inside a zip, and for metadata
inline constexpr std::size_t kMostSourceBytes = 1u << 20;  // larger sources do not compile (common/build/build.cpp)

// A file on disk or in a zip, not read yet. `read` returns the file's bytes, or an Error if there are more than
// `most_bytes`. It adds the number of bytes read and unpacked to `cost_bytes`, even on an Error, because a file that
// cannot be read also costs time.
struct Found {
  std::vector<std::string> parts;  // folders and the file's name, below the given path
  std::int64_t written_at_s = 0;
  std::function<Result<std::string>(std::size_t most_bytes, std::size_t& cost_bytes)> read;
};

bool is_source(const std::string& name);  // NAME.cu
bool is_zip(const std::string& name);
bool is_debris(const std::string& name);  // files that systems and tools leave behind: never a student's

// Reads a file, but never waits for a pipe, and follows no link among the last `own_parts` names of the path. Errors:
// not a plain file, or larger than `most_bytes`.
Result<std::string> read_plain_file(const std::filesystem::path& path, std::size_t most_bytes,
                                    std::size_t own_parts = 1);

// The function Found::read for a file on disk.
decltype(Found::read) reader_of(std::filesystem::path path, std::size_t own_parts = 1);

// What a backslash in an entry's name is. In some encodings of East Asian names, a character's second byte is a
// backslash; there only one behind an ASCII character separates names.
enum class Backslash : std::uint8_t { separates, separates_behind_ascii, is_text };

// The names in an entry's path. "." and ".." are dropped, not followed: "a/./b\\..\\c.cu" -> a, b, c.cu.
struct EntryPlace {
  std::vector<std::string> parts;  // if there are too many, the first ones and the last one
  bool leads_up = false;           // whether the name contained a ".."
};
EntryPlace place_of_entry(const std::string& name, Backslash backslash = Backslash::separates);

}  // namespace roofwalk
