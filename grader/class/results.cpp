#include "grader/class/results.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/atomic_file.h"
#include "common/base/json.h"
#include "grader/attempt/chapter_roofs.h"
#include "grader/class/batch/grade_all.h"
#include "grader/class/batch/stored_grade.h"
#include "grader/class/exports/csv.h"
#include "grader/class/exports/exporter.h"
#include "grader/class/site/site.h"

namespace roofwalk {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> write_tables(const Batch& batch, const Gradebook& book) {
  std::vector<fs::path> written;
  for (const Exporter* exporter : exporters()) {
    if (exporter->file.empty()) continue;
    written.push_back(batch.folder() / exporter->file);
    ROOFWALK_TRY_STATUS(replace_file(written.back(), exporter->text(book)));
  }
  return written;
}

Result<fs::path> write_site(Batch& batch, const Rig& rig, const Gradebook& book, bool shows_names) {
  ROOFWALK_TRY(const std::string salt, batch.store().salt());
  ROOFWALK_TRY(const auto grades, batch.store().grades());
  std::map<std::string, std::int64_t> ids;  // by key: the grade of its last round
  for (const StoredGrade& grade : grades) ids[grade.key] = grade.id;
  std::vector<Chart> charts;
  std::vector<std::optional<Point>> starters;
  for (const Column& column : book.columns) {
    Chart chart;
    chart.title = fmt::format("{} on {}", column.chapter, rig.device_title());
    chart.level = column.level;
    const auto chapter = std::find_if(batch.chapters().begin(), batch.chapters().end(),
                                      [&](const Chapter& one) { return one.name == column.chapter; });
    ROOFWALK_CHECK(chapter != batch.chapters().end());
    chart.roofs = roofs_for(rig, *chapter);
    chart.baseline = chapter->baseline_name();
    charts.push_back(std::move(chart));
    ROOFWALK_TRY(const StarterDot dot, starter_dot(rig, *chapter, batch.terms().hidden(column.chapter)));
    const auto at = dot.points.find(column.level);
    starters.push_back(at == dot.points.end() ? std::nullopt : std::optional<Point>(at->second));
  }
  // A new folder replaces the old one, so that no page of an older report remains.
  const fs::path folder = batch.folder() / (shows_names ? kNamedSite : kSite), fresh = fresh_beside(folder);
  std::error_code error;
  fs::remove_all(fresh, error);
  ROOFWALK_TRY(
      const PageNames pages,
      make_site({.book = book,
                 .salt = salt,
                 .shows_names = shows_names,
                 .charts = std::move(charts),
                 .starters = std::move(starters),
                 .pages = [&](const std::string& key) -> Result<GradePages> {
                   const auto at = ids.find(key);
                   return at == ids.end() ? GradePages{} : batch.store().pages(at->second);
                 }},
                [&](const std::string& path, const std::string& text) { return replace_file(fresh / path, text); }));
  ROOFWALK_TRY_STATUS(replace_folder(fresh, folder));
  if (shows_names) return folder / "index.html";
  CsvTable names;
  names.rows.push_back({"student", "called", "page"});
  for (const auto& [student, called, page] : pages)
    names.rows.push_back({student, called, fmt::format("{}/{}", kSite, page)});
  ROOFWALK_TRY_STATUS(replace_file(batch.folder() / "report-names.csv", write_harmless_csv(std::move(names))));
  return folder / "index.html";
}

}  // namespace roofwalk
