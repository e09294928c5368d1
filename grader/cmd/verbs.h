// The verbs of the program, one file each. Each adds its subcommand and stores the exit code when it was the one
// called.
#pragma once

#include "grader/cmd/command_line.h"
#include "grader/cmd/session.h"

namespace roofwalk {

void add_list_command(Verb& program, Session& session, int& exit_code);
void add_next_command(Verb& program, Session& session, int& exit_code);
void add_run_command(Verb& program, Session& session, int& exit_code);
void add_watch_command(Verb& program, Session& session, int& exit_code);
void add_predict_command(Verb& program, Session& session, int& exit_code);
void add_plot_command(Verb& program, Session& session, int& exit_code);
void add_hint_command(Verb& program, Session& session, int& exit_code);
void add_profile_command(Verb& program, Session& session, int& exit_code);
void add_solution_command(Verb& program, Session& session, int& exit_code);
void add_reset_command(Verb& program, Session& session, int& exit_code);
void add_machines_command(Verb& program, Session& session, int& exit_code);
void add_roofs_command(Verb& program, Session& session, int& exit_code);
void add_operations_command(Verb& program, Session& session, int& exit_code);
void add_doctor_command(Verb& program, Session& session, int& exit_code);
void add_device_worker_command(Verb& program, Session& session, int& exit_code);
void add_dev_command(Verb& program, Session& session, int& exit_code);
// Those about a class. The program for learners has none of them.
void add_class_verbs(Verb& program, Session& session, int& exit_code);

void add_help_command(Verb& program, const CommandLine& line, int& exit_code);

// What add_class_verbs adds.
void add_handout_command(Verb& program, Session& session, int& exit_code);
void add_grade_command(Verb& program, Session& session, int& exit_code);
void add_grade_worker_command(Verb& program, Session& session, int& exit_code);
void add_history_command(Verb& program, Session& session, int& exit_code);
void add_report_command(Verb& program, Session& session, int& exit_code);
void add_export_command(Verb& program, Session& session, int& exit_code);

}  // namespace roofwalk
