#include "grader/course/my_files.h"

#include <fmt/format.h>

namespace roofwalk {

namespace fs = std::filesystem;

Result<bool> provide_file(const Course& course, const Chapter& chapter) {
  const fs::path file = course.my_file(chapter);
  if (fs::exists(file)) return false;
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  fs::copy_file(chapter.starter(), file, fs::copy_options::none, error);
  if (error) return Error{.message = fmt::format("cannot make {}: {}", file.string(), error.message())};
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add, error);
  return true;
}

fs::path kept_name(const Course& course, const Chapter& chapter) {
  for (int n = 1;; ++n) {
    const fs::path path = course.old_files() / fmt::format("{}-{}.cu", chapter.name, n);
    if (!fs::exists(path)) return path;
  }
}

Result<std::optional<fs::path>> reset_file(const Course& course, const Chapter& chapter) {
  const fs::path file = course.my_file(chapter);
  std::optional<fs::path> kept;
  if (fs::exists(file)) {
    std::error_code error;
    kept = kept_name(course, chapter);
    fs::create_directories(kept->parent_path(), error);
    fs::rename(file, *kept, error);
    if (error) return Error{.message = fmt::format("cannot move {}: {}", file.string(), error.message())};
  }
  ROOFWALK_TRY([[maybe_unused]] const bool made, provide_file(course, chapter));
  return kept;
}

}  // namespace roofwalk
