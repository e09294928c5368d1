#include "grader/class/batch/gradebook.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "common/base/hash.h"
#include "common/base/json.h"
#include "grader/class/batch/doubts.h"
#include "grader/class/batch/stored_grade.h"
#include "grader/course/course.h"

namespace roofwalk {
namespace {

double two_decimals(double value) { return std::round(value * 100) / 100; }

int days_late(const Submission& submission, const Column& column) {
  constexpr std::int64_t kDay = 86400;
  if (submission.owner.mark != LateMark::none) return submission.owner.mark == LateMark::late ? 1 : 0;
  const std::int64_t at_s = submission.submitted_at_s;
  if (!column.deadline_s || !is_known_time(at_s) || at_s <= *column.deadline_s) return 0;
  return static_cast<int>((at_s - *column.deadline_s + kDay - 1) / kDay);
}

double late_factor(const LateTerms& late, int days) {
  if (days > late.most_days) return 0;
  return std::clamp(1 - late.per_day * days, 0.0, 1.0);
}

Entry entry_of(const Submission& submission, const Column& column, const CourseTerms& terms, const StoredGrade* grade,
               const FindTrouble& trouble) {
  Entry entry;
  entry.label = submission.label;
  entry.source_sha256 = submission.source_sha256;
  entry.submitted_at_s = entry.submitted_again_at_s = submission.submitted_at_s;
  entry.mark = submission.owner.mark;
  entry.late_days = days_late(submission, column);
  entry.late_factor = late_factor(terms.late, entry.late_days);
  entry.is_starter = submission.source_sha256 == column.starter_sha256;
  if (grade == nullptr) {
    entry.trouble = trouble(submission);
    entry.reasons = {entry.trouble.empty() ? "not graded yet" : "a fault of the grader: a person has to look"};
    return entry;
  }
  entry.key = grade->key;
  const Json attempt = grade->result.value("attempt", Json::object());
  entry.verdict = attempt.text_of("verdict");
  entry.grade = attempt.text_of("grade");
  entry.boxed = attempt.value("sandboxed", false);
  entry.model_version = stored_model_version(attempt);
  for (const Json& reason : attempt.value("reasons", Json::array())) {
    if (reason.is_string()) entry.reasons.push_back(reason.get<std::string>());
  }
  entry.dot = stored_point(attempt, column.level);
  if (entry.verdict == verdict_name(Verdict::pass) || entry.verdict == verdict_name(Verdict::fail)) {
    entry.scales = scales_from_json(grade->result.value("scales", Json::array()));
    entry.credit = credit(entry.scales, column.pass_share);
  } else if (entry.verdict != verdict_name(Verdict::not_graded) && entry.verdict != verdict_name(Verdict::too_noisy)) {
    entry.credit = 0;
  }
  if (entry.credit) entry.points = two_decimals(*entry.credit * column.points * entry.late_factor);
  return entry;
}

// Chooses the entry that counts. With "best", the one with the most points; of equals, the earliest. With "last", the
// one handed in last, graded or not; of several with the same time, as in a zip, the best. One whose time is unknown is
// the last only if no time is known.
void choose(Cell& cell, CourseTerms::Counts counts) {
  if (cell.entries.empty()) return;
  const auto is_earlier = [](const Entry& a, const Entry& b) {
    return is_before(a.submitted_again_at_s, b.submitted_again_at_s);
  };
  const auto last = std::max_element(cell.entries.begin(), cell.entries.end(), is_earlier);
  for (std::size_t i = 0; i < cell.entries.size(); ++i) {
    if (counts == CourseTerms::Counts::last && is_earlier(cell.entries[i], *last)) continue;
    const auto& points = cell.entries[i].points;
    if (points && (!cell.counts || *points > *cell.entries[*cell.counts].points)) cell.counts = i;
  }
  if (!cell.counts) {
    cell.counts = counts == CourseTerms::Counts::last ? static_cast<std::size_t>(last - cell.entries.begin())
                                                      : cell.entries.size() - 1;
  }
  cell.state = cell.counting()->points ? Cell::State::graded : Cell::State::not_graded;
}

// Whether a column is part of the total. Not even a hand-in counts before the deadline: one that is unfinished would
// lower the total below that of a student who has not handed in yet.
bool counts_now(const Column& column) { return column.is_due && column.weight > 0; }

std::optional<double> total_of(const std::vector<Cell>& cells, const std::vector<Column>& columns) {
  double reached = 0, weights = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!counts_now(columns[i])) continue;
    const auto points = cells[i].points();
    if (!points) return std::nullopt;
    if (columns[i].points > 0) reached += columns[i].weight * *points / columns[i].points;
    weights += columns[i].weight;
  }
  return weights > 0 ? std::optional<double>(two_decimals(100 * reached / weights)) : std::nullopt;
}

// Marks students who handed in the same bytes, so that an instructor can look at them. Many students may share one
// file, so each cell names a few others and counts the rest.
void note_same_files(Gradebook& book) {
  for (std::size_t column = 0; column < book.columns.size(); ++column) {
    std::map<std::string, std::vector<std::size_t>> owners;
    for (std::size_t row = 0; row < book.rows.size(); ++row) {
      const Entry* entry = book.rows[row].cells[column].counting();
      if (entry != nullptr && !entry->is_starter) owners[entry->source_sha256].push_back(row);
    }
    const auto place = [&](std::size_t row) {  // a group's file has the same label and time for all members
      const Entry* entry = book.rows[row].cells[column].counting();
      return std::make_pair(entry->label, entry->submitted_at_s);
    };
    for (const auto& [sha256, rows] : owners) {
      std::map<std::pair<std::string, std::int64_t>, std::size_t> at_place;
      std::vector<std::size_t> first;  // rows to name: at most kMostSameNamed of each place
      for (const std::size_t row : rows) {
        if (++at_place[place(row)] <= kMostSameNamed) first.push_back(row);
      }
      for (const std::size_t row : rows) {
        Cell& cell = book.rows[row].cells[column];
        cell.same_as_count = rows.size() - at_place[place(row)];
        for (std::size_t i = 0; i < first.size() && cell.same_as.size() < kMostSameNamed; ++i) {
          if (place(first[i]) != place(row)) cell.same_as.push_back(book.rows[first[i]].owner.student);
        }
      }
    }
  }
}

// Whether the student lacks a submission for some chapter; also true if there are no chapters.
bool lacks_one(const StudentRow& row) {
  return row.cells.empty() ||
         std::any_of(row.cells.begin(), row.cells.end(), [](const Cell& cell) { return cell.entries.empty(); });
}

// Whether a left-out file is at least as new as all of the student's submissions for its chapter. If its name tells no
// chapter, one chapter for which this is true suffices. Equal times count as newer, because all files of a hand-in have
// the same time.
bool is_newer(const LeftOut& out, const StudentRow& row, const Gradebook& book) {
  std::vector<std::string> chapters;
  for (const Column& column : book.columns) chapters.push_back(column.chapter);
  const auto chapter = chapter_of_file(out.label.substr(out.label.rfind('/') + 1), chapters);
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (chapter && *chapter != chapters[i]) continue;
    std::int64_t last_s = 0;
    for (const Entry& entry : row.cells[i].entries) last_s = std::max(last_s, entry.submitted_again_at_s, is_before);
    if (out.handed_in_at_s >= last_s || is_before(last_s, out.handed_in_at_s)) return true;
  }
  return false;
}

// Whether `entry` replaces `known`, an entry with the same bytes. If only one of them is marked "on time", it wins: the
// file was on time, even if it is handed in again for another deadline, or downloaded again without marks. If only one
// of them is marked "late", and the other has no mark, the marked one wins if the other is late by its time, or if both
// have the same time, whichever came first: the file may have been graded by itself, without its mark, before. In all
// other cases, the earlier entry wins.
bool is_earlier(const Entry& entry, const Entry& known) {
  const bool is_on_time = entry.mark == LateMark::on_time, was_on_time = known.mark == LateMark::on_time;
  if (is_on_time != was_on_time) return is_on_time;
  const bool has_mark = entry.mark != LateMark::none, had_mark = known.mark != LateMark::none;
  const Entry& timed = has_mark ? known : entry;
  if (has_mark != had_mark && (timed.late_days > 0 || entry.submitted_at_s == known.submitted_at_s)) return has_mark;
  return entry.submitted_at_s < known.submitted_at_s;
}

// The rows by student. Names with the same number on a platform share a row, because a student's name may change or be
// spelt in several ways.
struct Rows {
  std::map<std::string, StudentRow> by_student;
  std::map<std::string, std::string> first,
      by_id;  // the names of rows: `first` by each name of the row's student, `by_id` by number

  const std::string& add(const Owner& owner, std::size_t columns) {
    const auto by = [&] { return by_id.try_emplace(owner.lms_id, owner.student).first->second; };
    const std::string& name = first[owner.student] = is_persons(owner.lms_id) ? by() : owner.student;
    StudentRow& row =
        by_student.try_emplace(name, StudentRow{owner, std::vector<Cell>(columns), std::nullopt}).first->second;
    if (owner.student != name) row.also_called.push_back(owner);
    return name;
  }

  StudentRow* of(const std::string& student) {
    const auto name = first.find(student);
    return name == first.end() ? nullptr : &by_student.at(name->second);
  }
};

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::string_view graded_by_name(GradedBy who) {
  switch (who) {
    case GradedBy::these_terms:
      return "these_terms";
    case GradedBy::another_grader:
      return "another_grader";
    case GradedBy::other_terms:
      return "other_terms";
  }
  check_failed(__FILE__, __LINE__, "a GradedBy has a name");
}

// A file's name as the learner chose it, without a student's name that a platform or an instructor put in front.
std::string own_name(const std::string& file, const Owner& owner) {
  std::string own = owner_of_file(file, {}).rest;
  const std::string student = without_number(owner.student);
  if (own.starts_with(student)) {
    const std::size_t end = std::min(own.find_first_not_of("_-. ", student.size()), own.size());
    if (end > student.size() || end == own.size()) own.erase(0, end);
  }
  return own.find('.') == std::string::npos && own != file ? "a file" : own;
}

std::string days_text(int days) { return fmt::format("{} day{} late", days, days == 1 ? "" : "s"); }

Json entry_json(const Entry& entry) {
  return {{"file", entry.label},
          {"source_sha256", entry.source_sha256},
          {"submitted_at_s", entry.submitted_at_s},
          {"time_is_known", entry.mark == LateMark::none && is_known_time(entry.submitted_at_s)},
          {"late_days", entry.late_days},
          {"late_factor", entry.late_factor},
          {"is_starter", entry.is_starter},
          {"graded_by", graded_by_name(entry.graded_by)},
          {"model_version", entry.model_version ? Json(*entry.model_version) : Json(nullptr)},
          {"verdict", entry.verdict.empty() ? Json(nullptr) : Json(entry.verdict)},
          {"grade", entry.grade.empty() ? Json(nullptr) : Json(entry.grade)},
          {"reasons", entry.reasons},
          {"goals", to_json(entry.scales)},
          {"credit", number(entry.credit)},
          {"points", number(entry.points)},
          {"ai", entry.dot ? Json(entry.dot->ai) : Json(nullptr)},
          {"flops_per_s", entry.dot ? Json(entry.dot->flops_per_s) : Json(nullptr)},
          {"boxed", entry.boxed}};
}

}  // namespace

std::string_view state_name(Cell::State state) {
  switch (state) {
    case Cell::State::graded:
      return "graded";
    case Cell::State::not_graded:
      return "not graded";
    case Cell::State::nothing:
      return "nothing submitted";
    case Cell::State::not_due:
      return "not due";
  }
  check_failed(__FILE__, __LINE__, "a Cell::State has a name");
}

std::string verdict_words(const std::string& verdict, const std::string& grade) {
  static const std::map<std::string, std::string> kWords = {{"fail", "goal missed"},
                                                            {"incorrect", "wrong result"},
                                                            {"fault", "kernel fault"},
                                                            {"refused", "not allowed"},
                                                            {"compile_error", "does not compile"},
                                                            {"not_graded", "not graded"},
                                                            {"too_noisy", "too noisy"},
                                                            {"", "not graded"}};
  if (grade == "ace") return grade;
  const auto at = kWords.find(verdict);
  return at == kWords.end() ? verdict : at->second;
}

std::string verdict_words(const Entry& entry) {
  return entry.is_starter ? "the starter, unchanged" : verdict_words(entry.verdict, entry.grade);
}

std::string handed_in_words(const Entry& entry, const Column& column) {
  if (entry.mark == LateMark::late) return "late, at a time that the platform does not give";
  if (entry.mark == LateMark::on_time) return "on time, as the platform says";
  const std::string moment = moment_text(entry.submitted_at_s, column.deadline_s ? column.deadline_offset_min : 0);
  return entry.late_days > 0 ? moment + ", " + days_text(entry.late_days) : moment;
}

std::string penalty_words(const Entry& entry) {
  if (entry.late_factor >= 1) return {};
  if (entry.late_factor <= 0) return days_text(entry.late_days) + ": no points are left";
  return fmt::format("{} costs {:.0f} % of the points", days_text(entry.late_days), 100 * (1 - entry.late_factor));
}

std::vector<std::string> left_out_words(const StudentRow& row) {
  std::vector<std::string> lines;
  for (const LeftOut& out : row.left_out) {
    const std::string file = own_name(out.label.substr(out.label.rfind('/') + 1), row.owner);
    const bool is_folder = out.reason.starts_with("holds ");
    lines.push_back(is_folder ? "It " + out.reason : file + ": " + out.reason);
  }
  return lines;
}

std::size_t Gradebook::graded_by(GradedBy who) const {
  std::size_t count = 0;
  for (const StudentRow& row : rows) {
    for (const Cell& cell : row.cells) {
      const Entry* entry = cell.counting();
      count += entry != nullptr && !entry->verdict.empty() && entry->graded_by == who ? 1 : 0;
    }
  }
  return count;
}

bool Gradebook::has_due() const {
  return std::any_of(columns.begin(), columns.end(), [](const Column& column) { return counts_now(column); });
}

bool Gradebook::all_due() const {
  return std::all_of(columns.begin(), columns.end(), [](const Column& column) { return column.is_due; });
}

std::string total_text(const Gradebook& book, const StudentRow& row) {
  if (row.total_percent) return points_text(*row.total_percent) + " %";
  return book.has_due() ? "?" : "not due";
}

std::optional<double> Cell::points() const {
  if (state == State::nothing) return 0;
  return state == State::not_due ? std::nullopt : counting()->points;
}

Gradebook make_gradebook(const GradebookInput& input) {
  Gradebook book;
  book.title = input.terms.title;
  book.device = input.device;
  book.counts = input.terms.counts == CourseTerms::Counts::best ? "best" : "last";
  for (std::size_t i = 0; i < input.chapters.size(); ++i) {
    const Chapter& chapter = input.chapters[i];
    const ChapterTerms& terms = input.terms.chapters[i];
    book.columns.push_back({chapter.name, chapter.title, terms.points, terms.weight, terms.pass_share, terms.deadline_s,
                            walk_level(chapter), terms.deadline_offset_min, sha256_hex(file_text(chapter.starter())),
                            !terms.deadline_s || *terms.deadline_s <= input.now_s, chapter.unit,
                            chapter.faulty_starter.has_value()});
  }
  Rows rows;
  for (const Owner& owner : input.students) {
    const std::string& first = rows.add(owner, book.columns.size());
    if (name_letters(first) != name_letters(owner.student))
      book.doubts.push_back({owner.student, fmt::format("has the same number as {}: both are one row", first)});
  }
  for (const LeftOut& out : input.left_out) {
    if (StudentRow* row = rows.of(out.student)) row->left_out.push_back(out);
  }
  // By row, chapter and bytes: a student's file with the same bytes in two places is one submission.
  std::map<std::tuple<const StudentRow*, std::string, std::string>, std::size_t> seen;
  for (const Submission& submission : input.submissions) {
    const auto column = std::find_if(book.columns.begin(), book.columns.end(),
                                     [&](const Column& c) { return c.chapter == submission.chapter; });
    StudentRow* const row = rows.of(submission.owner.student);
    if (column == book.columns.end() || row == nullptr) continue;
    std::vector<Entry>& entries = row->cells[static_cast<std::size_t>(column - book.columns.begin())].entries;
    const auto [place, is_new] = seen.try_emplace({row, submission.chapter, submission.source_sha256}, entries.size());
    const StoredGrade* grade = input.grade(submission);
    Entry entry = entry_of(submission, *column, input.terms, grade, input.trouble);
    if (grade != nullptr && input.graded_by) entry.graded_by = input.graded_by(submission, *grade);
    if (is_new) {
      book.all_boxed = book.all_boxed && (entry.verdict.empty() || entry.boxed);
      entries.push_back(std::move(entry));
      continue;
    }
    // An entry with the same bytes is already there. Keeps the one that is_earlier() prefers, because a row may have
    // several names, and submissions are sorted by name, so they may not come in order of time.
    Entry& known = entries[place->second];
    const std::int64_t again_at_s = std::max(known.submitted_again_at_s, entry.submitted_again_at_s, is_before);
    if (is_earlier(entry, known)) known = std::move(entry);
    known.submitted_again_at_s = again_at_s;
  }
  for (auto& [student, row] : rows.by_student) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      Cell& cell = row.cells[i];
      std::stable_sort(cell.entries.begin(), cell.entries.end(),
                       [](const Entry& a, const Entry& b) { return a.submitted_at_s < b.submitted_at_s; });
      choose(cell, input.terms.counts);
      if (cell.entries.empty() && !book.columns[i].is_due) cell.state = Cell::State::not_due;
    }
    row.total_percent = total_of(row.cells, book.columns);
  }
  // Left-out files of a student who has a submission for every chapter need no line, with two exceptions: a hand-in
  // that had more files than are graded, and a left-out file that is newer than the submissions.
  for (const LeftOut& out : input.left_out) {
    const StudentRow* row = rows.of(out.student);
    if (row == nullptr || lacks_one(*row) || out.reason.starts_with(kHoldsMore) || is_newer(out, *row, book))
      book.left_out.push_back(out);
  }
  for (auto& [student, row] : rows.by_student) book.rows.push_back(std::move(row));
  const std::vector<RowDoubt> doubts = doubts_about(book.rows);
  book.doubts.insert(book.doubts.end(), doubts.begin(), doubts.end());
  note_same_files(book);
  return book;
}

Json to_json(const Gradebook& book) {
  Json json{{"schema", "roofwalk.gradebook/1"},
            {"title", book.title},
            {"device", book.device},
            {"counts", book.counts},
            {"unsandboxed", !book.all_boxed}};
  json["chapters"] = Json::array();
  for (const Column& column : book.columns) {
    json["chapters"].push_back({{"chapter", column.chapter},
                                {"title", column.title},
                                {"points", column.points},
                                {"weight", column.weight},
                                {"pass_share", column.pass_share},
                                {"deadline_s", column.deadline_s ? Json(*column.deadline_s) : Json(nullptr)},
                                {"due", column.is_due},
                                {"level", column.level}});
  }
  json["students"] = Json::array();
  for (const StudentRow& row : book.rows) {
    Json student{{"student", row.owner.student},
                 {"lms_id", plain_number_of(row.owner.lms_id)},
                 {"total_percent", number(row.total_percent)}};
    student["chapters"] = Json::array();
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const Cell& cell = row.cells[i];
      Json one{{"chapter", book.columns[i].chapter},
               {"state", state_name(cell.state)},
               {"points", number(cell.points())},
               {"counts", cell.counts ? Json(*cell.counts) : Json(nullptr)},
               {"same_as", cell.same_as},
               {"same_as_count", cell.same_as_count}};
      one["submissions"] = Json::array();
      for (const Entry& entry : cell.entries) one["submissions"].push_back(entry_json(entry));
      student["chapters"].push_back(std::move(one));
    }
    json["students"].push_back(std::move(student));
  }
  json["left_out"] = Json::array();
  for (const LeftOut& out : book.left_out) json["left_out"].push_back({{"file", out.label}, {"reason", out.reason}});
  json["doubts"] = Json::array();
  for (const RowDoubt& doubt : book.doubts)
    json["doubts"].push_back({{"student", doubt.student}, {"reason", doubt.reason}});
  return json;
}

std::string points_text(double points) {
  std::string text = fmt::format("{:.2f}", points);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace roofwalk
