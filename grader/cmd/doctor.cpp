// roofwalk doctor: is everything here that the course needs, and what more could this machine do? Each finding says
// what to do.
#include <fmt/format.h>

#include "grader/baseline.h"
#include "grader/cmd/verbs.h"
#include "grader/doctor/findings.h"
#include "grader/terminal.h"

namespace roofwalk {
namespace {

constexpr int kMostColumns = 80;

// The first chapter's starter, built and run at one of its small sizes.
void try_a_kernel(const Session& session, const Course& course, Surroundings::Tools& tools) {
  const auto tell = [&tools](bool runs, std::string text) {
    tools.runs = runs;
    tools.run_text = std::move(text);
  };
  const auto bench = open_bench(course, session.options.device, 1, nullptr);
  if (!bench) return tell(false, bench.error().text());
  const Chapter& chapter = course.chapters.front();
  const Exercise* exercise = find_exercise(chapter.name);
  if (exercise == nullptr) return tell(false, fmt::format("{} has no exercise", chapter.name));
  const auto artifact = build_for(*bench, chapter.starter());
  if (!artifact) return tell(false, artifact.error().text());
  const Size& size = chapter.correctness_sizes.back();
  const Problem problem = exercise->problem(size, kPublicSeed);
  const auto expected = exercise->reference(size, problem);
  const auto trial = run_trial(bench->open, *artifact, problem, case_name(size, kPublicSeed), kSmallTrial,
                               [&]() -> const std::vector<Expected>& { return expected; });
  if (!trial) return tell(false, trial.error().text());
  const bool right = !trial->went_wrong();
  tell(right, fmt::format("{} computes {} {}", bench->device_name(), chapter.name, right ? "right" : "wrong"));
}

int doctor(Session& session) {
  const Course& course = session.course();
  Surroundings around = look_around(course);
  if (around.tools.toolkit) try_a_kernel(session, course, around.tools);
  const std::vector<MachineFinding> findings = findings_of(around);
  if (session.options.json) {
    print_json(doctor_json(around, findings));
  } else {
    const int columns = std::min(terminal_size().columns, kMostColumns);
    print(doctor_text(around, findings, colors_for(session.options), static_cast<std::size_t>(columns)));
  }
  return is_broken(findings) ? kNotAccepted : kAccepted;
}

}  // namespace

void add_doctor_command(CLI::App& app, Session& session, int& exit_code) {
  auto* command =
      app.add_subcommand("doctor", "See whether all is here that the course needs, and what the GPU can do");
  command->callback([&] { exit_code = doctor(session); });
}

}  // namespace roofwalk
