#include "grader/class/hand_ins/named_paths.h"

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
  std::map<fs::path, std::vector<std::string>> names, folders;
  for (const fs::path& path : paths) {
    const fs::path full = full_path(path);
    const std::string name = full.filename().string();
    if (paths.size() > 1 && name == kGradescopeExport) {
      return Error{.message = "tells whose the folders beside it are: they are no hand-ins to be named one by one",
                   .file = path.string(),
                   .advice = "name the folder in which it lies"};
    }
    bool& is_own = is_own_folder_.try_emplace(full.parent_path(), true).first->second;
    is_own = is_own && ((is_source(name) || is_zip(name)) && (chapters_.is_chapter(name) || paths.size() == 1));
    std::error_code error;
    if (is_source(name) || is_zip(name)) {
      names[full.parent_path()].push_back(name);
    } else if (fs::is_directory(full, error) && (grades_.empty() || !fs::equivalent(full, grades_, error))) {
      folders[full.parent_path()].push_back(name);
      names[full.parent_path()];
    }
  }
  for (const auto& [folder, files] : names) names_.try_emplace(folder, files, chapters_.known(), folders[folder]);
  return kOk;
}

// `grade alice/vector-add.cu alice/naive-gemm.cu`: the folder's name is the student's. Of `hw1/*` it is nobody's.
bool NamedPaths::is_folders(const fs::path& full) const {
  const std::string name = full.filename().string();
  if (!is_own_folder_.at(full.parent_path()) || guess_.is_platforms_file(name)) return false;
  const std::string folder = full.parent_path().filename().string();
  return chapters_.is_chapter(name) || (guess_.is_known_student(folder) && !guess_.names_its_student(name));
}

const ClassNames& NamedPaths::names_of(const fs::path& full) {
  const std::vector<std::string> alone = {full.filename().string()};
  return names_.try_emplace(full.parent_path(), alone, chapters_.known()).first->second;
}

}  // namespace roofwalk
