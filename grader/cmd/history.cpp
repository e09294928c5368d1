// roofwalk history STUDENT: everything that one student handed in, and every grade that it was given.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "grader/batch/class_options.h"
#include "grader/batch/credit.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

struct HistoryCommand {
  ClassOptions places;
  std::string student;
};

// By the whole name, by the platform's number, or by a part of the name that only one student has.
const StudentRow& student_called(const Gradebook& book, const std::string& typed) {
  std::vector<const StudentRow*> fits;
  std::vector<std::string> names;
  for (const StudentRow& row : book.rows) {
    if (row.owner.student == typed || (!row.owner.lms_id.empty() && row.owner.lms_id == typed)) return row;
    if (row.owner.student.find(typed) != std::string::npos) fits.push_back(&row);
    names.push_back(row.owner.student);
  }
  if (fits.size() == 1) return *fits.front();
  std::vector<std::string> near;
  for (const StudentRow* row : fits) near.push_back(row->owner.student);
  near.resize(std::min<std::size_t>(near.size(), 3));
  if (near.empty()) near = near_names(typed, names);
  throw Failure{{.message = fmt::format("{} student `{}`", fits.empty() ? "there is no" : "there is more than one",
                                        printable(typed)),
                 .advice = near.empty() ? "" : fmt::format("did you mean {}?", fmt::join(near, " or "))},
                kUsage};
}

Json grading_json(const StoredGrade& grade, double pass_share, bool is_ours) {
  const Json attempt = grade.result.value("attempt", Json::object());
  const auto scales = scales_from_json(grade.result.value("scales", Json::array()));
  return {{"graded_at", grade.graded_at},
          {"round", grade.round},
          {"verdict", attempt.value("verdict", "")},
          {"grade", attempt.value("grade", "")},
          {"reasons", attempt.value("reasons", Json::array())},
          {"goals_credit", attempt.value("verdict", "") == "pass" || attempt.value("verdict", "") == "fail"
                               ? Json(credit(scales, pass_share))
                               : Json(nullptr)},
          {"boxed", attempt.value("sandboxed", false)},
          {"by_this_grader", is_ours}};
}

// {"schema": "roofwalk.history/1", "student", "submissions": [{"chapter", "file", ..., "gradings": [...], "faults":
// [...]}]}
Json history_of(Batch& batch, const Gradebook& book, const StudentRow& row) {
  const auto grades = value_or_fail(batch.store().grades(false));
  const auto faults = value_or_fail(batch.store().faults());
  const auto submissions = value_or_fail(batch.store().submissions());
  Json json{{"schema", "roofwalk.history/1"}, {"student", row.owner.student}, {"lms_id", row.owner.lms_id}};
  json["submissions"] = Json::array();
  for (const Submission& s : submissions) {
    if (s.owner.student != row.owner.student) continue;
    Json one{{"chapter", s.chapter},
             {"file", s.label},
             {"source_sha256", s.source_sha256},
             {"submitted_at_s", s.submitted_at_s},
             {"counts", false}};
    double pass_share = 0;
    for (std::size_t i = 0; i < book.columns.size(); ++i) {
      if (book.columns[i].chapter != s.chapter) continue;
      pass_share = book.columns[i].pass_share;
      const Entry* counting = row.cells[i].counting();
      one["counts"] = counting != nullptr && counting->source_sha256 == s.source_sha256;
    }
    one["gradings"] = Json::array();
    one["faults"] = Json::array();
    for (const StoredGrade& grade : grades) {
      if (grade.chapter == s.chapter && grade.source_sha256 == s.source_sha256)
        one["gradings"].push_back(grading_json(grade, pass_share, grade.key == batch.key(s)));
    }
    for (const StoredFault& fault : faults) {
      if (fault.key == batch.key(s)) one["faults"].push_back({{"at", fault.at}, {"reason", fault.reason}});
    }
    json["submissions"].push_back(std::move(one));
  }
  return json;
}

std::string history_text(const Json& json) {
  std::string text = json["student"].get<std::string>() + "\n";
  if (json["submissions"].empty()) text += "nothing that can be graded was handed in\n";
  for (const Json& s : json["submissions"]) {
    text += fmt::format("\n{}, handed in {}{}\n  {}  ({})\n", s["chapter"].get<std::string>(),
                        utc_text(s["submitted_at_s"].get<std::int64_t>()), s["counts"].get<bool>() ? ", counts" : "",
                        printable(s["file"].get<std::string>()), s["source_sha256"].get<std::string>().substr(0, 12));
    for (const Json& g : s["gradings"]) {
      const std::string grade = g["grade"] == "ace" ? "ace" : g["verdict"].get<std::string>();
      const std::string share = g["goals_credit"].is_number() ? fmt::format(", {:.0f} % of the points before lateness",
                                                                            100 * g["goals_credit"].get<double>())
                                                              : "";
      text += fmt::format(
          "  {}  round {}: {}{}{}\n", g["graded_at"].get<std::string>(), g["round"].get<int>(), grade, share,
          (g["boxed"].get<bool>() ? "" : ", unsandboxed") +
              std::string(g["by_this_grader"].get<bool>() ? ""
                                                          : ", by another version of the grader or of the course"));
      for (const Json& reason : g["reasons"]) text += "      " + printable(reason.get<std::string>()) + "\n";
    }
    for (const Json& f : s["faults"])
      text += fmt::format("  {}  a fault of ours: {}\n", f["at"].get<std::string>(),
                          printable(f["reason"].get<std::string>()));
    if (s["gradings"].empty()) text += "  not graded yet\n";
  }
  return text;
}

int show_history(Session& session, const HistoryCommand& command) {
  Batch batch = graded_class(session, command.places);
  const Gradebook book = value_or_fail(batch.gradebook({}));
  const Json json = history_of(batch, book, student_called(book, command.student));
  if (session.options.json) {
    print_json(json);
  } else {
    print(history_text(json));
  }
  return kAccepted;
}

}  // namespace

void add_history_command(CLI::App& app, Session& session, int& exit_code) {
  auto options = std::make_shared<HistoryCommand>();
  auto* command = app.add_subcommand("history", "Show all that a student of a class handed in, and every grade of it");
  command
      ->add_option("student", options->student, "the name, a part of it that nobody else has, or the platform's number")
      ->required();
  add_class_options(*command, options->places);
  command->callback([options, &session, &exit_code] { exit_code = show_history(session, *options); });
}

}  // namespace roofwalk
