// Grades a class as array jobs of Slurm: `grade --executor slurm`.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "grader/class/batch/grading.h"

namespace roofwalk {

struct SlurmOptions {
  std::filesystem::path folder;     // of units.h; on a file system that this machine and all nodes share
  std::filesystem::path program;    // this program, at a path that all nodes have
  std::filesystem::path course;     // the course's folder, likewise
  std::vector<std::string> sbatch;  // the user's options for sbatch
  int per_task = 8;                 // submissions of one task; a task costs Slurm about a second
  int at_once = 0;                  // tasks that may run at the same time; 0: any number
  bool needs_gpu = false;
  // false: takes the answers that are there, submits the rest, and a job that looks after it (follow_up.h), and returns
  bool waits = true;
  // The command that takes answers into the record, for a job on the machine that has the record. Empty: only a person
  // gives it.
  std::vector<std::string> collect = {};
  std::filesystem::path record = {};  // the file of the grades
  double poll_s = 2;                  // between looks at the queue
  double look_s = 0.2;                // between looks for answers
  double retry_s = 2;                 // before sbatch is tried again; each time twice as long
  // The time after a task's end in which its answer may still become visible.
  double grace_s = 10;
  std::function<void(const std::string&)> told = [](const std::string&) {};  // gets lines for the user
};

// The time to choose for grace_s: network file systems show a new file up to a minute late.
double grace_for(const std::filesystem::path& folder);

// Submits what waits, collects answers, and submits again what was lost, until everything has a grade or a fault. Tasks
// of an earlier call that was killed go on and are not submitted twice. Errors: Slurm refuses the job, or does not
// answer for half an hour; what was graded is kept, and the same call goes on.
Status grade_by_slurm(Grading& grading, const SlurmOptions& options);

// The script that grade_by_slurm() would submit for what waits, with a line about it.
std::string dry_run_text(Grading& grading, const SlurmOptions& options);

// A line for each job of an earlier call: how many submissions have an answer, what runs and what waits.
std::string status_text(const std::filesystem::path& folder);

}  // namespace roofwalk
