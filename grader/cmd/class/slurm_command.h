// The options of `grade` for grading on a cluster.
#pragma once

#include <string>

#include "grader/class/slurm/slurm_executor.h"
#include "grader/cmd/command_line.h"
#include "grader/cmd/session.h"

namespace roofwalk {

struct SlurmCommand {
  std::string executor = "local";
  std::string shared, sbatch;
  int per_task = 0, at_once = 0;
  bool detaches = false, dry_run = false, shows_status = false;

  bool is_used() const { return executor == "slurm"; }
};

void add_slurm_options(Verb& command, SlurmCommand& options);

// `grades`: the folder of the grades. Throws a Failure if an option cannot be used.
SlurmOptions slurm_options(const Session& session, const SlurmCommand& command, const std::filesystem::path& grades);

// The folder that the nodes share for these grades.
std::filesystem::path slurm_folder(const Session& session, const SlurmCommand& command,
                                   const std::filesystem::path& grades);

}  // namespace roofwalk
