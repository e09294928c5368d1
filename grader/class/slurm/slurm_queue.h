// Slurm's commands.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

// One task of an array job that has not ended.
struct QueuedTask {
  std::string job_name, job_id;  // job_id: as scancel takes it
  std::size_t task = 0;
  std::string state;   // Slurm's word, such as PENDING
  std::string reason;  // why it waits; Slurm's words
  // Slurm holds a task that could not be started again and again, and never starts it by itself.
  bool is_held() const;
};

// A job without an array that has not ended.
struct QueuedJob {
  std::string id, state, reason;  // Slurm's words
};

class SlurmQueue {
 public:
  // Errors: a command of Slurm is not on the PATH.
  static Status is_installed();

  // Submits the script, whatever SBATCH_* variables the environment has for what the script depends on. Errors:
  // sbatch's words.
  Status submit(const std::filesystem::path& script) const;

  // The tasks of this user's jobs of these names that have not ended. Errors: Slurm does not answer.
  Result<std::vector<QueuedTask>> tasks(const std::vector<std::string>& job_names) const;

  // This user's jobs of this name, which are no arrays, that have not ended. Errors: Slurm does not answer.
  Result<std::vector<QueuedJob>> jobs(const std::string& job_name) const;

  // Takes all tasks of a job, or one task, out of the queue. A job that has ended is no error.
  void cancel_job(const std::string& job_name) const;
  void cancel_task(const QueuedTask& task) const;
  // Takes the jobs of this name that wait out of the queue; one that runs goes on.
  void cancel_waiting(const std::string& job_name) const;
};

// The options of a script's #SBATCH lines, one a line, as words of a command line: only these matter more to sbatch
// than variables such as SBATCH_PARTITION.
std::vector<std::string> options_in(const std::string& script);

// Reads the output of squeue in the format of SlurmQueue::tasks().
std::vector<QueuedTask> parse_queue(const std::string& output);

// Reads the output of squeue in the format of SlurmQueue::jobs().
std::vector<QueuedJob> parse_jobs(const std::string& output);

}  // namespace roofwalk
