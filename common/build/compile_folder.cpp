#include "common/build/compile_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

Error cannot(const std::string& what, const fs::path& path) {
  return {.message = "cannot " + what + " " + path.string() + ": " + std::strerror(errno)};
}

// Returns the folder that contains all of this user's compile folders. Everyone can write to /tmp, so a folder that
// does not belong exclusively to this user is refused.
Result<fs::path> user_folder() {
  fs::path folder = "/tmp/roofwalk-" + std::to_string(::geteuid());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return cannot("make the folder", folder);
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0) return cannot("look at", folder);
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & 077) != 0) {
    return Error{.message = folder.string() + " is not a folder that you alone can use",
                 .advice = "remove it, or ask its owner to"};
  }
  return folder;
}

// Opens and locks the file. The previous holder of the lock deletes the file before it unlocks it, so the path may no
// longer name the locked file; then this tries again.
int lock_file(const fs::path& path) {
  while (true) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return -1;
    int locked = 0;
    do {
      locked = ::flock(fd, LOCK_EX);
    } while (locked != 0 && errno == EINTR);
    struct stat held {
    }, named{};
    if (locked == 0 && ::fstat(fd, &held) == 0 && ::stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino) {
      return fd;
    }
    ::close(fd);
    if (locked != 0) return -1;
  }
}

}  // namespace

Result<CompileFolder> CompileFolder::open(const std::string& key, Isolation isolation) {
  auto opened = open_on_disk(key);
  if (!opened && isolation == Isolation::boxed) return CompileFolder({}, {}, -1);
  return opened;
}

Result<CompileFolder> CompileFolder::open_on_disk(const std::string& key) {
  ROOFWALK_TRY(const fs::path folder, user_folder());
  const fs::path lock_path = folder / (key + ".lock");
  const int lock = lock_file(lock_path);
  if (lock < 0) return cannot("lock", lock_path);
  CompileFolder compile_folder(folder / key, lock_path, lock);
  std::error_code error;
  fs::remove_all(compile_folder.path_, error);  // left over from a killed process
  if (::mkdir(compile_folder.path_.c_str(), 0700) != 0) return cannot("make the folder", compile_folder.path_);
  return compile_folder;
}

CompileFolder::CompileFolder(fs::path path, fs::path lock_path, int lock)
    : path_(std::move(path)), lock_path_(std::move(lock_path)), lock_(lock) {}

CompileFolder::CompileFolder(CompileFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_path_(std::move(other.lock_path_)), lock_(std::exchange(other.lock_, -1)) {}

CompileFolder::~CompileFolder() {
  if (lock_ < 0) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::unlink(lock_path_.c_str());  // before unlocking, so that processes waiting for the lock see that the name is gone
  ::close(lock_);
}

}  // namespace roofwalk
