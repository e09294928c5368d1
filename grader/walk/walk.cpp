#include "grader/walk/walk.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "common/base/json.h"
#include "common/record/model_version.h"
#include "common/store/store.h"
#include "common/store/stored_attempt.h"
#include "grader/attempt/baseline.h"
#include "grader/attempt/chapter_roofs.h"
#include "grader/attempt/goals.h"
#include "grader/rig/workers.h"

namespace roofwalk {
namespace {

LevelPoints stored_points(const Json& attempt) {
  LevelPoints points;
  for (const char* level : {"dram", "l2", "l1"}) {
    if (const auto point = stored_point(attempt, level)) points[level] = *point;
  }
  return points;
}

GoalRegion region_of(const std::vector<Goal>& goals, const std::string& level, double algorithmic_ai,
                     double peak_flops_per_s, const LevelPoints& starter, Grade grade) {
  GoalRegion region;
  region.label = grade_name(grade);
  const auto from = starter.find(level);
  const Point start = from == starter.end() ? Point{} : from->second;
  for (const Goal& goal : goals) {
    const auto wanted = grade == Grade::ace && goal.ace ? goal.ace : goal.pass;
    // A goal about another level's bytes has no place on this axis. A goal about FLOP/s has, because FLOP/s are the
    // same at all levels.
    const bool is_flops = goal.what == Goal::What::flops_over_starter || goal.what == Goal::What::share_of_peak;
    if (!wanted || (goal.level != level && !is_flops)) continue;
    switch (goal.what) {
      case Goal::What::ai_over_starter:
        region.min_ai = std::max(region.min_ai, *wanted * start.ai);
        break;
      case Goal::What::share_of_algorithmic_ai:
        region.min_ai = std::max(region.min_ai, *wanted * algorithmic_ai);
        break;
      case Goal::What::ai_unlike_starter:
      case Goal::What::sector_use:
        break;  // have no place in a roofline
      case Goal::What::share_of_roof:
        region.share_of_roof = std::max(region.share_of_roof, *wanted);
        break;
      case Goal::What::share_of_peak:
        region.min_flops_per_s = std::max(region.min_flops_per_s, *wanted * peak_flops_per_s);
        break;
      case Goal::What::flops_over_starter:
        region.min_flops_per_s = std::max(region.min_flops_per_s, *wanted * start.flops_per_s);
        break;
      default:
        break;  // counts have no place in a roofline
    }
  }
  return region;
}

double algorithmic_ai_of(const Work& work) {
  return static_cast<double>(work.useful_flops) / static_cast<double>(work.compulsory_bytes);
}

Chart empty_chart(const Rig& rig, const Roofs& roofs, const std::string& names, const std::string& level,
                  const Size& size, const Work& work) {
  Chart chart;
  chart.title = fmt::format("{} on {} ({})", names, rig.device_title(), size.text());
  chart.level = level;
  chart.roofs = roofs;
  chart.time_is_modelled = rig.device_kind == "virtual";
  if (level == "dram") chart.algorithmic_ai = algorithmic_ai_of(work);  // at other levels no kernel comes near
  return chart;
}

void add_dot(const std::string& label, const Dot& dot, Chart& chart) {
  const auto point = dot.points.find(chart.level);
  if (point == dot.points.end()) return;
  chart.walk.push_back({label, point->second, dot.is_modelled, dot.grade != Grade::none, dot.is_older});
}

void add_starter(const Rig& rig, const Chapter& chapter, const LevelPoints& points, Chart& chart) {
  chart.baseline = chapter.baseline_name();
  add_dot(chart.baseline, {.label = {}, .points = points, .is_modelled = rig.models()}, chart);
}

bool is_modelled(const Json& attempt) { return stored_model_version(attempt).has_value(); }

bool is_older(const Json& attempt) { return stored_model_version(attempt).value_or(kModelVersion) != kModelVersion; }

bool is_graded(const Attempt& attempt) {
  return attempt.judgement.verdict == Verdict::pass || attempt.judgement.verdict == Verdict::fail;
}

}  // namespace

std::vector<Dot> dots_of(const std::vector<StoredAttempt>& stored) {
  std::vector<Dot> dots;
  for (const StoredAttempt& attempt : stored) {
    LevelPoints points = stored_points(attempt.attempt);
    if (points.empty()) continue;
    dots.push_back({fmt::format("{}", dots.size() + 1), std::move(points),
                    grade_from_name(attempt.attempt.value("grade", "")), is_modelled(attempt.attempt),
                    is_older(attempt.attempt)});
  }
  return dots;
}

const Dot* best_dot(const std::vector<Dot>& dots) {
  const auto flops = [](const Dot& dot) { return dot.points.begin()->second.flops_per_s; };
  const auto best = std::max_element(dots.begin(), dots.end(), [&](const Dot& a, const Dot& b) {
    if (a.is_older != b.is_older) return a.is_older;
    return a.grade != b.grade ? a.grade < b.grade : flops(a) < flops(b);
  });
  return best == dots.end() ? nullptr : &*best;
}

Chart walk_chart(const Rig& rig, const Chapter& chapter, const std::string& level, const Size& size, const Work& work,
                 const LevelPoints& starter, const std::vector<Dot>& dots, Grade goal_for) {
  Chart chart = empty_chart(rig, roofs_for(rig, chapter), chapter.name, level, size, work);
  const double peak = chart.roofs.compute.empty() ? 0 : chart.roofs.compute.front().flops_per_s;
  chart.goal = region_of(goals_on(rig.machine, chapter, work).asked, chart.level, algorithmic_ai_of(work), peak,
                         starter, goal_for);
  add_starter(rig, chapter, starter, chart);
  for (const Dot& dot : dots) add_dot(dot.label, dot, chart);
  return chart;
}

void add_library(const Rig& rig, const LibraryDot& library, Chart& chart) {
  const auto point = library.dot.points.find(chart.level);
  if (point == library.dot.points.end() || point->second.ai <= 0 || point->second.flops_per_s <= 0) return;
  chart.library = PlotPoint{.label = library.name, .point = point->second, .modelled = rig.models()};
}

Chart joint_chart(const Rig& rig, const Chapter& first, const std::string& level, const Size& size, const Work& work,
                  const LevelPoints& starter, const std::vector<ChapterWalk>& chapters) {
  std::string names;
  for (const ChapterWalk& chapter : chapters) names += (names.empty() ? "" : ", ") + chapter.name;
  Chart chart = empty_chart(rig, roofs_for(rig, first), names, level, size, work);
  add_starter(rig, first, starter, chart);
  for (const ChapterWalk& chapter : chapters) {
    const Dot* best = best_dot(chapter.dots);
    if (best != nullptr) add_dot(chapter.name, *best, chart);
  }
  return chart;
}

Result<WalkNews> record(const Rig& rig, const Chapter& chapter, Store& store, bool joins, Attempt& attempt) {
  WalkNews news;
  ROOFWALK_TRY(const auto stored, store.walk(chapter.name, attempt.device));
  attempt.plot.clear();  // so that the stored record does not depend on the picture's path
  attempt.prediction = {};
  const Json json = to_json(attempt);
  news.unchanged = joins && !stored.empty() && stored.back().attempt == json;
  news.joined = joins && !news.unchanged;

  std::vector<Dot> dots = dots_of(stored);
  const bool has_dot = is_graded(attempt);
  if (has_dot && news.unchanged) dots.pop_back();
  news.follows_older = has_dot && !dots.empty() && dots.back().is_older;
  if (has_dot && !dots.empty() && !news.follows_older) {
    const auto last = dots.back().points.find(attempt.walk_level);
    const auto point = attempt.measurement->point(attempt.walk_level);
    if (point && last != dots.back().points.end()) news.since_last = movement(last->second, *point);
  }

  const auto has_moved = [&](const Dot& dot) {
    const auto from = attempt.starter.find(attempt.walk_level);
    const auto to = dot.points.find(attempt.walk_level);
    return from != attempt.starter.end() && to != dot.points.end() && direction_of(movement(from->second, to->second));
  };
  news.first_move = joins && has_dot && !attempt.is_starter && attempt.moved && direction_of(*attempt.moved) &&
                    std::none_of(dots.begin(), dots.end(), has_moved);

  std::future<Status> picture;
  if (has_dot) {
    if (!attempt.is_starter) {
      dots.push_back({joins ? fmt::format("{}", dots.size() + 1) : std::filesystem::path(attempt.file).stem().string(),
                      points_of(*attempt.measurement), attempt.judgement.grade, is_modelled(json)});
    }
    const Dot* best = best_dot(dots);
    const Grade goal_for = best != nullptr && best->grade != Grade::none ? Grade::ace : Grade::pass;
    const Work work{static_cast<std::int64_t>(attempt.measurement->useful_flops.value),
                    static_cast<std::int64_t>(attempt.measurement->compulsory_bytes.value)};
    news.chart = walk_chart(rig, chapter, attempt.walk_level, attempt.size, work, attempt.starter, dots, goal_for);
    news.library = kept_library_dot(rig, chapter);
    if (news.library) add_library(rig, *news.library, *news.chart);
    news.is_beside = !joins;
  }
  if (has_dot && joins) {
    const auto path = rig.picture(chapter.name, ".svg");
    picture = start(2, [chart = *news.chart, path] {
      std::error_code error;
      std::filesystem::create_directories(path.parent_path(), error);
      return write_plot(chart, path);
    });
    attempt.plot = path.string();
  }
  if (news.joined) {
    ROOFWALK_TRY_STATUS(store.add({.chapter = chapter.name,
                                   .device = attempt.device,
                                   .created_at = utc_now(),
                                   .source_sha256 = attempt.source_sha256,
                                   .is_starter = attempt.is_starter,
                                   .attempt = json}));
  }
  if (picture.valid()) {
    if (const Status drawn = picture.get(); !drawn) {
      attempt.plot.clear();
      news.plot_trouble = drawn.error().text();
    }
  }
  return news;
}

Result<LevelPoints> starter_of(const Rig& rig, const Chapter& chapter) {
  const auto measured = prepare(chapter, rig.machine, kPublicSeed, 1);
  ROOFWALK_TRY(const StarterDot starter, baseline_of(rig, chapter, *measured, kPublicSeed));
  return starter.points;
}

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace roofwalk
