// The verbs of the program, one file each. Each adds its subcommand and stores the exit code when it was the one
// called.
#pragma once

#include <CLI/CLI.hpp>

#include "grader/session.h"

namespace roofwalk {

void add_list_command(CLI::App& app, Session& session, int& exit_code);
void add_next_command(CLI::App& app, Session& session, int& exit_code);
void add_run_command(CLI::App& app, Session& session, int& exit_code);
void add_watch_command(CLI::App& app, Session& session, int& exit_code);
void add_predict_command(CLI::App& app, Session& session, int& exit_code);
void add_plot_command(CLI::App& app, Session& session, int& exit_code);
void add_hint_command(CLI::App& app, Session& session, int& exit_code);
void add_profile_command(CLI::App& app, Session& session, int& exit_code);
void add_solution_command(CLI::App& app, Session& session, int& exit_code);
void add_reset_command(CLI::App& app, Session& session, int& exit_code);
void add_machines_command(CLI::App& app, Session& session, int& exit_code);
void add_roofs_command(CLI::App& app, Session& session, int& exit_code);
void add_operations_command(CLI::App& app, Session& session, int& exit_code);
void add_help_command(CLI::App& app, Session& session, int& exit_code);
void add_grade_command(CLI::App& app, Session& session, int& exit_code);
void add_grade_worker_command(CLI::App& app, Session& session, int& exit_code);
void add_history_command(CLI::App& app, Session& session, int& exit_code);
void add_report_command(CLI::App& app, Session& session, int& exit_code);
void add_export_command(CLI::App& app, Session& session, int& exit_code);
void add_handout_command(CLI::App& app, Session& session, int& exit_code);
void add_doctor_command(CLI::App& app, Session& session, int& exit_code);
void add_device_worker_command(CLI::App& app, Session& session, int& exit_code);
void add_dev_command(CLI::App& app, Session& session, int& exit_code);

// Of options that ask for so many threads or programs at once: 1 to 256. CLI::Range complains in other words with each
// release of CLI11.
CLI::Validator is_worker_count();

// Those that people type: a verb without a group is in no list.
std::vector<std::string> names_of_verbs(const CLI::App& app);

// With the ones that may have been meant.
Error no_such_verb(const std::string& typed, const std::vector<std::string>& verbs);

}  // namespace roofwalk
