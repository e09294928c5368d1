// One call of grade_by_slurm().
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grader/class/slurm/array_script.h"
#include "grader/class/slurm/slurm_executor.h"
#include "grader/class/slurm/slurm_queue.h"
#include "grader/class/slurm/units.h"

namespace roofwalk {

using TaskOfArray = std::pair<std::string, std::size_t>;  // the job's name and the task

class Collector {
 public:
  Collector(Grading& grading, const SlurmOptions& options) : grading_(grading), options_(options) {}

  Status run();

 private:
  using Clock = std::chrono::steady_clock;

  // A unit that tasks grade: several if an earlier call submitted it again.
  struct Flight {
    GradeTask task;
    std::vector<TaskOfArray> at;
    std::optional<Clock::time_point> gone_since = std::nullopt;  // since when none of them is in the queue
  };

  Status leave();
  void find_earlier();
  Status submit_waiting();
  Status submit(const std::vector<std::vector<GradeTask>>& chunks);
  void take_answers();
  bool take_answer(const std::string& unit);
  Status look_at_queue();
  void tell_why_all_wait(const std::vector<QueuedTask>& queued);
  void find_lost(const std::set<TaskOfArray>& alive);
  void lose(const std::string& unit);
  void clean_up();

  Grading& grading_;
  const SlurmOptions& options_;
  const UnitFolder folder_{options_.folder};
  const SlurmQueue queue_{};
  std::map<std::string, std::vector<TaskOfArray>> earlier_;  // units of a call before this one
  std::map<std::string, Flight> flights_;
  std::map<std::string, int> losses_;
  std::map<std::string, int> submitted_;  // how often, also by earlier calls
  std::map<std::string, Error> faults_;   // the last one of each unit that had one
  std::vector<GradeTask> lost_;           // to be submitted again, each as a task of its own
  std::set<std::string> jobs_;
  Clock::duration listing_{};                      // what the last list of the answers took
  std::optional<Clock::time_point> silent_since_;  // since when Slurm does not answer
  bool told_of_silence_ = false;
  std::string told_reason_;  // Slurm's reason for which everything waits, if the user was told of it
};

// The default of Slurm's MaxArraySize is 1001, and the largest index is one less.
inline constexpr std::size_t kMostTasksOfAJob = 1000;
inline constexpr std::size_t kMostLosses = 5;

std::string new_job_name();

// Submits the script of an array. Tries again after `retry_s` and each time twice as long, in all for fifteen times as
// long. Errors: Slurm does not take it.
Status submit_script(const SlurmQueue& queue, const UnitFolder& folder, const std::string& name, double retry_s);

// The Error of a unit whose tasks ended kMostLosses times without an answer.
Error loss_of(const UnitFolder& folder, const std::vector<TaskOfArray>& tasks);

// The unit's name: the key and the round of the grade.
std::string unit_name(const GradeTask& task);

Unit unit_of(const Grading& grading, const GradeTask& task);

// Groups of at most `per_task` tasks.
std::vector<std::vector<GradeTask>> in_chunks(const std::vector<GradeTask>& tasks, int per_task);

ArrayJob array_job(const SlurmOptions& options, std::string name, std::size_t tasks);

}  // namespace roofwalk
