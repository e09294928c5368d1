#include "grader/batch/handout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "grader/batch/gradebook.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

// Named one by one: a file that nobody thought of, such as an instructor's notes, stays at home.
constexpr std::array kTopFiles = {"CMakeLists.txt", "CMakePresets.json", "LICENSE",
                                  "README.md",      "roofwalk",          ".gitignore"};
constexpr std::array kTopFolders = {"common", "grader", "tools", "book"};

bool is_spoiler(const fs::path& file) {
  return file.string().starts_with("book/operations/") && file.extension() == ".cu";
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
    if (it->symlink_status(error).type() == fs::file_type::regular && !is_spoiler(file)) files.push_back(file);
  }
  if (error) return Error{.message = "cannot be walked: " + error.message(), .file = folder.string()};
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
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string handout_page(const CourseTerms& terms, const std::vector<const Chapter*>& chapters) {
  std::string text = fmt::format("# {}\n\n", terms.title.empty() ? "Handed out" : terms.title);
  text += "`./roofwalk next` says where to begin; README.md tells the rest. What is graded:\n\n";
  text += "| chapter | hand in | points | due |\n|---|---|---|---|\n";
  for (const Chapter* chapter : chapters) {
    const ChapterTerms* one = terms.find(chapter->name);
    text += fmt::format("| {0}: {1} | `my/{0}.cu` | {2} | {3} |\n", chapter->name, chapter->title,
                        one == nullptr ? "-" : points_text(one->points),
                        one == nullptr || !one->deadline_s ? "-" : utc_text(*one->deadline_s));
  }
  double least = 1, most = 0;
  for (const Chapter* chapter : chapters) {
    if (const ChapterTerms* one = terms.find(chapter->name)) {
      least = std::min(least, one->pass_share);
      most = std::max(most, one->pass_share);
    }
  }
  const std::string share =
      least >= most ? fmt::format("{:.0f} %", 100 * most) : fmt::format("{:.0f} to {:.0f} %", 100 * least, 100 * most);
  text += fmt::format(
      "\nA correct kernel that meets the goals of a pass earns {} of the points, an ace all of them; between, and "
      "below a pass, "
      "points grow with the logarithm of what is reached, from nothing at the starter. A wrong kernel earns nothing.\n",
      share);
  text += fmt::format("Of several submissions the {} counts.\n",
                      terms.counts == CourseTerms::Counts::best ? "best" : "last");
  if (terms.late.per_day > 0)
    text += fmt::format("Each day late that has begun costs {:.0f} % of the points.\n", 100 * terms.late.per_day);
  if (terms.late.most_days < 1e6)
    text += fmt::format("After {} days nothing is accepted.\n", points_text(terms.late.most_days));
  if (!terms.hidden_seeds.empty() || !terms.hidden_sizes.empty()) {
    text +=
        "Grading also uses sizes and inputs that are not shown here: write a kernel that is right for all of them.\n";
  }
  return text;
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
      pairs.push_back(fmt::format("the starter of {} is about where {} ends: hand it out once {} is handed in",
                                  chapters[j]->name, chapters[i]->name, chapters[i]->name));
      break;
    }
  }
  return pairs;
}

}  // namespace roofwalk
