#include "grader/class/handout/handout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

// What is handed out is listed by name, so that an unexpected file, such as an instructor's notes, is not.
constexpr std::array kTopFiles = {"CMakeLists.txt", "CMakePresets.json", "LICENSE", "roofwalk", ".gitignore"};
constexpr std::array kTopFolders = {"common", "grader", "tools", "book"};

bool stays_at_home(const fs::path& file) {
  return (file.string().starts_with("grader/operations/kernels/") && file.extension() == ".cu") ||
         file == "book/instructors.md" || file == "book/platforms.md";
}

Status add_folder(const fs::path& root, const fs::path& folder, std::vector<fs::path>& files) {
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(root / folder, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    const fs::path file = it->path().lexically_relative(root);
    if (file.filename().string().starts_with(".")) {
      it.disable_recursion_pending();
      continue;
    }
    if (it->symlink_status(error).type() == fs::file_type::regular && !stays_at_home(file)) files.push_back(file);
  }
  if (error) return Error{.message = "cannot be listed: " + error.message(), .file = folder.string()};
  return kOk;
}

}  // namespace

Result<std::vector<fs::path>> handout_files(const fs::path& root, const std::vector<const Chapter*>& chapters) {
  std::vector<fs::path> files;
  for (const char* file : kTopFiles) {
    if (fs::is_regular_file(root / file)) files.emplace_back(file);
  }
  for (const char* folder : kTopFolders) ROOFWALK_TRY_STATUS(add_folder(root, folder, files));
  files.emplace_back("chapters/CMakeLists.txt");
  for (const Chapter* chapter : chapters) {
    for (const char* file : {"lesson.md", "kernel.cu", "exercise.toml", "exercise.cpp"}) {
      files.push_back(fs::path("chapters") / chapter->folder.filename() / file);
    }
    if (chapter->has_library()) {
      files.push_back(fs::path("chapters") / chapter->folder.filename() / chapter->library().filename());
    }
    if (chapter->faulty_starter) {
      files.push_back(fs::path("chapters") / chapter->folder.filename() / chapter->faulty_starter->baseline);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> spoilers(const std::vector<const Chapter*>& chapters) {
  std::vector<std::string> pairs;
  for (std::size_t i = 0; i < chapters.size(); ++i) {
    for (std::size_t j = i + 1; j < chapters.size(); ++j) {
      const Exercise *first = find_exercise(chapters[i]->name), *second = find_exercise(chapters[j]->name);
      const Size& size = chapters[i]->measured_size("default");
      if (first == nullptr || second == nullptr || size != chapters[j]->measured_size("default")) continue;
      const Work a = first->work(size), b = second->work(size);
      if (a.useful_flops != b.useful_flops || a.compulsory_bytes != b.compulsory_bytes) continue;
      pairs.push_back(fmt::format("the starter of {} is close to the solution of {}: hand it out once {} is handed in",
                                  chapters[j]->name, chapters[i]->name, chapters[i]->name));
      break;
    }
  }
  return pairs;
}

}  // namespace roofwalk
