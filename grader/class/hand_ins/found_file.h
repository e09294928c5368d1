// A file of a class where it was found, and what its name says before it is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

inline constexpr std::size_t kMostFileBytes = 64u << 20;   // of a zip inside a zip, and of metadata that is read
inline constexpr std::size_t kMostSourceBytes = 1u << 20;  // more does not compile (common/build/build.cpp)

// A file on disk or in a zip, not read yet. `read` gives at most `most_bytes`, else an error; `cost_bytes` grows by
// what was read and unpacked, even on an error: a file that cannot be read is not free.
struct Found {
  std::vector<std::string> parts;  // folders and the file's name, below the path that was given
  std::int64_t written_at_s = 0;
  std::function<Result<std::string>(std::size_t most_bytes, std::size_t& cost_bytes)> read;
};

bool is_source(const std::string& name);  // NAME.cu
bool is_zip(const std::string& name);
bool is_debris(const std::string& name);  // left behind by systems and tools: never a student's

// Never follows a link or waits for a pipe. Errors: not a plain file, larger than `most_bytes`.
Result<std::string> read_plain_file(const std::filesystem::path& path, std::size_t most_bytes);

// Found::read for a file on disk.
decltype(Found::read) reader_of(std::filesystem::path path);

// "a/./b\\..\\c.cu" -> a, b, c.cu: only names, none of which leads anywhere.
struct EntryPlace {
  std::vector<std::string> parts;  // if there are too many, the first ones and the last
  bool leads_up = false;           // it held a ".."
};
EntryPlace place_of_entry(const std::string& name);

}  // namespace roofwalk
