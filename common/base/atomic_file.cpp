#include "common/base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/base/child.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

Error cannot_write(const fs::path& file) {
  return {.message = fmt::format("cannot be written: {}", std::strerror(errno)),
          .file = file.string(),
          .advice =
              errno == ENOSPC ? "free some space, then give the same command again: it goes on where it stopped" : ""};
}

fs::path fresh_beside(const fs::path& place) { return place.string() + fmt::format(".new-{}", ::getpid()); }

Status replace_file(const fs::path& file, std::string_view bytes) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const fs::path fresh = fresh_beside(file);
  const Descriptor out(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (out.get() < 0) return cannot_write(file);
  if (!write_all(out.get(), bytes) || ::fsync(out.get()) != 0 || ::rename(fresh.c_str(), file.c_str()) != 0) {
    const Error trouble = cannot_write(file);
    ::unlink(fresh.c_str());
    return trouble;
  }
  const Descriptor folder(::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) ::fsync(folder.get());
  return kOk;
}

Status write_into_fresh(const fs::path& file, std::string_view bytes) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const Descriptor out(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (out.get() < 0 || !write_all(out.get(), bytes)) return cannot_write(file);
  return kOk;
}

Status replace_folder(const fs::path& fresh, const fs::path& folder) {
  std::error_code error;
  // An exchange, so that readers find either the old or the new folder at every moment.
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) {
    fs::remove_all(fresh, error);
    return kOk;
  }
  const bool file_system_cannot = errno == EINVAL || errno == ENOSYS;
  if (file_system_cannot) fs::remove_all(folder, error);
  fs::rename(fresh, folder, error);
  if (error) return Error{.message = "cannot be replaced: " + error.message(), .file = folder.string()};
  return kOk;
}

TemporaryFolder::TemporaryFolder(std::string_view purpose) {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / fmt::format("roofwalk-{}-XXXXXX", purpose)).string();
  if (!error && ::mkdtemp(name.data()) != nullptr) path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace roofwalk
