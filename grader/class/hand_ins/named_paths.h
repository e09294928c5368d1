// Paths that are named one by one, and what they tell together: whose each file is.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "grader/class/hand_ins/class_or_student.h"
#include "grader/class/hand_ins/hand_in.h"
#include "grader/class/hand_ins/lms_names.h"

namespace roofwalk {

class NamedPaths {
 public:
  // All must outlive this. `grades` is no hand-in, wherever it lies; `proven` are students with a number of Canvas' in
  // the record.
  NamedPaths(const ChapterNames& chapters, const ClassOrStudent& guess, const std::filesystem::path& grades,
             const std::set<std::string>& proven)
      : chapters_(chapters), guess_(guess), grades_(grades), proven_(proven) {}

  static std::filesystem::path full_path(const std::filesystem::path& path);

  // Takes all paths that are going to be added.
  Status expect(const std::vector<std::filesystem::path>& paths);

  // Lines about files that are taken for another's than they are called, or for one student's; each begins with its
  // label.
  const std::vector<std::string>& told() const { return told_; }

  // Whether the file belongs to its folder's student, whatever it is called.
  bool is_folders(const std::filesystem::path& full) const;

  // Of the files that are named in a folder, those named like chapters.
  const std::set<std::string>& chapters_files(const std::filesystem::path& folder) { return chapters_files_[folder]; }

  // The names of all named files that do not belong to their folder's student, and of all folders.
  const ClassNames& names() const { return *names_; }

  // Doubts about these, one line each with its label; `top` is the label of what has no place of its own.
  std::vector<std::string> told_of_names(const std::string& top) const;

 private:
  void read_by_folder(const std::set<std::filesystem::path>& others, bool is_single);
  bool names_its_files(const std::string& folder, const std::vector<std::string>& files) const;
  Status refuse_nested_ones(const std::vector<std::filesystem::path>& folders) const;
  void tell_of_alike();

  const ChapterNames& chapters_;
  const ClassOrStudent& guess_;
  const std::filesystem::path& grades_;
  const std::set<std::string>& proven_;
  std::map<std::filesystem::path, std::vector<std::string>> named_files_;  // by folder
  std::map<std::filesystem::path, std::set<std::string>> chapters_files_;  // of those
  std::set<std::filesystem::path> by_folder_;                              // files in these are their student's
  std::optional<ClassNames> names_;                                        // of the others, and of all folders
  std::map<std::string, std::string> tops_;                                // the place of what is named, for labels
  std::vector<std::string> told_;
};

}  // namespace roofwalk
