#include "grader/class/hand_ins/named_paths.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/class/hand_ins/found_file.h"
#include "grader/class/hand_ins/lms_metadata.h"

namespace roofwalk {

namespace fs = std::filesystem;

fs::path NamedPaths::full_path(const fs::path& path) {
  std::error_code error;
  const fs::path full = fs::absolute(path, error).lexically_normal();
  return full.has_filename() ? full : full.parent_path();
}

Status NamedPaths::expect(const std::vector<fs::path>& paths) {
  std::vector<std::string> folders;
  std::set<fs::path> others;  // with other things than sources and zips
  for (const fs::path& path : paths) {
    const fs::path full = full_path(path);
    const std::string name = full.filename().string();
    if (paths.size() > 1 && name == kGradescopeExport) {
      return Error{.message = "tells whose the folders beside it are: they are no hand-ins to be named one by one",
                   .file = path.string(),
                   .advice = "name the folder in which it lies"};
    }
    const fs::path folder = full.parent_path();
    std::error_code error;
    if (is_source(name) || is_zip(name)) {
      named_files_[folder].push_back(name);
    } else {
      others.insert(folder);
      if (!fs::is_directory(full, error)) continue;
      if (grades_.empty() || !fs::equivalent(full, grades_, error)) folders.push_back(name);
    }
    tops_.emplace(name, plain_name(folder.filename().string()));
  }
  read_by_folder(others, paths.size() == 1);
  std::vector<std::string> files;
  for (const auto& [folder, names] : named_files_) {
    const std::string called = folder.filename().string();
    if (by_folder_.contains(folder)) {
      folders.push_back(called);
      tops_.emplace(called, plain_name(folder.parent_path().filename().string()));
    } else {
      files.insert(files.end(), names.begin(), names.end());
    }
  }
  names_.emplace(files, chapters_.known(), folders);
  return kOk;
}

bool NamedPaths::is_folders(const fs::path& full) const {
  const std::string name = full.filename().string();
  return by_folder_.contains(full.parent_path()) && (is_source(name) || is_zip(name));
}

std::vector<std::string> NamedPaths::told_of_names(const std::string& top) const {
  std::vector<std::string> lines;
  for (const auto& [name, line] : names_->told()) {
    const auto lies_in = tops_.find(name);
    lines.push_back((lies_in == tops_.end() ? top : label_of(lies_in->second, {name})) + " " + line);
  }
  return lines;
}

// `grade alice/vector-add.cu alice/naive-gemm.cu`: the folder's name is the student's. In `hw1/*` it is nobody's. If
// files from several folders side by side are named, and those of one folder are its student's, then each folder is a
// student's, whatever its files are called.
void NamedPaths::read_by_folder(const std::set<fs::path>& others, bool is_single) {
  std::set<fs::path> above;
  for (const auto& [folder, names] : named_files_) {
    const std::string called = folder.filename().string();
    const std::set<std::string>& chapters_files = chapters_files_[folder] = guess_.chapters_files_in(names);
    const bool is_students = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      if (chapters_files.contains(name)) return true;
      return is_single && !guess_.is_platforms_file(name) && guess_.is_known_student(called) &&
             !guess_.names_its_student(name);
    });
    if (is_students && !others.contains(folder)) by_folder_.insert(folder);
    if (by_folder_.contains(folder) || guess_.is_platforms(called)) above.insert(folder.parent_path());
  }
  if (named_files_.size() == 1) return;
  std::vector<std::string> other_names;  // labels of files named like somebody else's
  for (const auto& [folder, names] : named_files_) {
    const bool is_new = above.contains(folder.parent_path()) && by_folder_.insert(folder).second;
    for (const std::string& name : names) {
      if (is_new && guess_.names_its_student(name))
        other_names.push_back(label_of(plain_name(folder.filename()), {name}));
    }
  }
  if (other_names.empty()) return;
  const bool are_several = other_names.size() > 1;
  told_ = fmt::format(
      "{} {} taken for the student's in whose folder {}, whatever it is called, as those of other folders are; if it "
      "is "
      "another's, name it by itself",
      other_names.front(), are_several ? fmt::format("and {} more files are", other_names.size() - 1) : "is",
      are_several ? "each lies" : "it lies");
}

}  // namespace roofwalk
