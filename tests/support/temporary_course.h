// A course in a temporary folder of its own: the real chapters, without attempts.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace roofwalk::test {

class TemporaryCourse {
 public:
  // `cache` contains compiled kernels and measured roofs. These depend only on their inputs, so tests share one cache.
  TemporaryCourse(const std::filesystem::path& source, const std::filesystem::path& cache) {
    namespace fs = std::filesystem;
    std::string name = (fs::temp_directory_path() / "roofwalk-course-XXXXXX").string();
    root_ = mkdtemp(name.data());
    for (const char* part : {"chapters", "solutions", "tests/grader", "common/include", "common/roofs", "common/specs",
                             "grader/operations/kernels"}) {
      fs::create_directories((root_ / part).parent_path());
      fs::create_directory_symlink(source / part, root_ / part);
    }
    fs::create_directories(cache);
    fs::create_directory_symlink(cache, root_ / ".cache");
  }
  ~TemporaryCourse() {
    std::error_code error;
    std::filesystem::remove_all(root_, error);
  }
  TemporaryCourse(const TemporaryCourse&) = delete;
  TemporaryCourse& operator=(const TemporaryCourse&) = delete;

  const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
};

}  // namespace roofwalk::test
