// The submissions that one call grades, and what becomes of them. An executor (GradeOptions::executor) takes tasks, has
// them graded where it likes, and gives the answers back; this class keeps each grade and counts.
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "grader/class/batch/batch.h"
#include "grader/class/batch/grade_progress.h"
#include "grader/class/batch/job.h"
#include "grader/class/batch/worker.h"

namespace roofwalk {

struct StoredGrade;  // stored_grade.h

// A submission with so many faults is left to a person.
inline constexpr int kMostTries = 2;

// One file to grade, even if several students submitted it.
struct GradeTask {
  std::string key, chapter, source_sha256;
  std::int64_t round = 1;
  int tries = 0;  // how often it had a fault
};

struct Backlog {
  std::vector<GradeTask> tasks;
  std::size_t already = 0;  // number of named submissions that were graded before
};

class Grading {
 public:
  // Refers to all arguments until its end. `told` is called after each finish().
  Grading(Batch& batch, const std::map<std::string, JobTerms>& terms, Backlog backlog,
          const std::function<void(const GradeProgress&)>& told);

  // The next task that waits; nullopt: none does.
  std::optional<GradeTask> next();

  // The job for a worker; `folder` as in Job.
  Job job(const GradeTask& task, std::filesystem::path folder) const;
  std::filesystem::path source(const GradeTask& task) const { return batch_.source(task.source_sha256); }

  // Takes the worker's answer, or the Error because of which there is none. Keeps the grade, which is durable on
  // return. After a task's first fault, the task waits again (kMostTries). May be called from any thread.
  void finish(GradeTask task, Result<Json> answer);

  GradeSummary summary() const;

 private:
  Result<StoredGrade> grade_of(const GradeTask& task, Json answer) const;

  Batch& batch_;
  const std::map<std::string, JobTerms>& terms_;
  const std::function<void(const GradeProgress&)>& told_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const std::size_t all_;
  mutable std::mutex mutex_;
  std::deque<GradeTask> waiting_;
  std::size_t done_ = 0, faults_ = 0;
  GradeSummary summary_;
};

// Grades on this machine, each submission in a worker process (worker.h), `workers` at once. `work`: a folder for the
// workers' folders.
void grade_here(Grading& grading, int workers, const std::filesystem::path& program, const WorkerLimits& limits,
                const std::filesystem::path& work);

}  // namespace roofwalk
