// roofwalk export FORMAT: exports a graded class in other programs' formats.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "common/base/atomic_file.h"
#include "common/base/json.h"
#include "grader/class/batch/find_student.h"
#include "grader/class/batch/stored_grade.h"
#include "grader/class/exports/autograder.h"
#include "grader/class/exports/exporter.h"
#include "grader/class/exports/exports.h"
#include "grader/class/exports/platforms/platforms.h"
#include "grader/class/exports/platforms/setup.h"
#include "grader/class/results.h"
#include "grader/cmd/class/class_options.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

struct ExportCommand {
  ClassOptions places;
  std::string format, out, gradebook, column, chapter, student, setup;
  bool replace = false, stale = false;
};

void need(const std::string& value, const char* option, const char* what) {
  if (value.empty()) throw Failure{{.message = fmt::format("`{}` is missing", option), .advice = what}, kUsage};
}

// Writes to --out, or to stdout without that option.
int write_out(const Session& session, const ExportCommand& command, const std::string& text) {
  if (command.out.empty()) {
    print(text);
    return kAccepted;
  }
  value_or_fail(replace_file(fs::absolute(session.from_caller(command.out)), text));
  tell("wrote " + printable(command.out));
  return kAccepted;
}

int canvas(Session& session, const ExportCommand& command, GradeStore& store, const Gradebook& book) {
  need(command.gradebook, "--gradebook", "the file that Canvas exported: Grades, Export");
  need(command.column, "--column", "the head of the column to fill, such as \"Roofwalk (1234)\"");
  const fs::path file = session.from_caller(command.gradebook);
  if (!fs::is_regular_file(file)) throw Failure{{fmt::format("there is no file {}", printable(file.string()))}, kUsage};
  const std::string exported = file_text(file);
  const auto in_file = [&](auto result) {
    if (result) return *std::move(result);
    Error error = result.error();
    error.file = file.string();
    throw Failure{error, kUsage};
  };
  const std::string head = in_file(canvas_head(exported, command.column));
  const CanvasResult filled = in_file(fill_canvas(book, exported,
                                                  {.column = head,
                                                   .chapter = command.chapter,
                                                   .written = value_or_fail(store.exported(head)),
                                                   .replaces = command.replace}));
  for (const std::string& note : filled.notes) tell(printable(note));
  if (filled.kept > 0) {
    tell(fmt::format("{} cell{} kept what somebody else wrote: --replace overwrites", filled.kept,
                     filled.kept == 1 ? "" : "s"));
  }
  tell(fmt::format("{} cell{} filled", filled.filled, filled.filled == 1 ? "" : "s"));
  const int code = write_out(session, command, filled.csv);
  value_or_fail(store.add_exported(head, filled.written));
  return code;
}

// What the store has of each grade besides what the gradebook has.
FindRecord records_in(GradeStore& store) {
  auto grades = std::make_shared<std::map<std::string, StoredGrade>>();  // by key: the grade of its last round
  for (StoredGrade& grade : value_or_fail(store.grades())) (*grades)[grade.key] = std::move(grade);
  return [grades, &store](const Entry& entry) {
    const auto at = grades->find(entry.key);
    if (at == grades->end()) return GradeRecord{};
    return GradeRecord{at->second.result.value("attempt", Json::object()),
                       value_or_fail(store.pages(at->second.id)).plot};
  };
}

// Formats of one student's results, as one text each.
using SheetText = std::string (*)(const Sheet&);
const std::map<std::string, SheetText>& sheet_formats() {
  static const std::map<std::string, SheetText> kFormats = {
      {"autolab", to_autolab},
      {"codequality", [](const Sheet& sheet) { return json_text(to_code_quality(sheet)) + "\n"; }},
      {"gitlab", to_gitlab_junit},
      {"gradescope", [](const Sheet& sheet) { return json_text(to_gradescope(sheet)) + "\n"; }},
      {"prairielearn", [](const Sheet& sheet) { return json_text(to_prairielearn(sheet)) + "\n"; }},
      {"vpl", to_vpl}};
  return kFormats;
}

int one_student(Session& session, const ExportCommand& command, GradeStore& store, const Gradebook& book) {
  if (command.student.empty() && book.rows.size() != 1) {
    throw Failure{{.message = fmt::format("there are {} students", book.rows.size()),
                   .advice = "--student names one; gradebook.csv has them all"},
                  kUsage};
  }
  const StudentRow* row =
      command.student.empty() ? &book.rows.front() : value_or_fail(find_student(book, command.student), kUsage);
  const std::string chapter = command.chapter.empty() ? "" : session.chapter(command.chapter).name;
  const Sheet sheet = make_sheet(book, *row, records_in(store), chapter);
  if (command.format == "gitlab" && !command.out.empty()) {  // a folder of both of its reports
    const fs::path folder = fs::absolute(session.from_caller(command.out));
    value_or_fail(replace_file(folder / "junit.xml", to_gitlab_junit(sheet)));
    value_or_fail(replace_file(folder / "gl-code-quality-report.json", sheet_formats().at("codequality")(sheet)));
    tell("wrote junit.xml and gl-code-quality-report.json to " + printable(command.out));
    return kAccepted;
  }
  return write_out(session, command, sheet_formats().at(command.format)(sheet));
}

// The terms of the class, refused if `grade` would refuse them for every submission.
CourseTerms terms_for_grading(Session& session, const fs::path& course_file) {
  need(course_file.string(), "--course", "a course.toml says what is graded");
  CourseTerms terms = value_or_fail(read_terms(course_file, session.course(), fs::current_path()), kUsage);
  use_device_of(session, terms);
  if (!terms.hidden_sizes.empty())
    value_or_fail(check_hidden_sizes(terms, session.course().chapters, session.rig().machine), kUsage);
  return terms;
}

std::string graded_words(const CourseTerms& terms) {
  std::string what;
  for (const ChapterTerms& one : terms.chapters) what += (what.empty() ? "" : ", ") + one.chapter;
  return fmt::format("{}; {} hidden cases", what, terms.secrets_file.empty() ? "without" : "with");
}

int autograder(Session& session, const ExportCommand& command) {
  need(command.out, "--out", "the zip to write, such as autograder.zip");
  const fs::path course_file = places_of(session, command.places).course_file;
  const CourseTerms terms = terms_for_grading(session, course_file);
  value_or_fail(write_autograder(fs::absolute(session.from_caller(command.out)), session.course(), terms, course_file));
  tell(fmt::format("wrote {}: {}. Upload it as the assignment's autograder", printable(command.out),
                   graded_words(terms)));
  return kAccepted;
}

// `export --setup PLATFORM FOLDER`: the folder stands where a format would.
int set_up(Session& session, const ExportCommand& command) {
  const fs::path course_file = places_of(session, command.places).course_file;
  const CourseTerms terms = terms_for_grading(session, course_file);
  const fs::path folder = fs::absolute(session.from_caller(command.format));
  if (command.setup == "gradescope") {
    value_or_fail(write_setup(folder, {}), kUsage);
    fs::create_directories(folder);
    value_or_fail(write_autograder(folder / "autograder.zip", session.course(), terms, course_file));
  } else {
    const Setup* setup = find_setup(command.setup);
    ROOFWALK_CHECK(setup != nullptr);
    const auto files = value_or_fail(setup->files({session.course(), terms, course_file}));
    value_or_fail(write_setup(folder, files), kUsage);
  }
  tell(fmt::format("wrote {}: {}. What to do with it: book/platforms.md", printable(command.format),
                   graded_words(terms)));
  if (command.setup == "gitlab" && !terms.secrets_file.empty())
    tell("the hidden cases are not in it: students choose what their pipelines do. Use them when you grade");
  return kAccepted;
}

// Refuses to export grades that were made under other terms, unless --stale is given: the gradebook that takes them
// will not show the warning that is printed here. If only the grader's version differs, and the terms are the same, the
// warning suffices.
void refuse_stale(const ExportCommand& command, const Gradebook& book) {
  const std::string stale = stale_text(book, grade_command(command.places));
  if (stale.empty()) return;
  if (book.graded_by(GradedBy::other_terms) > 0 && !command.stale)
    throw Failure{{.message = stale, .advice = "--stale exports what there is"}, kNotAccepted};
  tell(stale);
}

std::vector<std::string> all_formats() {
  std::vector<std::string> formats = {"autograder", "canvas"};
  for (const Exporter* exporter : exporters()) formats.emplace_back(exporter->format);
  for (const auto& [format, text] : sheet_formats()) formats.push_back(format);
  std::sort(formats.begin(), formats.end());
  return formats;
}

void require_format(const std::string& format) {
  const std::vector<std::string> formats = all_formats();
  if (std::find(formats.begin(), formats.end(), format) != formats.end()) return;
  throw Failure{{.message = fmt::format("there is no format `{}`", printable(format)),
                 .advice = fmt::format("{}", fmt::join(formats, ", "))},
                kUsage};
}

int export_class(Session& session, const ExportCommand& command) {
  if (!command.setup.empty()) return set_up(session, command);
  require_format(command.format);
  if (command.format == "autograder") return autograder(session, command);
  Batch batch = graded_class(session, command.places);
  const Gradebook book = value_or_fail(batch.gradebook());
  refuse_stale(command, book);
  if (command.format == "canvas") return canvas(session, command, batch.store(), book);
  if (sheet_formats().contains(command.format)) return one_student(session, command, batch.store(), book);
  const Exporter* exporter = find_exporter(command.format);
  ROOFWALK_CHECK(exporter != nullptr);
  return write_out(session, command, exporter->text(book));
}

void add_export_command(Verb& program, Session& session, int& exit_code) {
  auto options = std::make_shared<ExportCommand>();
  Verb command = program.add_subcommand("export", "Write a graded class's results for an LMS or another program");
  command
      .add_option(
          "format", options->format,
          "csv, json, junit, canvas; of one student: autolab, codequality and gitlab, gradescope, prairielearn, "
          "vpl; autograder: a zip for Gradescope. With --setup: the new folder")
      .required();
  std::vector<std::string> platforms = {"gradescope"};
  for (const Setup& setup : setups()) platforms.emplace_back(setup.platform);
  command.add_option("--setup", options->setup, "write what this platform needs into the new folder").one_of(platforms);
  command.add_option("--out", options->out, "write there; default: to the terminal. gitlab: a folder for both reports");
  command.add_option("--gradebook", options->gradebook, "canvas: the gradebook that Canvas exported");
  command.add_option("--column", options->column, "canvas: the head of the column to fill");
  command.add_option("--chapter", options->chapter,
                     "canvas: fill in this chapter's points; default: the total. One student: this chapter alone");
  command.add_flag("--replace", options->replace, "canvas: overwrite what somebody else wrote into the column, too");
  command.add_option("--student", options->student,
                     "formats of one student: whose results: the name, a unique part of it, or the platform's number");
  command.add_flag("--stale", options->stale, "export grades that were made under other terms, too");
  add_class_options(command, options->places);
  add_secrets_option(command, options->places);
  command.callback([options, &session, &exit_code] { exit_code = export_class(session, *options); });
}

ROOFWALK_VERB(180, add_export_command);

}  // namespace

}  // namespace roofwalk
