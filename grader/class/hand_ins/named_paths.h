// Paths that are named together, one by one, and what they tell of each other: whose each file is.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "grader/class/hand_ins/class_or_student.h"
#include "grader/class/hand_ins/hand_in.h"
#include "grader/class/hand_ins/lms_names.h"

namespace roofwalk {

class NamedPaths {
 public:
  // All must outlive this. `grades` is no hand-in, wherever it lies.
  NamedPaths(const ChapterNames& chapters, const ClassOrStudent& guess, const std::filesystem::path& grades)
      : chapters_(chapters), guess_(guess), grades_(grades) {}

  static std::filesystem::path full_path(const std::filesystem::path& path);

  // All paths that are going to be added.
  Status expect(const std::vector<std::filesystem::path>& paths);

  // Whether the file is its student's in whose folder it lies, whatever it is called.
  bool is_folders(const std::filesystem::path& full) const;

  // Of what is named, and lies beside it.
  const ClassNames& names_of(const std::filesystem::path& full);

 private:
  const ChapterNames& chapters_;
  const ClassOrStudent& guess_;
  const std::filesystem::path& grades_;
  std::map<std::filesystem::path, ClassNames> names_;    // of the files that are named, by folder
  std::map<std::filesystem::path, bool> is_own_folder_;  // whether all that is named in it is called as chapters are
};

}  // namespace roofwalk
