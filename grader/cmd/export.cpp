// roofwalk export FORMAT: a graded class in other programs' formats.
#include <fmt/format.h>

#include "grader/batch/class_options.h"
#include "grader/batch/results.h"
#include "grader/cmd/verbs.h"
#include "grader/exports/autograder.h"
#include "grader/exports/exports.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

struct ExportCommand {
  ClassOptions places;
  std::string format, out, gradebook, column, chapter, student;
};

void tell(const std::string& line) { std::fputs(fmt::format("roofwalk: {}\n", line).c_str(), stderr); }

void need(const std::string& value, const char* option, const char* what) {
  if (value.empty()) throw Failure{{.message = fmt::format("`{}` is missing", option), .advice = what}, kUsage};
}

// To --out, else to stdout.
int write_out(const Session& session, const ExportCommand& command, const std::string& text) {
  if (command.out.empty()) {
    print(text);
    return kAccepted;
  }
  value_or_fail(write_whole(fs::absolute(session.from_caller(command.out)), text));
  return kAccepted;
}

int canvas(Session& session, const ExportCommand& command, const Gradebook& book) {
  need(command.gradebook, "--gradebook", "the file that Canvas exported: Grades, Export");
  need(command.column, "--column", "the head of the column to fill, such as \"Roofwalk (1234)\"");
  const fs::path file = session.from_caller(command.gradebook);
  if (!fs::is_regular_file(file)) throw Failure{{fmt::format("there is no file {}", printable(file.string()))}, kUsage};
  auto filled = fill_canvas(book, file_text(file), command.column, command.chapter);
  if (!filled) {
    Error error = filled.error();
    error.file = file.string();
    throw Failure{error, kUsage};
  }
  for (const std::string& note : filled->notes) tell(printable(note));
  tell(fmt::format("{} cell{} filled", filled->filled, filled->filled == 1 ? "" : "s"));
  return write_out(session, command, filled->csv);
}

int gradescope(Session& session, const ExportCommand& command, const Gradebook& book) {
  for (const StudentRow& row : book.rows) {
    const bool only = command.student.empty() && book.rows.size() == 1;
    if (only || row.owner.student == command.student)
      return write_out(session, command, json_text(to_gradescope(book, row)) + "\n");
  }
  throw Failure{
      {.message = command.student.empty() ? fmt::format("there are {} students", book.rows.size())
                                          : fmt::format("there is no student `{}`", printable(command.student)),
       .advice = "--student names one; gradebook.csv has them all"},
      kUsage};
}

int autograder(Session& session, const ExportCommand& command) {
  need(command.out, "--out", "the zip to write, such as autograder.zip");
  const BatchPlaces places = places_of(session, command.places);
  need(places.course_file.string(), "--course", "a course.toml says what is graded");
  const CourseTerms terms = value_or_fail(read_terms(places.course_file, session.course(), fs::current_path()), kUsage);
  value_or_fail(
      write_autograder(fs::absolute(session.from_caller(command.out)), session.course(), terms, places.course_file));
  return kAccepted;
}

int export_class(Session& session, const ExportCommand& command) {
  if (command.format == "autograder") return autograder(session, command);
  Batch batch = graded_class(session, command.places);
  const Gradebook book = value_or_fail(batch.gradebook({}));
  if (command.format == "canvas") return canvas(session, command, book);
  if (command.format == "gradescope") return gradescope(session, command, book);
  if (command.format == "csv") return write_out(session, command, to_csv(book));
  if (command.format == "junit") return write_out(session, command, to_junit(book));
  return write_out(session, command, json_text(to_json(book)) + "\n");
}

}  // namespace

void add_export_command(CLI::App& app, Session& session, int& exit_code) {
  auto options = std::make_shared<ExportCommand>();
  auto* command = app.add_subcommand("export", "Write a graded class's results for an LMS or another program");
  command
      ->add_option(
          "format", options->format,
          "csv, json, junit, canvas, gradescope (one student's results.json) or autograder (a zip for Gradescope)")
      ->required()
      ->check(CLI::IsMember({"csv", "json", "junit", "canvas", "gradescope", "autograder"}));
  command->add_option("--out", options->out, "write there; default: to the terminal");
  command->add_option("--gradebook", options->gradebook, "canvas: the gradebook that Canvas exported");
  command->add_option("--column", options->column, "canvas: the head of the column to fill");
  command->add_option("--chapter", options->chapter, "canvas: fill in this chapter's points; default: the total");
  command->add_option("--student", options->student, "gradescope: whose results");
  add_class_options(*command, options->places);
  command->callback([options, &session, &exit_code] { exit_code = export_class(session, *options); });
}

}  // namespace roofwalk
