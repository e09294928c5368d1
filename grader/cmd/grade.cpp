// roofwalk grade PATH...: a class's submissions, graded.
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <iterator>

#include "common/sandbox/probe.h"
#include "grader/batch/batch.h"
#include "grader/batch/class_options.h"
#include "grader/batch/grade_all.h"
#include "grader/batch/progress_bar.h"
#include "grader/batch/results.h"
#include "grader/batch/table.h"
#include "grader/cmd/verbs.h"
#include "grader/terminal.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

struct GradeCommand {
  ClassOptions places;
  std::vector<std::string> paths;
  std::string chapter;
  std::string secrets;
  int workers = 0;
  bool again = false;
  bool unsandboxed = false;
};

// Of the chapters that are graded: all of the course's, or the one that was asked for.
std::vector<std::string> names_of(Session& session, const Batch& batch, const std::string& only) {
  std::vector<std::string> names;
  const std::string wanted = only.empty() ? "" : session.chapter(only).name;
  for (const Chapter& chapter : batch.chapters()) {
    if (wanted.empty() || chapter.name == wanted) names.push_back(chapter.name);
  }
  if (names.empty()) {
    throw Failure{{.message = fmt::format("`{}` is not among the chapters of this course", wanted),
                   .advice = "add a [[chapter]] for it to course.toml"},
                  kUsage};
  }
  return names;
}

// As the workers have to know it: they live in another folder.
std::string device_of(const Session& session) {
  constexpr std::string_view kVirtual = "virtual:";
  const std::string& device = session.options.device;
  if (!device.starts_with(kVirtual) || !device.ends_with(".toml")) return device;
  return std::string(kVirtual) + fs::absolute(session.machine_name(device.substr(kVirtual.size()))).string();
}

void say(const std::string& line) { std::fputs(fmt::format("roofwalk: {}\n", line).c_str(), stderr); }

// "-" reads them from stdin, where no compiler can.
std::string secrets_text(const Session& session, const std::string& typed) {
  if (typed == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  const fs::path file = session.from_caller(typed);
  if (!fs::is_regular_file(file)) throw Failure{{fmt::format("there is no file {}", printable(file.string()))}, kUsage};
  return file_text(file);
}

std::string summary_text(const GradeSummary& summary, const GradeCommand& command) {
  std::string text = fmt::format("{} graded now, {} before", summary.graded, summary.already);
  if (summary.faults > 0) {
    text += fmt::format("; {} not graded by a fault of ours: the same command tries again", summary.faults);
  }
  if (command.unsandboxed) text += "; unsandboxed";
  return text + "\n";
}

int grade_class(Session& session, const GradeCommand& command) {
  if (!command.unsandboxed) {
    if (const Status boxes = require_boxes(); !boxes) {
      Error error = boxes.error();
      error.message = "a class is graded in a sandbox, and none can be made here: " + error.message;
      error.advice += "; or --unsandboxed, which every record and page will say";
      throw Failure{error, kUsage};
    }
  }
  std::vector<fs::path> paths;
  for (const std::string& path : command.paths) paths.push_back(session.from_caller(path));
  BatchPlaces places = places_of(session, command.places);
  if (!command.secrets.empty()) places.secrets = secrets_text(session, command.secrets);
  Batch batch = value_or_fail(Batch::open(session.course(), places), kUsage);
  if (!batch.told().empty()) say(batch.told());
  use_device_of(session, batch.terms());
  const Descriptor lock = value_or_fail(batch.lock());
  value_or_fail(batch.store().verify());
  const Handed handed = value_or_fail(
      collect(paths, names_of(session, batch, command.chapter),
              [&](const std::string& sha256, const std::string& bytes) { return batch.keep_source(sha256, bytes); }),
      kUsage);
  value_or_fail(batch.store().add(handed));
  const Bench& bench = session.measured_bench();
  for (const Chapter& chapter : batch.chapters()) {
    if (const auto why = not_offered(chapter, bench.machine)) throw Failure{{*why}, kSkipped};
  }
  batch.use_bench(bench);

  std::error_code error;
  GradeOptions options;
  options.workers = command.workers > 0 ? command.workers : session.options.threads;
  options.again = command.again;
  options.isolation = command.unsandboxed ? Isolation::none : Isolation::boxed;
  options.program = fs::read_symlink("/proc/self/exe", error);
  ::setenv("ROOFWALK_ROOT", fs::current_path().c_str(), 1);  // where the workers find the course
  GradeSummary summary;
  {
    ProgressBar bar;
    summary = value_or_fail(grade_all(batch, bench, device_of(session), options,
                                      [&](const GradeProgress& progress) { bar.show(progress); }));
  }
  const Gradebook book = value_or_fail(batch.gradebook(handed.left_out));
  auto written = value_or_fail(write_tables(batch, book));
  written.push_back(value_or_fail(write_site(batch, bench, book, false)));
  if (session.options.json) {
    print_json(to_json(book));
  } else {
    std::string text = table(book, colors_for(session.options), static_cast<std::size_t>(terminal_size().columns));
    text += "\n" + summary_text(summary, command);
    for (const fs::path& file : written) text += session.from_caller(file).string() + "\n";
    print(text);
  }
  if (summary.faults > 0) {
    say(summary.last_trouble);
    return kOurFault;
  }
  return kAccepted;
}

}  // namespace

void add_grade_command(CLI::App& app, Session& session, int& exit_code) {
  auto options = std::make_shared<GradeCommand>();
  auto* command = app.add_subcommand("grade", "Grade a class: a folder or a zip of submissions");
  command->add_option("path", options->paths, "a file, a folder or a zip a student; or a folder or a zip of these")
      ->required();
  add_class_options(*command, options->places);
  command->add_option("--chapter", options->chapter, "grade this chapter alone");
  command->add_option("--secrets", options->secrets,
                      "hidden seeds and sizes, in place of the file that course.toml names; - reads them from stdin");
  command->add_option("--workers", options->workers, "submissions at once; default: as --threads")
      ->check(CLI::Range(1, 256));
  command->add_flag("--again", options->again, "grade anew what is graded; the old grades stay in the record");
  command->add_flag("--unsandboxed", options->unsandboxed, "compile and run without a sandbox, and say so everywhere");
  command->callback([options, &session, &exit_code] { exit_code = grade_class(session, *options); });
}

}  // namespace roofwalk
