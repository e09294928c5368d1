// A zip made by a learner or a learning platform. It is read in memory, entry by entry. Nothing is unpacked to disk,
// so a name in it cannot overwrite a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

struct ArchiveEntry {
  enum class Kind { file, folder, link };
  std::string name;               // as in the archive: any bytes, with any number of slashes
  std::int64_t written_at_s = 0;  // seconds since 1970; a time without a zone is taken as local time
  std::uint64_t index = 0, packed_bytes = 0;
  Kind kind = Kind::file;
  bool is_utf8 = true;  // whether the name was UTF-8; if not, its encoding is unknown, and characters may be wrong
};

// Limits on the entries of a whole class's archive (500 students with 80 files each), and of a student's archive inside
// it.
inline constexpr std::size_t kMostClassEntries = 40'000, kMostOwnEntries = 20'000;

// The longest name of a file in a zip, with its folders: the longest path on a disk. Without this limit, a small zip
// may have thousands of names of 64 KiB, which take long to read.
inline constexpr std::size_t kLongestName = 4096;

class Archive {
 public:
  // Errors: not a zip, damaged, more than `most_entries` entries, or costly to open (zip_cost.h): names or extra fields
  // that are too long in total, or too many names with the same hash.
  static Result<Archive> open(const std::filesystem::path& file, std::size_t most_entries = kMostClassEntries);
  static Result<Archive> in_memory(std::string bytes, std::size_t most_entries = kMostOwnEntries);
  ~Archive();
  Archive(Archive&&) noexcept;

  const std::vector<ArchiveEntry>& entries() const { return entries_; }  // in the archive's order

  // The number of entries that entries() leaves out because their names are longer than kLongestName.
  std::size_t too_long() const { return too_long_; }

  // The entry's bytes. Errors: damaged, encrypted, or more than `most_bytes` when unpacked, whatever size its header
  // states. Adds the number of bytes read and unpacked to `cost_bytes`, even on an error.
  Result<std::string> read(const ArchiveEntry& entry, std::size_t most_bytes, std::size_t& cost_bytes) const;

 private:
  struct Served;
  struct Impl;
  explicit Archive(std::unique_ptr<Impl> impl);
  static Result<Archive> of_bytes(std::unique_ptr<Impl> impl, std::string_view all, std::size_t most_entries);
  static Archive listed(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  std::vector<ArchiveEntry> entries_;
  std::size_t too_long_ = 0;
};

inline constexpr std::int64_t kNewYear1980 = 315532800;  // the earliest date in a zip

// One file of an archive to write; an empty folder if its name ends in a slash.
struct ArchiveFile {
  std::string name;
  std::string bytes;
  bool is_program = false;  // executable when unpacked
  std::int64_t written_at_s = kNewYear1980;
};

// Writes the same bytes for the same files, on every day and machine. Errors: the file cannot be written.
Status write_archive(const std::filesystem::path& file, const std::vector<ArchiveFile>& files);

}  // namespace roofwalk
