#include "grader/class/batch/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/base/json.h"
#include "grader/class/batch/stored_grade.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

bool is_new_grade(const Entry& entry) { return !entry.verdict.empty() && entry.graded_by == GradedBy::these_terms; }

bool names(const std::vector<std::string>& chapters, const std::string& chapter) {
  return std::find(chapters.begin(), chapters.end(), chapter) != chapters.end();
}

bool is_same_total(const TotalPair& total) { return total.on_record_percent == total.now_percent; }

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

Json grade_json(const Entry& entry, bool counts) {
  return {{"verdict", entry.verdict},
          {"grade", entry.grade.empty() ? Json(nullptr) : Json(entry.grade)},
          {"points", entry.points ? Json(*entry.points) : Json(nullptr)},
          {"model_version", entry.model_version ? Json(*entry.model_version) : Json(nullptr)},
          {"counts", counts},
          {"reasons", entry.reasons}};
}

// "ace, 10 points (model 2)"
std::string grade_text(const Entry& entry) {
  return fmt::format("{}, {} points{}", verdict_words(entry.verdict, entry.grade),
                     entry.points ? points_text(*entry.points) : "no",
                     entry.model_version ? fmt::format(" (model {})", *entry.model_version) : "");
}

std::string pair_text(const GradePair& pair) {
  std::string text = fmt::format(
      "{}, {} ({}){}\n  {} -> {}\n", printable(pair.student), pair.chapter, printable(pair.on_record.label),
      pair.counted || pair.counts ? "" : ", another hand-in counts", grade_text(pair.on_record), grade_text(pair.now));
  if (!pair.is_same_verdict() && !pair.now.reasons.empty()) {
    const std::string& reason = pair.now.reasons.front();
    text += "      " + printable(reason.substr(0, reason.find('\n'))) + "\n";
  }
  return text;
}

}  // namespace

std::size_t Comparison::changed_verdicts() const {
  return static_cast<std::size_t>(
      std::count_if(grades.begin(), grades.end(), [](const GradePair& pair) { return !pair.is_same_verdict(); }));
}

std::size_t Comparison::changed_points() const {
  return static_cast<std::size_t>(std::count_if(
      grades.begin(), grades.end(), [](const GradePair& pair) { return pair.is_same_verdict() && !pair.is_same(); }));
}

std::size_t Comparison::changed_totals() const {
  return totals.size() - static_cast<std::size_t>(std::count_if(totals.begin(), totals.end(), is_same_total));
}

Comparison compare(const Gradebook& on_record, const Gradebook& now, const std::vector<std::string>& chapters) {
  ROOFWALK_CHECK(on_record.rows.size() == now.rows.size());
  Comparison comparison;
  for (std::size_t i = 0; i < now.rows.size(); ++i) {
    const StudentRow &old_row = on_record.rows[i], &new_row = now.rows[i];
    bool all_new = true;
    for (std::size_t column = 0; column < now.columns.size(); ++column) {
      const Cell &old_cell = old_row.cells[column], &new_cell = new_row.cells[column];
      if (!names(chapters, now.columns[column].chapter)) {
        all_new = false;
        continue;
      }
      for (const Entry& entry : new_cell.entries) {
        const auto old_entry = std::find_if(old_cell.entries.begin(), old_cell.entries.end(),
                                            [&](const Entry& one) { return one.source_sha256 == entry.source_sha256; });
        ROOFWALK_CHECK(old_entry != old_cell.entries.end());
        if (old_entry->verdict.empty()) {
          ++comparison.without_record;
        } else if (!is_new_grade(entry)) {
          ++comparison.without_new;
        } else {
          comparison.grades.push_back({new_row.owner.student, now.columns[column].chapter, *old_entry, entry,
                                       old_cell.counting() == &*old_entry, new_cell.counting() == &entry});
          continue;
        }
        all_new = false;
      }
    }
    if (all_new && old_row.total_percent && new_row.total_percent)
      comparison.totals.push_back({new_row.owner.student, old_row.total_percent, new_row.total_percent});
  }
  return comparison;
}

Result<Batch> comparing_batch(const Course& course, const BatchPlaces& places, const Rig& rig, Batch& batch,
                              const std::vector<std::string>& chapters) {
  BatchPlaces beside = places;
  beside.folder = places.folder / "compare";
  beside.sources = places.folder / "sources";
  ROOFWALK_TRY(Batch comparing, Batch::open(course, beside));
  comparing.use_bench(rig);
  ROOFWALK_TRY(const auto grades, batch.store().grades());
  ROOFWALK_TRY(const auto submissions, batch.store().submissions());
  std::set<std::string> on_record, keys;
  for (const StoredGrade& grade : grades) on_record.insert(grade.chapter + grade.source_sha256);
  Handed handed;
  ROOFWALK_TRY(handed.students, batch.store().students());
  for (const Submission& s : submissions) {
    if (!names(chapters, s.chapter) || !on_record.contains(s.chapter + s.source_sha256)) continue;
    handed.submissions.push_back(s);
    keys.insert(comparing.key(s));
  }
  ROOFWALK_TRY_STATUS(comparing.store().add(handed));
  for (const StoredGrade& grade : grades) {
    if (keys.contains(grade.key)) ROOFWALK_TRY_STATUS(comparing.store().add(grade));
  }
  return comparing;
}

Json to_json(const Comparison& comparison) {
  Json json{{"schema", "roofwalk.compare/1"},
            {"compared", comparison.grades.size()},
            {"changed_verdicts", comparison.changed_verdicts()},
            {"changed_points", comparison.changed_points()},
            {"without_record", comparison.without_record},
            {"without_new", comparison.without_new}};
  json["submissions"] = Json::array();
  for (const GradePair& pair : comparison.grades) {
    if (pair.is_same()) continue;
    json["submissions"].push_back({{"student", pair.student},
                                   {"chapter", pair.chapter},
                                   {"file", pair.on_record.label},
                                   {"source_sha256", pair.on_record.source_sha256},
                                   {"on_record", grade_json(pair.on_record, pair.counted)},
                                   {"now", grade_json(pair.now, pair.counts)}});
  }
  json["totals"] = Json::array();
  for (const TotalPair& total : comparison.totals) {
    if (is_same_total(total)) continue;
    json["totals"].push_back({{"student", total.student},
                              {"on_record_percent", *total.on_record_percent},
                              {"now_percent", *total.now_percent}});
  }
  return json;
}

std::string text_of(const Comparison& comparison) {
  std::string text;
  for (const GradePair& pair : comparison.grades) {
    if (!pair.is_same()) text += pair_text(pair);
  }
  for (const TotalPair& total : comparison.totals) {
    if (is_same_total(total)) continue;
    text += fmt::format("{}, total: {} % -> {} %\n", printable(total.student), points_text(*total.on_record_percent),
                        points_text(*total.now_percent));
  }
  if (!text.empty()) text += "\n";
  text += fmt::format("{} compared: {} would get another verdict, {} only other points; the total of {} would change\n",
                      counted(comparison.grades.size(), "submission", "submissions"), comparison.changed_verdicts(),
                      comparison.changed_points(), counted(comparison.changed_totals(), "student", "students"));
  if (comparison.without_record > 0)
    text += fmt::format("{} no grade on record\n",
                        counted(comparison.without_record, "submission has", "submissions have"));
  if (comparison.without_new > 0)
    text += fmt::format("{} by a fault of the grader: the same command tries again\n",
                        counted(comparison.without_new, "submission was not graded", "submissions were not graded"));
  return text;
}

}  // namespace roofwalk
