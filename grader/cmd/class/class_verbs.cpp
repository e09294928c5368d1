// The verbs about a class: they hand out, grade, and show what was graded.
#include "grader/cmd/verbs.h"

namespace roofwalk {

void add_class_verbs(Verb& program, Session& session, int& exit_code) {
  for (const auto add : {add_handout_command, add_grade_command, add_grade_worker_command, add_history_command,
                         add_report_command, add_export_command}) {
    add(program, session, exit_code);
  }
}

}  // namespace roofwalk
