#include "grader/class/terms/course_file.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>

#include "common/record/model_version.h"
#include "grader/attempt/measured_size.h"
#include "grader/attempt/trial.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr double kMostPoints = 1e6;
constexpr std::int64_t kMostExtent = std::numeric_limits<std::int32_t>::max();  // kernels take extents as int
constexpr std::size_t kMostSeeds = 16, kMostSizes = 64;

// Reads one TOML file; each step returns early with an Error that names the line.
class Reader {
 public:
  Reader(std::string file, const Course& course) : file_(std::move(file)), course_(course) {}

  Error error(const toml::node& node, std::string message, std::string advice = {}) const {
    return Error{std::move(message), file_, static_cast<int>(node.source().begin.line), std::move(advice)};
  }

  Status only_keys(const toml::table& table, std::initializer_list<std::string_view> known) const {
    const toml::node* first = nullptr;
    std::string name;
    for (const auto& [key, node] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      if (first != nullptr && first->source().begin.line <= node.source().begin.line) continue;
      first = &node;
      name = key.str();
    }
    if (first == nullptr) return kOk;
    return error(*first, fmt::format("unknown key `{}`", name), fmt::format("known here: {}", fmt::join(known, ", ")));
  }

  Status text(const toml::table& table, std::string_view key, std::string& out) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return kOk;
    const auto value = node->value_exact<std::string>();
    if (!value || value->empty()) return error(*node, fmt::format("`{}` must be a non-empty string", key));
    out = *value;
    return kOk;
  }

  Status number(const toml::table& table, std::string_view key, double least, double most, double& out) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return kOk;
    const auto value = node->value<double>();
    if (!node->is_number() || !value || !std::isfinite(*value) || *value < least || *value > most) {
      return error(*node, fmt::format("`{}` must be a number from {} to {}", key, least, most));
    }
    out = *value;
    return kOk;
  }

  Result<const Chapter*> chapter(const toml::node& at, const std::string& name) const {
    const auto found = course_.find(name);
    if (!found) return error(at, found.error().message, found.error().advice);
    return *found;
  }

  // The time must state its offset from UTC, because "23:59" is a different moment in each time zone.
  Status moment(const toml::node& node, std::string_view key, ChapterTerms& out) const {
    const auto value = node.value_exact<toml::date_time>();
    if (!value || !value->offset) {
      return error(node, fmt::format("`{}` must be a date, a time and an offset", key),
                   "such as 2026-10-01T23:59:00+02:00, without quotes");
    }
    using namespace std::chrono;
    const sys_days day =
        year_month_day(year(value->date.year), month(value->date.month), std::chrono::day(value->date.day));
    const auto time = hours(value->time.hour) + minutes(value->time.minute) + seconds(value->time.second);
    out.deadline_s = duration_cast<seconds>(day.time_since_epoch() + time - minutes(value->offset->minutes)).count();
    out.deadline_offset_min = value->offset->minutes;
    return kOk;
  }

  // Chapters are an array of tables. A table instead is the likely slip: [chapters.vector-add], or [chapter].
  Status chapters_are_listed(const toml::table& root) const {
    for (const std::string_view key : {"chapters", "chapter"}) {
      const toml::node* node = root.get(key);
      if (node == nullptr || (key == "chapter" && node->is_array_of_tables())) continue;
      std::string written(key), name = "vector-add";
      if (const toml::table* table = node->as_table()) {
        for (const auto& [of, inner] : *table) {
          if (!inner.is_table()) continue;
          node = &inner;
          name = of.str();
          written += "." + name;
          break;
        }
        written = "[" + written + "]";
      } else if (node->is_array_of_tables()) {
        node = &node->as_array()->front();
        written = "[[" + written + "]]";
      }
      return error(*node, fmt::format("`{}` lists no chapter", written),
                   fmt::format("write [[chapter]], and below it name = \"{}\"", name));
    }
    return kOk;
  }

  Result<CourseTerms> terms(const toml::table& root, const fs::path& repository, ModelPin pin) {
    ROOFWALK_TRY_STATUS(chapters_are_listed(root));
    ROOFWALK_TRY_STATUS(only_keys(
        root, {"title", "device", "model_version", "counts", "pass_share", "deadline", "late", "secrets", "chapter"}));
    CourseTerms terms;
    ROOFWALK_TRY_STATUS(text(root, "title", terms.title));
    ROOFWALK_TRY_STATUS(text(root, "device", terms.device));
    ROOFWALK_TRY_STATUS(model_version(root, pin, terms));
    std::string counts = "best";
    ROOFWALK_TRY_STATUS(text(root, "counts", counts));
    if (counts != "best" && counts != "last")
      return error(*root.get("counts"), "`counts` must be \"best\" or \"last\"");
    terms.counts = counts == "best" ? CourseTerms::Counts::best : CourseTerms::Counts::last;
    ChapterTerms usual;
    ROOFWALK_TRY_STATUS(number(root, "pass_share", 0, 1, usual.pass_share));
    if (const toml::node* deadline = root.get("deadline")) {
      ROOFWALK_TRY_STATUS(moment(*deadline, "deadline", usual));
    }
    ROOFWALK_TRY_STATUS(late(root, terms.late));
    const toml::node* chapters = root.get("chapter");
    if (chapters == nullptr || !chapters->is_array_of_tables()) {
      return error(root, "there is no [[chapter]]",
                   "name each chapter that is graded: [[chapter]] name = \"vector-add\"");
    }
    for (const toml::node& entry : *chapters->as_array()) {
      ROOFWALK_TRY(ChapterTerms one, chapter_terms(*entry.as_table(), usual));
      if (terms.find(one.chapter) != nullptr) return error(entry, fmt::format("`{}` is listed twice", one.chapter));
      terms.chapters.push_back(std::move(one));
    }
    double weights = 0;
    for (const ChapterTerms& one : terms.chapters) weights += one.weight;
    if (weights <= 0) return error(root, "every weight is 0, so there is no total");
    std::string secrets;
    ROOFWALK_TRY_STATUS(text(root, "secrets", secrets));
    if (!secrets.empty()) ROOFWALK_TRY_STATUS(read_secrets(*root.get("secrets"), secrets, repository, terms));
    return terms;
  }

  // A course may name the version of the model by which its grades are given.
  Status model_version(const toml::table& root, ModelPin pin, CourseTerms& terms) const {
    const toml::node* node = root.get("model_version");
    if (node == nullptr) return kOk;
    const auto version = node->value_exact<std::int64_t>();
    if (!version || *version < 1) return error(*node, "`model_version` must be a whole number, 1 or larger");
    terms.model_version = *version;
    if (*version == kModelVersion || pin == ModelPin::ignored || terms.device.starts_with("cuda")) return kOk;
    return error(
        *node,
        fmt::format("the course is graded by version {} of the virtual GPU's model, and this roofwalk has {}", *version,
                    kModelVersion),
        fmt::format(
            "grade with the release that has it; `grade --compare` lists the verdicts that would change; or set "
            "{}, and every hand-in is graded anew",
            kModelVersion));
  }

  Status secrets(const toml::table& root, CourseTerms& terms) const {
    ROOFWALK_TRY_STATUS(only_keys(root, {"seeds", "sizes"}));
    if (const toml::node* node = root.get("seeds")) {
      const toml::array* seeds = node->as_array();
      if (seeds == nullptr || seeds->empty() || seeds->size() > kMostSeeds) {
        return error(*node, fmt::format("`seeds` must be a list of 1 to {} whole numbers", kMostSeeds));
      }
      for (const toml::node& seed : *seeds) {
        const auto value = seed.value_exact<std::int64_t>();
        if (!value || *value < 0) return error(seed, "a seed must be a whole number, 0 or larger");
        if (*value == static_cast<std::int64_t>(kPublicSeed))
          return error(seed, "this is the public seed", "take others");
        terms.hidden_seeds.push_back(static_cast<std::uint64_t>(*value));
      }
    }
    const toml::node* sizes = root.get("sizes");
    if (sizes == nullptr) return kOk;
    if (!sizes->is_table()) return error(*sizes, "[sizes.NAME] must give each extent of the chapter a list of values");
    for (const auto& [name, node] : *sizes->as_table()) {
      ROOFWALK_TRY(const Chapter* const of, chapter(node, std::string(name.str())));
      ROOFWALK_TRY(terms.hidden_sizes[of->name], sizes_of(node, *of));
      terms.hidden_sizes_at[of->name] = {file_, static_cast<int>(node.source().begin.line)};
    }
    return kOk;
  }

 private:
  Status late(const toml::table& root, LateTerms& out) const {
    const toml::node* node = root.get("late");
    if (node == nullptr) return kOk;
    if (!node->is_table()) return error(*node, "`late` must be a table", "[late] per_day = 0.1");
    const toml::table& table = *node->as_table();
    ROOFWALK_TRY_STATUS(only_keys(table, {"per_day", "most_days"}));
    ROOFWALK_TRY_STATUS(number(table, "per_day", 0, 1, out.per_day));
    return number(table, "most_days", 0, 1e9, out.most_days);
  }

  Result<ChapterTerms> chapter_terms(const toml::table& table, ChapterTerms terms) const {
    ROOFWALK_TRY_STATUS(only_keys(table, {"name", "points", "weight", "pass_share", "deadline", "thresholds"}));
    std::string name;
    ROOFWALK_TRY_STATUS(text(table, "name", name));
    if (name.empty()) return error(table, "a [[chapter]] needs a `name`");
    ROOFWALK_TRY(const Chapter* const of, chapter(*table.get("name"), name));
    terms.chapter = of->name;
    ROOFWALK_TRY_STATUS(number(table, "points", 0, kMostPoints, terms.points));
    terms.weight = terms.points;
    ROOFWALK_TRY_STATUS(number(table, "weight", 0, kMostPoints, terms.weight));
    if (terms.points == 0 && terms.weight > 0) {
      return error(*table.get("weight"), "a chapter without points has a weight, so nobody can reach the full total",
                   "give it points, or the weight 0");
    }
    ROOFWALK_TRY_STATUS(number(table, "pass_share", 0, 1, terms.pass_share));
    if (const toml::node* deadline = table.get("deadline")) {
      ROOFWALK_TRY_STATUS(moment(*deadline, "deadline", terms));
    }
    const toml::node* thresholds = table.get("thresholds");
    if (thresholds == nullptr) return terms;
    if (!thresholds->is_array()) return error(*thresholds, "`thresholds` must be a list of tables");
    for (const toml::node& entry : *thresholds->as_array()) {
      if (!entry.is_table())
        return error(entry, "a threshold must be a table: { what = \"share_of_roof\", level = \"dram\", pass = 0.6 }");
      ROOFWALK_TRY(Threshold threshold, threshold_of(*entry.as_table(), *of));
      terms.thresholds.push_back(std::move(threshold));
    }
    if (const auto changed = with_thresholds(*of, terms); !changed) return error(*thresholds, changed.error().message);
    return terms;
  }

  Result<Threshold> threshold_of(const toml::table& table, const Chapter& of) const {
    ROOFWALK_TRY_STATUS(only_keys(table, {"what", "level", "pass", "ace"}));
    Threshold threshold;
    std::string what;
    ROOFWALK_TRY_STATUS(text(table, "what", what));
    const auto asked = goal_what_from_name(what);
    if (!asked || !is_count(*asked)) ROOFWALK_TRY_STATUS(text(table, "level", threshold.level));
    for (const char* key : {"pass", "ace"}) {
      if (table.get(key) == nullptr) continue;
      double value = 0;
      ROOFWALK_TRY_STATUS(number(table, key, 1e-6, 1e6, value));
      (std::string_view(key) == "pass" ? threshold.pass : threshold.ace) = value;
    }
    std::vector<std::string> known;
    for (const Goal& goal : of.goals) {
      const std::string name = goal_what_name(goal.what);
      if (name == what && goal.level == threshold.level) {
        threshold.what = goal.what;
        return threshold;
      }
      known.push_back(is_count(goal.what) ? name : fmt::format("{} at {}", name, goal.level));
    }
    const std::string at = threshold.level.empty() ? std::string() : fmt::format(" at `{}`", threshold.level);
    return error(table, fmt::format("`{}` has no goal `{}`{}", of.name, what, at),
                 fmt::format("it has: {}", fmt::join(known, ", ")));
  }

  // Reads sizes in the form of exercise.toml: lists of the same length; case i consists of the i-th values.
  Result<std::vector<Size>> sizes_of(const toml::node& node, const Chapter& of) const {
    const toml::table* table = node.as_table();
    if (table == nullptr || table->empty()) return error(node, "extents with lists of values are missing");
    std::vector<std::vector<std::pair<std::string, std::int64_t>>> cases;
    for (const auto& [name, unused] : of.correctness_sizes.front().values()) {
      const toml::node* list = table->get(name);
      if (list == nullptr) return error(node, fmt::format("the extent `{}` of {} is missing", name, of.name));
      const toml::array* values = list->as_array();
      if (values == nullptr || values->empty() || values->size() > kMostSizes) {
        return error(*list, fmt::format("`{}` must be a list of 1 to {} values", name, kMostSizes));
      }
      if (cases.empty()) cases.resize(values->size());
      if (values->size() != cases.size()) {
        return error(*list, fmt::format("`{}` has {} values, but the extent before it has {}", name, values->size(),
                                        cases.size()));
      }
      for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto value = values->get(i)->value_exact<std::int64_t>();
        if (!value || *value < 1 || *value > kMostExtent) {
          return error(*list, fmt::format("`{}` must be whole numbers from 1 to {}", name, kMostExtent));
        }
        cases[i].emplace_back(name, *value);
      }
    }
    for (const auto& [key, value] : *table) {
      const auto& extents = of.correctness_sizes.front().values();
      if (std::none_of(extents.begin(), extents.end(), [&](const auto& e) { return e.first == key.str(); })) {
        return error(value, fmt::format("{} has no extent `{}`", of.name, std::string(key.str())));
      }
    }
    std::vector<Size> sizes;
    for (auto& values : cases) {
      // Kernels count elements in an int, too, and no buffer has more than the two largest extents say.
      std::vector<std::int64_t> extents = {1, 1};
      for (const auto& [name, value] : values) extents.push_back(value);
      std::sort(extents.begin(), extents.end(), std::greater<>());
      if (extents[0] > kMostExtent / extents[1]) {
        return error(node, fmt::format("a size of {} has more than {} elements, which an int cannot count", of.name,
                                       kMostExtent));
      }
      sizes.emplace_back(std::move(values));
    }
    return sizes;
  }

  Status read_secrets(const toml::node& at, const std::string& named, const fs::path& repository,
                      CourseTerms& terms) const {
    const fs::path path = fs::path(file_).parent_path() / named;  // an absolute path stays unchanged
    std::error_code missing;
    const fs::path full = fs::weakly_canonical(path, missing), root = fs::weakly_canonical(repository, missing);
    const fs::path inside = full.lexically_relative(root);
    if (!inside.empty() && *inside.begin() != "..") {
      return error(at, "the secrets are inside the repository, where a learner may see them",
                   "move the file elsewhere, and give its new path here");
    }
    if (!fs::is_regular_file(full, missing)) return error(at, fmt::format("there is no file {}", path.string()));
    terms.secrets_file = full;
    return use_secrets(file_text(full), path.string(), course_, terms);
  }

  std::string file_;
  const Course& course_;
};

// What the course asks for holds on every machine; what it leaves to the chapter stays a machine's own.
Status change(const Threshold& threshold, Goal& goal) {
  const auto check = [&](std::optional<double> pass, std::optional<double> ace, const std::string& where) -> Status {
    if (!pass || !ace) return kOk;
    if (is_upper_bound(goal.what) && *ace > *pass) {
      return Error{
          fmt::format("`ace` of {} allows {}, more than `pass`, {}{}", goal_what_name(goal.what), *ace, *pass, where)};
    }
    if (is_upper_bound(goal.what) || *ace >= *pass) return kOk;
    const std::string at = goal.level.empty() ? std::string() : " at " + goal.level;
    return Error{fmt::format("`ace` of {}{} asks for {}, less than `pass`, {}{}", goal_what_name(goal.what), at, *ace,
                             *pass, where)};
  };
  if (threshold.pass) goal.pass = threshold.pass;
  if (threshold.ace) goal.ace = threshold.ace;
  ROOFWALK_TRY_STATUS(check(goal.pass, goal.ace, ""));
  for (auto& [machine, own] : goal.on) {
    if (threshold.pass) own.pass.reset();
    if (threshold.ace) own.ace.reset();
    ROOFWALK_TRY_STATUS(check(own.pass ? own.pass : goal.pass, own.ace ? own.ace : goal.ace, ", on " + machine));
  }
  return kOk;
}

}  // namespace

const ChapterTerms* CourseTerms::find(std::string_view chapter) const {
  const auto at =
      std::find_if(chapters.begin(), chapters.end(), [&](const auto& one) { return one.chapter == chapter; });
  return at == chapters.end() ? nullptr : &*at;
}

HiddenCases CourseTerms::hidden(const std::string& chapter) const {
  const auto sizes = hidden_sizes.find(chapter);
  return {sizes == hidden_sizes.end() ? std::vector<Size>{} : sizes->second, hidden_seeds};
}

CourseTerms plain_terms(const Course& course) {
  CourseTerms terms;
  for (const Chapter& chapter : course.chapters) {
    ChapterTerms one;
    one.chapter = chapter.name;
    terms.chapters.push_back(std::move(one));
  }
  return terms;
}

Result<CourseTerms> read_terms(const fs::path& file, const Course& course, const fs::path& repository, ModelPin pin) {
  std::error_code missing;
  if (!fs::is_regular_file(file, missing)) {
    return Error{.message = fmt::format("there is no file {}", file.string()),
                 .advice = "book/instructors.md shows what a course.toml holds"};
  }
  try {
    const toml::table root = toml::parse(file_text(file), file.string());
    return Reader(file.string(), course).terms(root, repository, pin);
  } catch (const toml::parse_error& trouble) {
    return Error{fmt::format("is not TOML: {}", trouble.description()), file.string(),
                 static_cast<int>(trouble.source().begin.line)};
  }
}

Status use_secrets(const std::string& text, const std::string& what, const Course& course, CourseTerms& terms) {
  terms.hidden_seeds.clear();
  terms.hidden_sizes.clear();
  try {
    const toml::table root = toml::parse(text, what);
    return Reader(what, course).secrets(root, terms);
  } catch (const toml::parse_error& trouble) {
    return Error{fmt::format("is not TOML: {}", trouble.description()), what,
                 static_cast<int>(trouble.source().begin.line)};
  }
}

Status check_hidden_sizes(const CourseTerms& terms, const std::vector<Chapter>& chapters, const Machine& machine) {
  for (const Chapter& chapter : chapters) {
    const auto sizes = terms.hidden_sizes.find(chapter.name);
    const Exercise* const exercise = find_exercise(chapter.name);
    if (exercise == nullptr || sizes == terms.hidden_sizes.end()) continue;
    const Size largest = measured_size(chapter, machine);
    const Work measured = exercise->work(largest);
    const auto refuse = [&](std::size_t i, const std::string& why) {
      const auto& [file, line] = terms.hidden_sizes_at.at(chapter.name);
      return Error{fmt::format("hidden size {} of {} {}", i + 1, chapter.name, why), file, line,
                   "take a smaller size: hidden sizes need only be odd, not large"};
    };
    for (std::size_t i = 0; i < sizes->second.size(); ++i) {
      const Work work = exercise->work(sizes->second[i]);
      if (work.compulsory_bytes > machine.memory_bytes) {
        return refuse(
            i, fmt::format("does not fit into the memory of {}, {} MiB", machine.name, machine.memory_bytes >> 20));
      }
      if (share_of(work, measured) > 1) {
        return refuse(
            i, fmt::format("needs more work than the size that is measured on {} ({})", machine.name, largest.text()));
      }
    }
  }
  return kOk;
}

Result<Chapter> with_thresholds(const Chapter& chapter, const ChapterTerms& terms) {
  Chapter changed = chapter;
  for (const Threshold& threshold : terms.thresholds) {
    for (Goal& goal : changed.goals) {
      if (goal.what != threshold.what || goal.level != threshold.level) continue;
      ROOFWALK_TRY_STATUS(change(threshold, goal));
    }
  }
  return changed;
}

std::string moment_text(std::int64_t seconds, int offset_min) {
  constexpr std::int64_t kEarliestMoment = -62'135'596'800;  // 0001-01-01
  const std::int64_t local_s = std::clamp(seconds, kEarliestMoment, kLatestMoment) + std::int64_t{60} * offset_min;
  const auto there = fmt::gmtime(static_cast<std::time_t>(std::clamp(local_s, kEarliestMoment, kLatestMoment)));
  if (offset_min == 0) return fmt::format("{:%Y-%m-%d %H:%M} UTC", there);
  return fmt::format("{:%Y-%m-%d %H:%M} (UTC{}{:02}:{:02})", there, offset_min < 0 ? '-' : '+',
                     std::abs(offset_min) / 60, std::abs(offset_min) % 60);
}

}  // namespace roofwalk
