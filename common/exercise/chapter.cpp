#include "common/exercise/chapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string_view>

#include "common/exercise/manifest.h"

namespace roofwalk {
namespace fs = std::filesystem;
namespace {

constexpr const char* kChapterFiles[] = {"lesson.md", "kernel.cu", "exercise.toml", "exercise.cpp"};

// Returns the digits at the start of a name: "02" of "02-naive-gemm"; empty if there are none.
std::string leading_number(const std::string& text) {
  const auto end = std::find_if(text.begin(), text.end(), [](unsigned char c) { return c < '0' || c > '9'; });
  return std::string(text.begin(), end);
}

// Returns the files of a folder that start with `prefix` and have one of the endings, sorted by the number after the
// prefix, then by name.
std::vector<fs::path> kernel_files(const fs::path& folder, const std::string& prefix,
                                   std::initializer_list<std::string_view> endings) {
  std::vector<fs::path> files;
  std::error_code missing;  // a chapter may lack the folder
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    const std::string name = entry.path().filename().string();
    const std::string ending = entry.path().extension().string();
    const bool is_kernel = std::find(endings.begin(), endings.end(), ending) != endings.end();
    if (is_kernel && name.starts_with(prefix)) files.push_back(entry.path());
  }
  const auto key = [&](const fs::path& file) {
    const std::string name = file.filename().string();
    const std::string number = leading_number(name.substr(prefix.size()));
    return std::pair(number.size(), name);  // sorts step10 after step9
  };
  std::sort(files.begin(), files.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return files;
}

Result<Chapter> load_chapter(const fs::path& folder) {
  const std::string folder_name = folder.filename().string();
  for (const char* file : kChapterFiles) {
    if (!fs::exists(folder / file)) {
      return Error{fmt::format("the chapter has no {}", file), folder.string(), 0,
                   "a chapter is lesson.md, kernel.cu, exercise.toml and exercise.cpp"};
    }
  }
  const fs::path manifest = folder / "exercise.toml";
  std::ifstream stream(manifest);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return Error{"cannot be read", manifest.string()};

  ROOFWALK_TRY(Chapter chapter, parse_manifest(text.str(), manifest));
  chapter.folder = folder;
  if (!fs::exists(chapter.baseline())) {
    return Error{fmt::format("the chapter has no {}, its `baseline`", chapter.baseline().filename().string()),
                 folder.string()};
  }
  chapter.number = leading_number(folder_name);
  if (chapter.number.empty() || folder_name != chapter.number + "-" + chapter.name) {
    return Error{fmt::format("the chapter's name is `{}`, but its folder says `{}`", chapter.name, folder_name),
                 manifest.string(), 0, fmt::format("name the folder NN-{}", chapter.name)};
  }
  return chapter;
}

}  // namespace

std::string goal_axis_name(Goal::Axis axis) { return axis == Goal::Axis::right ? "right" : "up"; }

namespace {

constexpr std::pair<Goal::What, std::string_view> kGoalNames[] = {
    {Goal::What::ai_over_starter, "ai_over_starter"},
    {Goal::What::ai_unlike_starter, "ai_unlike_starter"},
    {Goal::What::share_of_algorithmic_ai, "share_of_algorithmic_ai"},
    {Goal::What::sector_use, "sector_use"},
    {Goal::What::share_of_roof, "share_of_roof"},
    {Goal::What::share_of_peak, "share_of_peak"},
    {Goal::What::flops_over_starter, "flops_over_starter"},
    {Goal::What::shared_wavefronts_over_least, "shared_wavefronts_over_least"},
    {Goal::What::active_lanes, "active_lanes"},
    {Goal::What::executed_over_useful, "executed_over_useful"},
    {Goal::What::atomics_per_element, "atomics_per_element"},
    {Goal::What::sm_active, "sm_active"},
    {Goal::What::resident_warps_per_scheduler, "resident_warps_per_scheduler"},
    {Goal::What::shared_bytes_unlike_starter, "shared_bytes_unlike_starter"}};

}  // namespace

std::string goal_what_name(Goal::What what) {
  for (const auto& [one, name] : kGoalNames) {
    if (one == what) return std::string(name);
  }
  check_failed(__FILE__, __LINE__, "a Goal::What has a name");
}

std::optional<Goal::What> goal_what_from_name(std::string_view name) {
  for (const auto& [what, one] : kGoalNames) {
    if (one == name) return what;
  }
  return std::nullopt;
}

bool is_count(Goal::What what) { return what >= Goal::What::shared_wavefronts_over_least; }

bool is_unlike_starter(Goal::What what) {
  return what == Goal::What::ai_unlike_starter || what == Goal::What::shared_bytes_unlike_starter;
}

bool is_upper_bound(Goal::What what) {
  return is_unlike_starter(what) || what == Goal::What::shared_wavefronts_over_least ||
         what == Goal::What::executed_over_useful || what == Goal::What::atomics_per_element;
}

std::string chapter_roof_name(ChapterRoof roof) {
  switch (roof) {
    case ChapterRoof::fp32:
      return "fp32";
    case ChapterRoof::tensor_f16:
      return "tensor_f16";
    case ChapterRoof::memory:
      return "memory";
  }
  check_failed(__FILE__, __LINE__, "a ChapterRoof has a name");
}

double Chapter::least_starter_gap(const std::string& chip, bool is_course_machine) const {
  if (const auto own = starter_gaps_on.find(chip); own != starter_gaps_on.end()) return own->second;
  return is_course_machine ? starter_gap : std::min(starter_gap, kLeastStarterGapElsewhere);
}

const Size& Chapter::measured_size(const std::string& machine) const {
  const auto at = measured_sizes.find(machine);
  return at != measured_sizes.end() ? at->second : measured_sizes.at("default");
}

std::vector<fs::path> Chapter::solution_steps() const {
  const fs::path root = folder.parent_path().parent_path();
  return kernel_files(root / "solutions" / folder.filename(), "step", {".cu"});
}

std::vector<fs::path> Chapter::idioms() const {
  const fs::path root = folder.parent_path().parent_path();
  return kernel_files(root / "tests" / "grader" / "idioms" / folder.filename(), "", {".cu"});
}

std::vector<fs::path> Chapter::wrong_solutions() const {
  const fs::path root = folder.parent_path().parent_path();
  return kernel_files(root / "tests" / "grader" / "wrong" / folder.filename(), "", {".cu", ".patch"});
}

Result<std::vector<Chapter>> load_chapters(const fs::path& root) {
  const fs::path folder = root / "chapters";
  std::error_code error;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory() && !entry.path().filename().string().starts_with(".")) folders.push_back(entry.path());
  }
  if (error) return Error{fmt::format("cannot be listed: {}", error.message()), folder.string()};
  std::sort(folders.begin(), folders.end());

  std::vector<Chapter> chapters;
  for (const fs::path& chapter_folder : folders) {
    ROOFWALK_TRY(Chapter chapter, load_chapter(chapter_folder));
    for (const Chapter& other : chapters) {
      if (other.name != chapter.name) continue;
      return Error{fmt::format("two chapters have the name `{}`", chapter.name),
                   (chapter_folder / "exercise.toml").string(), 0,
                   fmt::format("the other is {}", other.folder.filename().string())};
    }
    chapters.push_back(std::move(chapter));
  }
  std::stable_sort(chapters.begin(), chapters.end(), [](const Chapter& a, const Chapter& b) {
    return std::pair(a.number.size(), a.number) < std::pair(b.number.size(), b.number);
  });
  return chapters;
}

}  // namespace roofwalk
