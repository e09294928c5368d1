#include "grader/class/site/live_pages.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <vector>

#include "common/base/atomic_file.h"
#include "common/store/store.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

Descriptor lock_file(const fs::path& folder, int flags) {
  return Descriptor(::open((folder.string() + ".lock").c_str(), O_RDWR | O_CLOEXEC | flags, 0644));
}

}  // namespace

Result<LivePages> LivePages::open(const fs::path& folder) {
  Descriptor lock = lock_file(folder, O_CREAT);
  if (lock.get() < 0) return cannot_write(folder);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{.message = "another `report --watch` keeps these pages",
                 .file = folder.string(),
                 .advice = "end it with Ctrl-C, or look at its pages"};
  }
  return LivePages(folder, std::move(lock));
}

bool LivePages::are_kept(const fs::path& folder) {
  const Descriptor lock = lock_file(folder, 0);
  return lock.get() >= 0 && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0;
}

LivePages::Identity LivePages::identity() const {
  struct stat info {};
  return ::stat(folder_.c_str(), &info) == 0 ? Identity{info.st_dev, info.st_ino} : Identity{};
}

Result<std::size_t> LivePages::update(const std::function<Status(const WritePage&)>& make) {
  std::size_t replaced = 0;
  pages_.clear();
  ROOFWALK_TRY_STATUS(make([&](const std::string& path, const std::string& text) -> Status {
    pages_.insert(path);
    const fs::path file = folder_ / path;
    std::error_code error;
    if (fs::file_size(file, error) == text.size() && !error && file_text(file) == text) return kOk;
    ++replaced;
    return replace_file(file, text);
  }));
  remove_others();
  before_ = pages_;
  identity_ = identity();
  return replaced;
}

bool LivePages::keep(const std::string& path) {
  if (!before_.contains(path) || was_replaced()) return false;
  pages_.insert(path);
  return true;
}

// Also what a program left that was killed while it wrote.
void LivePages::remove_others() {
  std::error_code error;
  std::vector<fs::path> others;
  for (fs::recursive_directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code no_type;
    if (at->is_directory(no_type)) continue;
    if (!pages_.contains(at->path().lexically_relative(folder_).string())) others.push_back(at->path());
  }
  for (const fs::path& other : others) fs::remove(other, error);
}

}  // namespace roofwalk
