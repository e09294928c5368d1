// Files and folders that are there as a whole or not at all: they are replaced so that concurrent readers never see a
// half-written one, and temporary ones are removed.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/base/result.h"

namespace roofwalk {

// Returns the Error for a failed system call that wrote `file`, with the text of errno.
Error cannot_write(const std::filesystem::path& file);

// Returns a path beside `place` that no other process uses.
std::filesystem::path fresh_beside(const std::filesystem::path& place);

// Writes the file completely or not at all. On return the file is on the disk. Creates missing folders.
Status replace_file(const std::filesystem::path& file, std::string_view bytes);

// Writes a file into a new folder, which replace_folder() puts in its place when it is complete. Creates missing
// folders. Does not wait for the disk: after a power cut the file may be empty, so it must be one that can be made
// again.
Status write_into_fresh(const std::filesystem::path& file, std::string_view bytes);

// Puts the complete folder `fresh` in the place of `folder`, in one step if the file system supports that, and deletes
// the old folder. Without that support, the old folder may be gone after an Error.
Status replace_folder(const std::filesystem::path& fresh, const std::filesystem::path& folder);

// An empty folder on this machine's own disk that only this user can open. It is removed with all that is in it.
class TemporaryFolder {
 public:
  // The folder's name begins with roofwalk-PURPOSE.
  explicit TemporaryFolder(std::string_view purpose);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  // Empty if no folder can be made.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace roofwalk
