#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace roofwalk::e2e {

// A course of its own: the real chapters, nobody's attempts. Compiled kernels are shared, since they depend on nothing
// but their text.
class TemporaryCourse {
 public:
  TemporaryCourse() {
    std::string name = (std::filesystem::temp_directory_path() / "roofwalk-e2e-XXXXXX").string();
    root_ = mkdtemp(name.data());
    const std::filesystem::path source = E2E_SOURCE_DIR;
    for (const char* part :
         {"chapters", "solutions", "tests/grader", "common/include", "common/roofs", "common/specs"}) {
      std::filesystem::create_directories((root_ / part).parent_path());
      std::filesystem::create_directory_symlink(source / part, root_ / part);
    }
    std::filesystem::create_directories(E2E_CACHE);
    std::filesystem::create_directory_symlink(E2E_CACHE, root_ / ".cache");
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

}  // namespace roofwalk::e2e
