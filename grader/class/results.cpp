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
namespace {

namespace fs = std::filesystem;

using ChapterCharts = std::map<std::string, ChapterChart>;
using GradeIds = std::map<std::string, std::int64_t>;  // by key: the grade of its last round

// Adds the charts of the book's chapters that are not there yet.
Status add_charts(const Batch& batch, const Rig& rig, const Gradebook& book, ChapterCharts& charts) {
  for (const Column& column : book.columns) {
    if (charts.contains(column.chapter)) continue;
    const auto chapter = std::find_if(batch.chapters().begin(), batch.chapters().end(),
                                      [&](const Chapter& one) { return one.name == column.chapter; });
    ROOFWALK_CHECK(chapter != batch.chapters().end());
    ROOFWALK_TRY(const StarterDot dot, starter_dot(rig, *chapter, batch.terms().hidden(column.chapter)));
    const auto at = dot.points.find(column.level);
    ChapterChart one;
    one.chart.title = fmt::format("{} on {}", column.chapter, rig.device_title());
    one.chart.level = column.level;
    one.chart.roofs = roofs_for(rig, *chapter);
    one.chart.baseline = chapter->baseline_name();
    if (at != dot.points.end()) one.starter = at->second;
    charts.emplace(column.chapter, std::move(one));
  }
  return kOk;
}

Result<GradeIds> ids_of(Batch& batch) {
  ROOFWALK_TRY(const auto grades, batch.store().grades());
  GradeIds ids;
  for (const StoredGrade& grade : grades) ids[grade.key] = grade.id;
  return ids;
}

// The site's input without the salt and the pages that are there.
SiteInput input_of(Batch& batch, const Gradebook& book, const ChapterCharts& charts, const GradeIds& ids) {
  SiteInput input{.book = book, .salt = {}, .charts = {}, .starters = {}, .pages = {}};
  for (const Column& column : book.columns) {
    const ChapterChart& one = charts.at(column.chapter);
    input.charts.push_back(one.chart);
    input.starters.push_back(one.starter);
  }
  input.pages = [&batch, &ids](const std::string& key) -> Result<GradePages> {
    const auto at = ids.find(key);
    return at == ids.end() ? GradePages{} : batch.store().pages(at->second);
  };
  return input;
}

std::string names_table(const PageNames& pages) {
  CsvTable names;
  names.rows.push_back({"student", "called", "page"});
  for (const auto& [student, called, page] : pages)
    names.rows.push_back({student, called, fmt::format("{}/{}", kSite, page)});
  return write_harmless_csv(std::move(names));
}

}  // namespace

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
  const fs::path folder = batch.folder() / (shows_names ? kNamedSite : kSite), fresh = fresh_beside(folder);
  ChapterCharts charts;
  ROOFWALK_TRY_STATUS(add_charts(batch, rig, book, charts));
  ROOFWALK_TRY(const GradeIds ids, ids_of(batch));
  SiteInput input = input_of(batch, book, charts, ids);
  ROOFWALK_TRY(input.salt, batch.store().salt());
  input.shows_names = shows_names;
  // A browser that comes while the folder is new would otherwise not come again.
  if (LivePages::are_kept(folder)) input.reload_s = kReload_s;
  // A new folder replaces the old one, so that no page of an older report remains.
  std::error_code error;
  fs::remove_all(fresh, error);
  Result<PageNames> pages = make_site(
      input, [&](const std::string& path, const std::string& text) { return write_into_fresh(fresh / path, text); });
  const Status replaced = pages ? replace_folder(fresh, folder) : Status(pages.error());
  if (!replaced) {
    fs::remove_all(fresh, error);
    return replaced.error();
  }
  if (!shows_names) ROOFWALK_TRY_STATUS(replace_file(batch.folder() / "report-names.csv", names_table(*pages)));
  return folder / "index.html";
}

Result<LiveSite> LiveSite::open(const Batch& batch, bool shows_names) {
  const fs::path folder = batch.folder() / (shows_names ? kNamedSite : kSite);
  ROOFWALK_TRY(LivePages pages, LivePages::open(folder));
  return LiveSite(folder, shows_names, std::move(pages));
}

Result<std::size_t> LiveSite::update(Batch& batch, const Rig& rig, const Gradebook& book, int reload_s) {
  ROOFWALK_TRY_STATUS(add_charts(batch, rig, book, charts_));
  ROOFWALK_TRY(GradeIds ids, ids_of(batch));
  SiteInput input = input_of(batch, book, charts_, ids);
  if (salt_.empty()) {
    ROOFWALK_TRY(salt_, batch.store().salt());
  }
  input.salt = salt_;
  input.shows_names = shows_names_;
  input.reload_s = reload_s;
  input.is_there = [&](const std::string& key, const std::string& path) {
    const auto shown = ids_.find(key), now = ids.find(key);
    return shown != ids_.end() && now != ids.end() && shown->second == now->second && pages_.keep(path);
  };
  PageNames names;
  ROOFWALK_TRY(const std::size_t replaced, pages_.update([&](const WritePage& write) -> Status {
    ROOFWALK_TRY(names, make_site(input, write));
    return kOk;
  }));
  ids_ = std::move(ids);
  const fs::path file = batch.folder() / "report-names.csv";
  if (const std::string text = names_table(names); !shows_names_ && file_text(file) != text) {
    ROOFWALK_TRY_STATUS(replace_file(file, text));
  }
  return replaced;
}

}  // namespace roofwalk
