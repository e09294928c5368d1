// roofwalk grade-follow-up FOLDER: the job that looks after the tasks of a class (grader/class/slurm/follow_up.h). Only
// the job's script starts it; the help does not mention it.
#include "grader/class/slurm/follow_up.h"

#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

void add_follow_up_command(Verb& program, Session&, int& exit_code) {
  auto folder = std::make_shared<std::string>();
  Verb command = program.add_subcommand("grade-follow-up", "Look after a class's tasks that have ended");
  command.hide();
  command.add_option("folder", *folder, "the folder that the nodes share").required();
  command.callback([folder, &exit_code] {
    value_or_fail(follow_up(*folder, {.grace_s = grace_for(*folder)}, [](const std::string& line) {
      print(line + "\n");
      std::fflush(stdout);
    }));
    exit_code = kAccepted;
  });
}

ROOFWALK_VERB(157, add_follow_up_command);

}  // namespace

}  // namespace roofwalk
