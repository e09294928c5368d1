// Paths that are given one by one (on the command line), and what they tell together: the owner of each file.
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
  // All must outlive this object. `grades` is never a hand-in, in whichever folder it is; `proven`: students with a
  // number from Canvas on record.
  NamedPaths(const ChapterNames& chapters, const ClassOrStudent& guess, const std::filesystem::path& grades,
             const std::set<std::string>& proven)
      : chapters_(chapters), guess_(guess), grades_(grades), proven_(proven) {}

  static std::filesystem::path full_path(const std::filesystem::path& path);

  // Takes all paths that are going to be added. Must be called before anything else.
  Status expect(const std::vector<std::filesystem::path>& paths);

  // Lines about files that are assigned to another student than their names say, and about files that are all assigned
  // to one student. Each line begins with its label.
  const std::vector<std::string>& told() const { return told_; }

  // Whether the file belongs to the student whose name its folder has, whatever its own name is.
  bool is_folders(const std::filesystem::path& full) const;

  // Why a path is left out; nullptr if it is not.
  const std::string* why_left_out(const std::filesystem::path& full) const;

  // Whether the files in this folder belong to the folder's student.
  bool is_students(const std::filesystem::path& folder) const { return by_folder_.contains(folder); }

  // Whether paths in several folders are given, each of which may be a student's.
  bool are_in_several_folders() const { return parents_.size() > 1; }

  // Whether the path's folder is a link that a student may have made. The only folder in which paths are given is the
  // caller's choice, unless it is named after the student whose files they are.
  bool is_behind_link(const std::filesystem::path& full) const;

  // The files that are given in a folder and have names like chapters.
  const std::set<std::string>& chapters_files(const std::filesystem::path& folder) { return chapters_files_[folder]; }

  // The names of all folders, and of those given files that do not belong to their folder's student.
  const ClassNames& names() const { return *names_; }

  // Lines about doubts in names(), each with its label. `top`: the label for names that are not in a given folder.
  std::vector<std::string> told_of_names(const std::string& top) const;

 private:
  // What is given in a folder besides sources and zips.
  struct Beside {
    std::set<std::filesystem::path> others, folders;  // folders that contain other given paths; folders that contain
                                                      // given folders
  };
  void read_by_folder(const Beside& beside, bool is_single);
  bool names_its_files(const std::string& folder, const std::vector<std::string>& files) const;
  Status check_known_folders();
  bool holds_several(const std::filesystem::path& folder, const std::vector<std::string>& names) const;
  Status check_alike_owners();
  Status check_nested_ones(const std::vector<std::filesystem::path>& folders);
  void tell_of_alike();

  const ChapterNames& chapters_;
  const ClassOrStudent& guess_;
  const std::filesystem::path& grades_;
  const std::set<std::string>& proven_;
  std::map<std::filesystem::path, std::vector<std::string>> named_files_;  // by folder
  std::set<std::filesystem::path> parents_;                                // folders in which paths are given
  // By folder: those of named_files_ that are named like chapters.
  std::map<std::filesystem::path, std::set<std::string>> chapters_files_;
  // Folders whose files belong to the folder's student.
  std::set<std::filesystem::path> by_folder_;
  std::map<std::filesystem::path, std::string> left_out_;  // with the reason
  // Names of all folders and of the other files.
  std::optional<ClassNames> names_;
  std::map<std::string, std::string> tops_;  // by name: its place, for labels
  std::vector<std::string> told_;
};

}  // namespace roofwalk
