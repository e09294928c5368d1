// roofwalk doctor: reports whether this machine has everything that the course needs, and what else it could do. Each
// finding comes with advice.
#include <fmt/format.h>

#include "common/base/json.h"
#include "grader/attempt/baseline.h"
#include "grader/cmd/verbs.h"
#include "grader/doctor/findings.h"
#include "grader/terminal/terminal.h"

namespace roofwalk {
namespace {

constexpr int kMostColumns = 80;

// The result of building the first chapter's starter and running it at one of its small sizes.
struct KernelTrial {
  bool runs = false;
  std::string text;
};

KernelTrial try_a_kernel(const Session& session, const Course& course, Isolation isolation) {
  const auto rig = open_rig(course, session.options.device, 1, nullptr, isolation);
  if (!rig) return {false, rig.error().text()};
  const Chapter& chapter = course.chapters.front();
  const Exercise* exercise = find_exercise(chapter.name);
  if (exercise == nullptr) return {false, fmt::format("{} has no exercise", chapter.name)};
  const auto artifact = build_for(*rig, chapter.starter());
  if (!artifact) return {false, artifact.error().text()};
  const Size& size = chapter.correctness_sizes.back();
  const Problem problem = exercise->problem(size, kPublicSeed);
  const auto expected = exercise->reference(size, problem);
  const auto trial = run_trial(rig->open, *artifact, problem, case_name(size, kPublicSeed), kSmallTrial,
                               [&]() -> const std::vector<Expected>& { return expected; });
  if (!trial) return {false, trial.error().text()};
  const bool right = !trial->went_wrong();
  return {right, fmt::format("{} computes {} {}", rig->device_name(), chapter.name, right ? "right" : "wrong")};
}

int doctor(Session& session) {
  const Course& course = session.course();
  Surroundings around = look_around(course);
  if (around.tools.toolkit) {
    const KernelTrial trial = try_a_kernel(session, course, Isolation::none);
    around.tools.runs = trial.runs;
    around.tools.run_text = trial.text;
    if (trial.runs && around.sandbox.box.works.value_or(false)) {
      const KernelTrial boxed = try_a_kernel(session, course, Isolation::boxed);
      around.sandbox.runs = boxed.runs;
      around.sandbox.run_text = boxed.text;
    }
  }
  const std::vector<MachineFinding> findings = findings_of(around);
  if (session.options.json) {
    print_json(doctor_json(around, findings));
  } else {
    const int columns = std::min(terminal_size().columns, kMostColumns);
    print(doctor_text(around, findings, colors_for(session.options), static_cast<std::size_t>(columns)));
  }
  return is_broken(findings) ? kNotAccepted : kAccepted;
}

void add_doctor_command(Verb& program, Session& session, int& exit_code) {
  Verb command =
      program.add_subcommand("doctor", "Check that everything the course needs is here, and what the GPU can do");
  command.callback([&] { exit_code = doctor(session); });
}

ROOFWALK_VERB(190, add_doctor_command);

}  // namespace

}  // namespace roofwalk
