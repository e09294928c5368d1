// A zip as a learner or a learning platform made it: read in memory, entry by entry. Nothing is ever unpacked to disk,
// so no name in it can point anywhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

struct ArchiveEntry {
  enum class Kind { file, folder, link };
  std::string name;               // as it stands in the archive: any bytes, any number of slashes
  std::int64_t written_at_s = 0;  // seconds since 1970; a zip keeps the time of day without its zone, ours is taken
  std::uint64_t index = 0;
  Kind kind = Kind::file;
};

class Archive {
 public:
  // Errors: not a zip, damaged.
  static Result<Archive> open(const std::filesystem::path& file);
  static Result<Archive> in_memory(std::string bytes);
  ~Archive();
  Archive(Archive&&) noexcept;

  const std::vector<ArchiveEntry>& entries() const { return entries_; }  // in the archive's order

  // The entry's bytes. Errors: damaged, encrypted, more than `most_bytes` once unpacked, whatever its header says.
  Result<std::string> read(const ArchiveEntry& entry, std::size_t most_bytes) const;

 private:
  struct Impl;
  explicit Archive(std::unique_ptr<Impl> impl);
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
