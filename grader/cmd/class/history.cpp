// roofwalk history STUDENT: shows everything that one student handed in, with all grades.
#include <fmt/format.h>

#include <sstream>

#include "common/base/json.h"
#include "grader/class/batch/find_student.h"
#include "grader/class/batch/stored_grade.h"
#include "grader/class/terms/credit.h"
#include "grader/cmd/class/class_options.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

struct HistoryCommand {
  ClassOptions places;
  std::string student;
};

Json grading_json(const StoredGrade& grade, double pass_share, GradedBy who) {
  const Json attempt = grade.result.value("attempt", Json::object());
  const auto scales = scales_from_json(grade.result.value("scales", Json::array()));
  const auto model_version = stored_model_version(attempt);
  return {{"graded_at", grade.graded_at},
          {"round", grade.round},
          {"model_version", model_version ? Json(*model_version) : Json(nullptr)},
          {"verdict", attempt.value("verdict", "")},
          {"grade", attempt.value("grade", "")},
          {"reasons", attempt.value("reasons", Json::array())},
          {"goals_credit", attempt.value("verdict", "") == "pass" || attempt.value("verdict", "") == "fail"
                               ? Json(credit(scales, pass_share))
                               : Json(nullptr)},
          {"boxed", attempt.value("sandboxed", false)},
          {"by_this_grader", who == GradedBy::these_terms},
          {"under_these_terms", who != GradedBy::other_terms}};
}

// Returns {"schema": "roofwalk.history/1", "student", "submissions": [{"chapter", "file", ..., "gradings": [...],
// "faults": [...]}], "left_out": [...]}. The same bytes handed in again are not a new submission: "also" lists their
// other places.
Json history_of(Batch& batch, const Gradebook& book, const StudentRow& row) {
  const auto grades = value_or_fail(batch.store().grades());
  const auto faults = value_or_fail(batch.store().faults());
  const auto submissions = value_or_fail(batch.store().submissions());
  Json json{
      {"schema", "roofwalk.history/1"}, {"student", row.owner.student}, {"lms_id", plain_number_of(row.owner.lms_id)}};
  json["submissions"] = Json::array();
  for (std::size_t i = 0; i < book.columns.size(); ++i) {
    const Column& column = book.columns[i];
    for (const Entry& entry : row.cells[i].entries) {
      const Submission bytes{row.owner, column.chapter, entry.label, entry.source_sha256, entry.submitted_at_s};
      const bool counts = row.cells[i].counting() == &entry;
      Json one{{"chapter", column.chapter},
               {"file", entry.label},
               {"source_sha256", entry.source_sha256},
               {"submitted_at_s", entry.submitted_at_s},
               {"handed_in", handed_in_words(entry, column)},
               {"deadline",
                column.deadline_s ? Json(moment_text(*column.deadline_s, column.deadline_offset_min)) : Json(nullptr)},
               {"late_days", entry.late_days},
               {"late_factor", entry.late_factor},
               {"penalty", penalty_words(entry)},
               {"is_starter", entry.is_starter},
               {"points", entry.points ? Json(*entry.points) : Json(nullptr)},
               {"points_possible", column.points},
               {"counts", counts}};
      for (const char* list : {"also", "gradings", "faults"}) one[list] = Json::array();
      for (const Submission& s : submissions) {
        const bool is_own =
            s.owner.student == row.owner.student || (is_persons(s.owner.lms_id) && s.owner.lms_id == row.owner.lms_id);
        const bool is_same = is_own && s.chapter == column.chapter && s.source_sha256 == entry.source_sha256;
        if (is_same && s.label != entry.label) one["also"].push_back(s.label);
      }
      for (const StoredGrade& grade : grades) {
        if (grade.chapter == column.chapter && grade.source_sha256 == entry.source_sha256)
          one["gradings"].push_back(grading_json(grade, column.pass_share, batch.graded_by(bytes, grade)));
      }
      for (const StoredFault& fault : faults) {
        if (fault.key == batch.key(bytes)) one["faults"].push_back({{"at", fault.at}, {"reason", fault.reason}});
      }
      json["submissions"].push_back(std::move(one));
    }
  }
  json["left_out"] = Json::array();
  for (const LeftOut& out : row.left_out) json["left_out"].push_back({{"file", out.label}, {"reason", out.reason}});
  return json;
}

// Indents each line of the text. A compiler's message has several lines.
std::string indented(const std::string& text, const std::string& by) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) out += by + printable(line) + "\n";
  return out;
}

std::string grading_text(const Json& g) {
  const std::string share = g["goals_credit"].is_number() ? fmt::format(", {:.0f} % of the points before lateness",
                                                                        100 * g["goals_credit"].get<double>())
                                                          : "";
  std::string text = fmt::format("  {}  round {}: {}{}{}{}\n", g["graded_at"].get<std::string>(), g["round"].get<int>(),
                                 verdict_words(g["verdict"].get<std::string>(), g["grade"].get<std::string>()), share,
                                 g["boxed"].get<bool>() ? "" : ", unsandboxed",
                                 g["by_this_grader"].get<bool>()      ? ""
                                 : g["under_these_terms"].get<bool>() ? ", by another version of the grader"
                                                                      : ", under other terms");
  for (const Json& reason : g["reasons"]) text += indented(reason.get<std::string>(), "      ");
  return text;
}

std::string submission_text(const Json& s) {
  std::string text = fmt::format(
      "\n{}, handed in {}{}{}{}\n  {}  ({})\n", s["chapter"].get<std::string>(), s["handed_in"].get<std::string>(),
      s["deadline"].is_string() ? ", due " + s["deadline"].get<std::string>() : "",
      s["is_starter"].get<bool>() ? ", the starter, unchanged" : "", s["counts"].get<bool>() ? ", counts" : "",
      printable(s["file"].get<std::string>()), s["source_sha256"].get<std::string>().substr(0, 12));
  for (const Json& label : s["also"]) text += "  also as " + printable(label.get<std::string>()) + "\n";
  for (const Json& g : s["gradings"]) text += grading_text(g);
  for (const Json& f : s["faults"])
    text += fmt::format("  {}  a fault of ours: {}\n", f["at"].get<std::string>(),
                        printable(f["reason"].get<std::string>()));
  if (s["gradings"].empty()) text += "  not graded yet\n";
  if (s["points"].is_number()) {
    const std::string penalty = s["penalty"].get<std::string>();
    text += fmt::format("  {} of {} points{}\n", points_text(s["points"].get<double>()),
                        points_text(s["points_possible"].get<double>()), penalty.empty() ? "" : ": " + penalty);
  }
  return text;
}

std::string history_text(const Json& json) {
  std::string text = printable(json["student"].get<std::string>()) + "\n";
  if (json["submissions"].empty()) text += "nothing that can be graded was handed in\n";
  for (const Json& s : json["submissions"]) text += submission_text(s);
  if (!json["left_out"].empty()) text += "\nleft out:\n";
  for (const Json& out : json["left_out"])
    text += fmt::format("  {}: {}\n", printable(out["file"].get<std::string>()),
                        printable(out["reason"].get<std::string>()));
  return text;
}

int show_history(Session& session, const HistoryCommand& command) {
  Batch batch = graded_class(session, command.places);
  const Gradebook book = value_or_fail(batch.gradebook());
  const Json json = history_of(batch, book, *value_or_fail(find_student(book, command.student), kUsage));
  if (session.options.json) {
    print_json(json);
  } else {
    print(history_text(json));
  }
  return kAccepted;
}

void add_history_command(Verb& program, Session& session, int& exit_code) {
  auto options = std::make_shared<HistoryCommand>();
  Verb command = program.add_subcommand("history", "Show everything that a student handed in, with every grade");
  command.add_option("student", options->student, "the name, a unique part of it, or the platform's number").required();
  add_class_options(command, options->places);
  add_secrets_option(command, options->places);
  command.callback([options, &session, &exit_code] { exit_code = show_history(session, *options); });
}

ROOFWALK_VERB(160, add_history_command);

}  // namespace

}  // namespace roofwalk
