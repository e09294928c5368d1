#include "grader/class/batch/grading.h"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "common/base/json.h"
#include "grader/class/batch/stored_grade.h"
#include "grader/class/batch/worker.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

Result<Json> answer_of_worker(const Grading& grading, const GradeTask& task, const fs::path& program,
                              const SameProgram& same, const WorkerLimits& limits, const fs::path& folder) {
  ROOFWALK_TRY_STATUS(same.check());
  const Job job = grading.job(task, folder);
  std::error_code error;
  fs::remove_all(job.folder, error);
  fs::create_directories(job.folder, error);
  fs::copy_file(grading.source(task), job.folder / job.file_name(), error);
  if (error) return Error{.message = fmt::format("its copy cannot be read: {}", error.message())};
  return run_in_worker(program, to_json(job), limits);
}

}  // namespace

Grading::Grading(Batch& batch, const std::map<std::string, JobTerms>& terms, Backlog backlog,
                 const std::function<void(const GradeProgress&)>& told)
    : batch_(batch), terms_(terms), told_(told), all_(backlog.tasks.size()) {
  summary_.already = backlog.already;
  waiting_.assign(backlog.tasks.begin(), backlog.tasks.end());
}

std::optional<GradeTask> Grading::next() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  GradeTask task = std::move(waiting_.front());
  waiting_.pop_front();
  return task;
}

Job Grading::job(const GradeTask& task, fs::path folder) const { return {terms_.at(task.chapter), std::move(folder)}; }

Result<StoredGrade> Grading::grade_of(const GradeTask& task, Json answer) const {
  const auto text = [&](const char* name) {
    std::string value = answer.text_of(name);
    answer.erase(name);
    return value;
  };
  StoredGrade grade{.key = task.key, .round = task.round, .chapter = task.chapter, .source_sha256 = task.source_sha256};
  grade.plot = text("plot");
  grade.profile = text("profile");
  const bool is_this_file = text("file_sha256") == task.source_sha256;
  const Json attempt = answer.value("attempt", Json::object());
  if (attempt.value("verdict", "") == verdict_name(Verdict::too_noisy)) {
    return Error{.message = "the GPU was too noisy to tell"};
  }
  const Json bytes = attempt.value("source_sha256", Json());  // null if it does not compile
  if (!attempt.contains("verdict") || !is_this_file || (bytes.is_string() && bytes != task.source_sha256)) {
    return Error{.message = "the worker's answer is about another submission"};
  }
  grade.result = std::move(answer);
  grade.result["terms_sha256"] = batch_.terms_key(task.chapter);
  return grade;
}

void Grading::finish(GradeTask task, Result<Json> answer) {
  auto grade = answer ? grade_of(task, *std::move(answer)) : Result<StoredGrade>(answer.error());
  const std::lock_guard lock(mutex_);
  const Status kept = grade ? batch_.store().add(*grade) : Status(grade.error());
  if (kept) {
    ++summary_.graded;
    ++done_;
  } else {
    ++faults_;
    summary_.last_trouble = kept.error().text();
    // If this cannot be written either, the submission stays without a grade, and the next call tries it again.
    [[maybe_unused]] const Status noted = batch_.store().add(
        StoredFault{.key = task.key, .reason = summary_.last_trouble, .at = "", .round = task.round});
    if (++task.tries < kMostTries) {
      waiting_.push_back(std::move(task));
    } else {
      ++summary_.faults;
      ++done_;
    }
  }
  const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  told_({.done = done_, .all = all_, .faults = faults_, .elapsed_s = elapsed_s});
}

GradeSummary Grading::summary() const {
  const std::lock_guard lock(mutex_);
  return summary_;
}

void grade_here(Grading& grading, int workers, const fs::path& program, const WorkerLimits& limits,
                const fs::path& work) {
  const SameProgram same(program);
  const auto loop = [&](int worker) {
    const fs::path folder = work / fmt::format("{}", worker);
    while (const auto task = grading.next()) {
      grading.finish(*task, answer_of_worker(grading, *task, program, same, limits, folder));
    }
  };
  std::vector<std::jthread> helpers;
  for (int i = 1; i < workers; ++i) helpers.emplace_back(loop, i);
  loop(0);
}

}  // namespace roofwalk
