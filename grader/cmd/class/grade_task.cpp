// roofwalk grade-task FOLDER ARRAY TASK: one task of an array job (grader/class/slurm). Only the job's script starts
// it; the help does not mention it.
#include "grader/class/slurm/units.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

struct GradeTaskCommand {
  std::string folder, array;
  std::uint64_t task = 0;
};

int run(const GradeTaskCommand& command) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  value_or_fail(run_task(UnitFolder(command.folder), command.array, command.task, program, {}));
  return kAccepted;
}

void add_grade_task_command(Verb& program, Session&, int& exit_code) {
  auto options = std::make_shared<GradeTaskCommand>();
  Verb command = program.add_subcommand("grade-task", "Grade the submissions of one task of Slurm");
  command.hide();
  command.add_option("folder", options->folder, "the folder that the nodes share").required();
  command.add_option("array", options->array, "the job's name").required();
  command.add_option("task", options->task, "the task's number").required();
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

ROOFWALK_VERB(156, add_grade_task_command);

}  // namespace

}  // namespace roofwalk
