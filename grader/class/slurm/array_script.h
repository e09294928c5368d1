// The batch script of an array job: what sbatch gets, and what --dry-run prints.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

struct ArrayJob {
  std::string name;                                // of the job; no other job has it
  std::size_t tasks = 1;                           // 0 to tasks - 1
  int at_once = 0;                                 // number of tasks that may run at the same time; 0: any
  bool needs_gpu = false;                          // asks for one GPU, unless `options` ask for some
  std::vector<std::string> options;                // of sbatch, such as --partition=lab
  std::filesystem::path program;                   // this program, at a path that all nodes have
  std::filesystem::path folder;                    // UnitFolder's root
  std::map<std::string, std::string> environment;  // for the tasks
};

std::string array_script(const ArrayJob& job);

// A job that starts when others have ended, however they end (follow_up.h).
struct FollowUpJob {
  std::string name;
  std::vector<std::string> after;    // the jobs' numbers; empty: it starts at once
  std::vector<std::string> options;  // of sbatch, as the tasks have them; it needs no GPU and no node for itself
  std::filesystem::path program;
  std::filesystem::path folder;  // UnitFolder's root
  std::map<std::string, std::string> environment;
};

std::string follow_up_script(const FollowUpJob& job);

// Checks an option that the user passes on to sbatch. Errors: it is none, or this program sets it itself.
Status check_sbatch_option(const std::string& option);

}  // namespace roofwalk
