// roofwalk grade-worker: the process that grades one submission (grader/class/batch/worker.h). Only the program
// itself starts it; the help does not mention it.
#include <new>

#include "common/base/json.h"
#include "grader/class/batch/job.h"
#include "grader/class/batch/worker.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

int work() {
  if (!is_grade_worker()) {
    throw Failure{{.message = "`grade-worker` is started by the program itself, for one submission of a class",
                   .advice = "`./roofwalk grade PATH...` grades them"},
                  kUsage};
  }
  const auto answer = []() -> Result<Json> {
    ROOFWALK_TRY(const Json json, receive_job());
    ROOFWALK_TRY(const Course course, open_course(std::filesystem::current_path()));
    ROOFWALK_TRY(const Job job, job_from_json(json, course));
    try {
      return grade(job, course);
    } catch (const std::bad_alloc&) {
      return Error{.message = "the worker has not enough memory",
                   .advice = "if a hidden size is large, take a smaller one; otherwise grade with fewer --workers"};
    }
  }();
  value_or_fail(send_answer(answer ? *answer : Json{{"error", answer.error().text()}}));
  return kAccepted;
}

void add_grade_worker_command(Verb& program, Session&, int& exit_code) {
  Verb command = program.add_subcommand("grade-worker", "Grade one submission for the program that started this");
  command.hide();
  command.callback([&exit_code] { exit_code = work(); });
}

ROOFWALK_VERB(155, add_grade_worker_command);

}  // namespace

}  // namespace roofwalk
