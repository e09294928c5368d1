// A zip as a learner or a learning platform made it: read in memory, entry by entry. Nothing is ever unpacked to disk,
// so no name in it can point anywhere.
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
  std::string name;               // as it stands in the archive: any bytes, any number of slashes
  std::int64_t written_at_s = 0;  // seconds since 1970; where only the time of day is told, our time zone is taken
  std::uint64_t index = 0, packed_bytes = 0;
  Kind kind = Kind::file;
};

// Of a whole class's archive: 500 students with 80 files each. Of one that lies in it, which a student made. With the
// worst names, 40,000 entries take three seconds to open, 20,000 half a second.
inline constexpr std::size_t kMostClassEntries = 40'000, kMostOwnEntries = 20'000;

class Archive {
 public:
  // Errors: not a zip, damaged, more entries than `most_entries`: opening takes time that grows with the square of
  // their number where somebody chose their names well (libzip finds entries by a hash of the name).
  static Result<Archive> open(const std::filesystem::path& file, std::size_t most_entries = kMostClassEntries);
  static Result<Archive> in_memory(std::string bytes, std::size_t most_entries = kMostOwnEntries);
  ~Archive();
  Archive(Archive&&) noexcept;

  const std::vector<ArchiveEntry>& entries() const { return entries_; }  // in the archive's order

  // The entry's bytes. Errors: damaged, encrypted, more than `most_bytes` once unpacked, whatever its header says.
  // `cost_bytes` grows by what was read and unpacked, whatever came of it.
  Result<std::string> read(const ArchiveEntry& entry, std::size_t most_bytes, std::size_t& cost_bytes) const;

 private:
  struct Served;
  struct Impl;
  explicit Archive(std::unique_ptr<Impl> impl);
  static Result<Archive> of_bytes(std::unique_ptr<Impl> impl, std::string_view all, std::size_t most_entries);
  static Archive listed(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  std::vector<ArchiveEntry> entries_;
};

inline constexpr std::int64_t kNewYear1980 = 315532800;  // a zip's first day

// One file of an archive that is written; where its name ends in a slash, an empty folder.
struct ArchiveFile {
  std::string name;
  std::string bytes;
  bool is_program = false;  // may be run, once unpacked
  std::int64_t written_at_s = kNewYear1980;
};

// The same bytes for the same files, on every day and machine. Errors: the file cannot be written.
Status write_archive(const std::filesystem::path& file, const std::vector<ArchiveFile>& files);

}  // namespace roofwalk
