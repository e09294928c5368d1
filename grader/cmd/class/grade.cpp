// roofwalk grade PATH...: grades a class's submissions.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <tuple>
#include <utility>

#include "common/record/model_version.h"
#include "common/sandbox/probe.h"
#include "common/specs/slice.h"
#include "grader/class/batch/batch.h"
#include "grader/class/batch/compare.h"
#include "grader/class/batch/grade_all.h"
#include "grader/class/batch/progress_bar.h"
#include "grader/class/hand_ins/found_file.h"
#include "grader/class/hand_ins/late_marks.h"
#include "grader/class/results.h"
#include "grader/class/table.h"
#include "grader/cmd/class/class_options.h"
#include "grader/cmd/class/slurm_command.h"
#include "grader/cmd/verbs.h"
#include "grader/terminal/terminal.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

struct GradeCommand {
  ClassOptions places;
  SlurmCommand slurm;
  std::vector<std::string> paths;
  std::string chapter;
  int workers = 0;
  bool each = false;
  bool again = false;
  bool compares = false;
  bool unsandboxed = false;
};

// The chapters to grade: all of the class's, or only the named one.
Wanted wanted_chapters(Session& session, const Batch& batch, const std::string& only) {
  Wanted wanted;
  const std::string name = only.empty() ? "" : session.chapter(only).name;
  for (const Chapter& chapter : batch.chapters()) {
    if (name.empty() || chapter.name == name) wanted.chapters.push_back(chapter.name);
  }
  if (wanted.chapters.empty()) {
    throw Failure{{.message = fmt::format("`{}` is not among the chapters of this course", name),
                   .advice = "add a [[chapter]] for it to course.toml"},
                  kUsage};
  }
  for (const Chapter& chapter : session.course().chapters) {
    const auto& chosen = wanted.chapters;
    if (std::find(chosen.begin(), chosen.end(), chapter.name) == chosen.end()) wanted.others.push_back(chapter.name);
  }
  return wanted;
}

bool has_no_times(const Handed& handed) {
  return std::any_of(handed.submissions.begin(), handed.submissions.end(),
                     [](const Submission& s) { return s.owner.mark != LateMark::none; });
}

// The device in a form that works in the workers' folders: a relative path becomes absolute.
std::string device_of(const Session& session) {
  constexpr std::string_view kVirtual = "virtual:";
  const std::string& device = session.options.device;
  if (!device.starts_with(kVirtual)) return device;
  MachineName name = parse_machine_name(session.machine_name(device.substr(kVirtual.size())));
  if (name.chip.ends_with(".toml")) name.chip = fs::absolute(name.chip).string();
  return std::string(kVirtual) + name.text();
}

std::string summary_text(const GradeSummary& summary, const GradeCommand& command) {
  std::string text = fmt::format("{} graded now, {} before", summary.graded, summary.already);
  if (summary.faults > 0) {
    text += fmt::format("; {} not graded by a fault of the grader: the same command tries again", summary.faults);
  }
  if (command.unsandboxed) text += "; unsandboxed";
  return text + "\n";
}

Failure nothing_before() {
  return {{.message = "nothing was handed in before", .advice = "give the files, folders or zips to grade"}, kUsage};
}

std::vector<Submission> handed_in_before(Batch& batch, const Wanted& wanted) {
  std::vector<Submission> all = value_or_fail(batch.store().submissions());
  std::erase_if(all, [&](const Submission& s) {
    return std::find(wanted.chapters.begin(), wanted.chapters.end(), s.chapter) == wanted.chapters.end();
  });
  if (all.empty()) throw nothing_before();
  return all;
}

// Fails if no boxes can be made here, because a class is graded in boxes unless the user asks for grading without them.
void require_sandbox() {
  if (const Status boxes = require_boxes(); !boxes) {
    Error error = boxes.error();
    error.message = "a class is graded in a sandbox, and none can be made here: " + error.message;
    error.advice += "; or grade with --unsandboxed, which every record and page will say";
    throw Failure{error, kUsage};
  }
  // If programs in the boxes could not reach the toolkit, every compiler would fail, and each submission would get a
  // fault of this program.
  if (const auto toolkit = find_toolkit(fs::current_path())) {
    value_or_fail(require_reach(toolkit->root, "the CUDA toolkit"), kUsage);
  }
}

// Reads the named paths, prints how they were understood, and stores all files.
Handed take_hand_ins(const std::vector<fs::path>& paths, const Wanted& wanted, Batch& batch) {
  Handed handed = value_or_fail(
      collect(paths, wanted,
              [&](const std::string& sha256, const std::string& bytes) { return batch.keep_source(sha256, bytes); }),
      kUsage);
  if (!handed.told_class.empty()) tell(handed.told_class);
  for (const std::string& line : handed.told) tell(line);
  const std::vector<Submission> before = value_or_fail(batch.store().submissions());
  for (const std::string& line : drop_foreign_marks(handed, before, batch.terms())) tell(line);
  if (const std::string line = unknown_times_text(handed, batch.terms()); !line.empty()) tell(line);
  value_or_fail(batch.store().add(handed));
  return handed;
}

// The command that takes answers into the record, as a job can give it: without secrets from stdin, and with every path
// in full.
std::vector<std::string> collecting_words(const Session& session, const GradeCommand& command,
                                          const SlurmOptions& slurm) {
  const BatchPlaces places =
      places_of(session, {.course_file = command.places.course_file, .grades = command.places.grades, .secrets = {}});
  if (places.course_file.empty() || command.places.secrets == "-" || slurm.needs_gpu) return {};
  std::vector<std::string> words = {"grade",
                                    "--course",
                                    fs::absolute(places.course_file).string(),
                                    "--grades",
                                    fs::absolute(places.folder).string(),
                                    "--device",
                                    device_of(session),
                                    "--executor",
                                    "slurm",
                                    "--detach"};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("{}={}", option, value));
  };
  const auto full = [&](const std::string& path) {
    return path.empty() ? path : fs::absolute(session.from_caller(path)).string();
  };
  add("--secrets", full(command.places.secrets));
  add("--shared", full(command.slurm.shared));
  add("--sbatch", command.slurm.sbatch);
  add("--chapter", command.chapter);
  if (command.slurm.per_task > 0) add("--per-task", fmt::format("{}", command.slurm.per_task));
  if (command.slurm.at_once > 0) add("--at-once", fmt::format("{}", command.slurm.at_once));
  if (command.unsandboxed) words.emplace_back("--unsandboxed");
  return words;
}

std::function<Status(Grading&)> slurm_executor(const Session& session, const GradeCommand& command,
                                               const Batch& batch) {
  SlurmOptions options = slurm_options(session, command.slurm, batch.folder());
  options.collect = collecting_words(session, command, options);
  options.record = fs::absolute(batch.folder()) / "grades.db";
  return [options, dry_run = command.slurm.dry_run](Grading& grading) -> Status {
    if (!dry_run) return grade_by_slurm(grading, options);
    print(dry_run_text(grading, options));
    return kOk;
  };
}

GradeSummary grade_named(Session& session, const GradeCommand& command, Batch& batch,
                         const std::vector<Submission>& named) {
  std::error_code error;
  GradeOptions options;
  options.workers = command.workers > 0 ? command.workers : session.options.threads;
  options.again = command.again;
  options.isolation = command.unsandboxed ? Isolation::none : Isolation::boxed;
  options.program = fs::read_symlink("/proc/self/exe", error);
  ::setenv("ROOFWALK_ROOT", fs::current_path().c_str(), 1);  // the folder in which the workers find the course
  if (command.slurm.is_used()) options.executor = slurm_executor(session, command, batch);
  ProgressBar bar;
  return value_or_fail(grade_all(batch, session.measured_bench(), device_of(session), named, options,
                                 [&](const GradeProgress& progress) { bar.show(progress); }));
}

// Writes the tables and the pages, but the pages with names only if such pages already exist.
std::vector<fs::path> write_results(Batch& batch, const Rig& rig, const Gradebook& book) {
  std::error_code error;
  auto written = value_or_fail(write_tables(batch, book));
  written.push_back(value_or_fail(write_site(batch, rig, book, false)));
  if (fs::exists(batch.folder() / kNamedSite, error))
    written.push_back(value_or_fail(write_site(batch, rig, book, true)));
  return written;
}

void show_results(const Session& session, const GradeCommand& command, const Gradebook& book,
                  const GradeSummary& summary, const std::vector<fs::path>& written) {
  if (session.options.json) {
    print_json(to_json(book));
    return;
  }
  std::string text = table(book, colors_for(session.options), static_cast<std::size_t>(terminal_size().columns));
  text += "\n" + summary_text(summary, command);
  for (const fs::path& file : written) text += session.from_caller(file).string() + "\n";
  print(text);
}

// The absolute path, of which the name itself may be a link.
fs::path full_path(const fs::path& path) {
  std::error_code error;
  return fs::weakly_canonical(fs::absolute(path, error).parent_path(), error) / path.filename();
}

// Refuses a course.toml or a folder of grades that is taken by default and lies among the hand-ins, or beside files
// that are hand-ins: a student may have put it there. Beside a single archive, nobody hands in; and folders are put
// side by side by a platform or by the instructor. Where nothing lies beside files, nobody has put anything there, and
// the folder of the grades is made.
void require_own_places(const GradeCommand& command, const BatchPlaces& places, const std::vector<fs::path>& paths) {
  const bool is_archive = paths.size() == 1 && is_zip(paths.front().filename().string());
  const auto require = [&](const fs::path& place, const std::string& options) {
    std::error_code error;
    const fs::path full = full_path(place);
    const bool is_there = fs::exists(fs::symlink_status(full, error));
    for (const fs::path& path : paths) {
      const fs::path below = full.lexically_relative(fs::weakly_canonical(path, error));
      const bool is_among = !below.empty() && *below.begin() != "..";
      const bool is_beside = !is_among && !is_archive && is_there && fs::exists(path, error) &&
                             !fs::is_directory(path, error) && full_path(path).parent_path() == full.parent_path();
      if (!is_among && !is_beside) continue;
      const char* where = is_among ? "among" : "beside";
      throw Failure{
          {.message = is_there ? fmt::format("lies {} the hand-ins, so a student may have put it there", where)
                               : fmt::format("would lie {} the hand-ins", where),
           .file = place.string(),
           .advice = fmt::format(
               "choose {}, or {}", options,
               is_among ? "grade the folder of the submissions alone" : "move the hand-ins to a folder of their own")},
          kUsage};
    }
  };
  const bool chooses_grades = !command.places.grades.empty();
  if (command.places.course_file.empty() && !places.course_file.empty()) {
    require(places.course_file,
            chooses_grades ? "it with --course" : "it with --course, and the folder of the grades with --grades");
  }
  if (!chooses_grades) require(places.folder, "it with --grades");
}

// Whether this call left out hand-ins that have a line in the gradebook. Others came in another way meanwhile.
bool leaves_out(const Handed& handed, const Gradebook& book) {
  const auto place = [](const LeftOut& out) { return std::tie(out.label, out.reason, out.student); };
  return std::any_of(handed.left_out.begin(), handed.left_out.end(), [&](const LeftOut& out) {
    const auto is_same = [&](const LeftOut& line) { return place(line) == place(out); };
    return out.may_be_hand_in && std::any_of(book.left_out.begin(), book.left_out.end(), is_same);
  });
}

// Whether somebody has to look at one of these submissions before its student has points.
bool needs_look(const std::vector<Submission>& named, const Gradebook& book) {
  std::set<std::pair<std::string, std::string>> files;  // chapters and hashes
  for (const Submission& s : named) files.emplace(s.chapter, s.source_sha256);
  return std::any_of(book.rows.begin(), book.rows.end(), [&](const StudentRow& row) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const Cell& cell = row.cells[i];
      const bool is_named = std::any_of(cell.entries.begin(), cell.entries.end(), [&](const Entry& entry) {
        return files.contains({book.columns[i].chapter, entry.source_sha256});
      });
      if (is_named && cell.state == Cell::State::not_graded) return true;
    }
    return false;
  });
}

const Rig& bench_for(Session& session, Batch& batch) {
  const Rig& rig = session.measured_bench();
  for (const Chapter& chapter : batch.chapters()) {
    if (const auto why = not_offered(chapter, rig.machine)) throw Failure{{*why}, kSkipped};
  }
  value_or_fail(check_hidden_sizes(batch.terms(), batch.chapters(), rig.machine), kUsage);
  batch.use_bench(rig);
  return rig;
}

// What else may be a reason for a difference, and how the new grades are taken over.
void tell_of_comparison(const ClassOptions& options, const Batch& batch, const Gradebook& on_record,
                        const Comparison& comparison) {
  if (const std::size_t count = on_record.graded_by(GradedBy::other_terms); count > 0) {
    tell(fmt::format("{} made under other terms (goals, hidden cases or device), which may be why {}",
                     count == 1 ? "1 grade on record was" : fmt::format("{} grades on record were", count),
                     count == 1 ? "it changes" : "they change"));
  }
  const auto pinned = batch.terms().model_version;
  const bool is_pinned_to_another = pinned && *pinned != kModelVersion;
  if (!is_pinned_to_another && comparison.changed_verdicts() + comparison.changed_points() == 0) return;
  const std::string pin =
      is_pinned_to_another ? fmt::format("`model_version = {}` in course.toml, then ", kModelVersion) : "";
  tell(fmt::format("the grades on record are as they were: {}`{}` takes the new ones", pin, grade_command(options)));
}

// Grades what has a grade on record beside that record, and prints what differs.
int compare_class(Session& session, const GradeCommand& command, const BatchPlaces& places, Batch& batch,
                  const std::vector<std::string>& chapters) {
  const Rig& rig = bench_for(session, batch);
  Batch comparing = value_or_fail(comparing_batch(session.course(), places, rig, batch, chapters));
  if (!comparing.told().empty()) tell(comparing.told());
  value_or_fail(comparing.store().verify());
  const Descriptor lock = value_or_fail(comparing.lock());
  std::vector<Submission> named = value_or_fail(comparing.store().submissions());
  const GradeSummary summary = grade_named(session, command, comparing, named);
  const Gradebook on_record = value_or_fail(batch.gradebook());
  const Comparison comparison = compare(on_record, value_or_fail(batch.gradebook(comparing.store())), chapters);
  if (session.options.json) {
    print_json(to_json(comparison));
  } else {
    print(text_of(comparison));
  }
  tell_of_comparison(command.places, batch, on_record, comparison);
  if (summary.faults > 0) tell(summary.last_trouble);
  return summary.faults > 0 ? kOurFault : kAccepted;
}

int grade_class(Session& session, const GradeCommand& command) {
  if (command.slurm.is_used() && command.workers > 0) {
    throw Failure{{.message = "--workers is for this machine", .advice = "--at-once limits Slurm's tasks"}, kUsage};
  }
  if (command.slurm.shows_status) {
    print(status_text(slurm_folder(session, command.slurm, places_of(session, command.places).folder)));
    return kAccepted;
  }
  if (!command.unsandboxed) require_sandbox();
  std::vector<fs::path> paths;
  for (const std::string& path : command.paths) paths.push_back(session.from_caller(path));
  BatchPlaces places = places_of(session, command.places);
  if (command.compares) places.model_pin = ModelPin::ignored;
  if (paths.empty() && !fs::exists(places.folder / "grades.db")) throw nothing_before();
  require_own_places(command, places, paths);
  Batch batch = value_or_fail(Batch::open(session.course(), places), kUsage);
  if (!batch.told().empty()) tell(batch.told());
  use_device_of(session, batch.terms());
  const Descriptor lock = value_or_fail(batch.lock());
  value_or_fail(batch.store().verify());
  Wanted wanted = wanted_chapters(session, batch, command.chapter);
  if (command.compares) return compare_class(session, command, places, batch, wanted.chapters);
  for (const Owner& owner : value_or_fail(batch.store().students())) {
    wanted.students.insert(owner.student);
    if (is_persons(owner.lms_id)) wanted.proven.insert(owner.student);
  }
  wanted.each_is_one = command.each;
  wanted.grades = batch.folder();
  const Handed handed = take_hand_ins(paths, wanted, batch);
  const std::vector<Submission> named = paths.empty() ? handed_in_before(batch, wanted) : handed.submissions;
  const Rig& rig = bench_for(session, batch);
  const GradeSummary summary = grade_named(session, command, batch, named);
  if (command.slurm.dry_run) return kAccepted;
  const Gradebook book = value_or_fail(batch.gradebook());
  const std::vector<fs::path> written = write_results(batch, rig, book);
  if (has_no_times(handed)) {
    tell("the platform's names say only whether a file was late, not when it came: LATE counts as one day");
  }
  if (const std::string stale = stale_text(book, grade_command(command.places)); !stale.empty()) tell(stale);
  show_results(session, command, book, summary, written);
  if (summary.faults > 0) {
    tell(summary.last_trouble);
    return kOurFault;
  }
  // A script should overlook nothing that a person has to see.
  const bool is_clear = !named.empty() && !leaves_out(handed, book) && !needs_look(named, book) && book.doubts.empty();
  return is_clear ? kAccepted : kNotAccepted;
}

void add_grade_command(Verb& program, Session& session, int& exit_code) {
  auto options = std::make_shared<GradeCommand>();
  Verb command = program.add_subcommand("grade", "Grade a class: a folder or a zip of submissions");
  const Option paths = command.add_option(
      "path", options->paths,
      "the class: a folder or a zip of hand-ins, as the LMS gives it; several paths: one student's file, folder or zip "
      "each, named after the student; none: earlier hand-ins whose grades are not up to date");
  add_class_options(command, options->places);
  add_secrets_option(command, options->places);
  command.add_option("--chapter", options->chapter, "grade only this chapter");
  command.add_option("--workers", options->workers, "submissions to grade at once; default: as --threads")
      .worker_count();
  command.add_flag("--each", options->each, "each path, even a single one, is one student's, whatever is in it");
  const Option again =
      command.add_flag("--again", options->again, "grade the given paths again; the old grades stay in the record");
  command
      .add_flag("--compare", options->compares,
                "list the verdicts and points that this version of roofwalk would change; the grades on record stay")
      .excludes({paths, again});
  add_slurm_options(command, options->slurm);
  command.add_flag("--unsandboxed", options->unsandboxed, "compile and run without a sandbox, and say so everywhere");
  command.callback([options, &session, &exit_code] { exit_code = grade_class(session, *options); });
}

ROOFWALK_VERB(150, add_grade_command);

}  // namespace

}  // namespace roofwalk
