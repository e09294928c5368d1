#include "grader/course/course.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "grader/text/text.h"

namespace roofwalk {
namespace {

// Whether a folder contains a course. A folder named chapters is not sufficient, because a build folder has one, too.
bool holds_course(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "chapters", error)) {
    if (std::filesystem::exists(entry.path() / "exercise.toml", error)) return true;
  }
  return false;
}

// Whether the typed text identifies the chapter by its number ("5", "05") or its folder ("05-fused-layernorm",
// "chapters/05-fused-layernorm/").
bool is_place_of(const Chapter& chapter, std::string typed) {
  const auto plain = [](const std::string& number) {
    return number.substr(std::min(number.find_first_not_of('0'), number.size()));
  };
  while (typed.ends_with('/')) typed.pop_back();
  if (!typed.empty() && std::filesystem::path(typed).filename() == chapter.folder.filename()) return true;
  return !typed.empty() && plain(typed) == plain(chapter.number);
}

}  // namespace

Result<const Chapter*> Course::find(const std::string& name) const {
  std::vector<std::string> names;
  for (const Chapter& chapter : chapters) {
    if (chapter.name == name || is_place_of(chapter, name)) return &chapter;
    names.push_back(chapter.name);
  }
  const auto near = near_names(name, names);
  return Error{.message = fmt::format("there is no chapter `{}`", printable(name)),
               .advice = near.empty() ? fmt::format("the chapters are: {}", fmt::join(names, ", "))
                                      : fmt::format("did you mean {}?", fmt::join(near, " or "))};
}

Result<Course> open_course(const std::filesystem::path& root) {
  ROOFWALK_TRY(auto chapters, load_chapters(root));
  return Course{root, std::move(chapters)};
}

std::filesystem::path find_root() {
  namespace fs = std::filesystem;
  if (const char* root = std::getenv("ROOFWALK_ROOT"); root != nullptr && *root != '\0') return fs::absolute(root);
  std::error_code error;
  for (fs::path folder = fs::current_path(error); !folder.empty(); folder = folder.parent_path()) {
    if (holds_course(folder)) return folder;
    if (folder == folder.root_path()) break;
  }
  return ROOFWALK_SOURCE_DIR;
}

std::string file_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace roofwalk
