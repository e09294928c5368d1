// A checkout of the course: its chapters and the paths of its files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/exercise/chapter.h"

namespace roofwalk {

struct Course {
  std::filesystem::path root;     // empty: the working directory, so that paths in messages are short
  std::vector<Chapter> chapters;  // by number

  std::filesystem::path my_file(const Chapter& chapter) const { return root / "my" / (chapter.name + ".cu"); }
  std::filesystem::path old_files() const { return root / "my" / "old"; }
  std::filesystem::path database() const { return root / "my" / "roofwalk.db"; }
  std::filesystem::path plot(const std::string& name, const std::string& ending) const {
    return root / "my" / "plots" / (name + ending);
  }
  std::filesystem::path include() const { return root / "common" / "include"; }
  std::filesystem::path roof_kernels() const { return root / "common" / "roofs"; }
  std::filesystem::path kept_roofs() const { return root / ".cache" / "roofs"; }
  std::filesystem::path operation_kernels() const { return root / "grader" / "operations" / "kernels"; }
  std::filesystem::path kept_operations() const { return root / ".cache" / "operations"; }
  std::filesystem::path cache() const { return root / ".cache" / "artifacts"; }

  // Finds a chapter by name or number. Errors: no such chapter, with similar names.
  Result<const Chapter*> find(const std::string& name) const;
};

Result<Course> open_course(const std::filesystem::path& root);

// The course's folder: $ROOFWALK_ROOT if set; otherwise the nearest folder, at or above the working directory, that
// contains a course; otherwise the folder from which this program was built.
std::filesystem::path find_root();

// All bytes of a file; empty if it cannot be read.
std::string file_text(const std::filesystem::path& file);

}  // namespace roofwalk
