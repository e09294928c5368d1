// A private folder in which to compile. Its path is fixed, so that paths in the PTX and the names of static kernels do
// not depend on the checkout's path.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.h"
#include "common/sandbox/box.h"

namespace roofwalk {

// /tmp/roofwalk-UID/KEY: empty, accessible only to this user, held by one process at a time, and deleted at the end.
class CompileFolder {
 public:
  // Waits while another process holds the same key. Errors: the folder belongs to another user or cannot be made. For
  // compilers in a box, which do not use the folder, that is no Error: anybody could otherwise end the grading of a
  // class by making a folder of that name first.
  static Result<CompileFolder> open(const std::string& key, Isolation isolation = Isolation::none);
  ~CompileFolder();
  CompileFolder(CompileFolder&& other) noexcept;
  CompileFolder(const CompileFolder&) = delete;
  CompileFolder& operator=(const CompileFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  static Result<CompileFolder> open_on_disk(const std::string& key);
  CompileFolder(std::filesystem::path path, std::filesystem::path lock_path, int lock);

  std::filesystem::path path_, lock_path_;
  int lock_ = -1;
};

}  // namespace roofwalk
