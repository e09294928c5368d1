#include "grader/class/batch/grade_all.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "common/base/atomic_file.h"
#include "common/base/json.h"
#include "common/store/store.h"
#include "grader/attempt/baseline.h"
#include "grader/class/batch/stored_grade.h"
#include "grader/rig/roofs.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kTries = 2;

struct Task {
  std::string key, chapter, source_sha256;
  std::int64_t round = 1;
  int tries = 0;
};

struct Backlog {
  std::vector<Task> tasks;
  std::size_t already = 0;
};

fs::path regrading_file(const Batch& batch) { return batch.folder() / "regrading.json"; }

// Returns the round that each key is graded in. If a regrade of the same keys was interrupted, it continues in its
// rounds; otherwise each key gets a new round.
Result<std::map<std::string, std::int64_t>> rounds_of(const Batch& batch, const GradeStore& store,
                                                      const std::set<std::string>& keys) {
  std::map<std::string, std::int64_t> rounds;
  const Json kept = parse_json(file_text(regrading_file(batch)));
  bool goes_on = kept.is_object() && kept.size() == keys.size();
  for (const std::string& key : keys) {
    goes_on = goes_on && kept.contains(key) && kept[key].is_number_integer();
    ROOFWALK_TRY(const std::int64_t last, store.last_round(key));
    rounds[key] = last + 1;
  }
  if (goes_on) return kept.get<std::map<std::string, std::int64_t>>();
  ROOFWALK_TRY_STATUS(replace_file(regrading_file(batch), json_line(Json(rounds))));
  return rounds;
}

// One task per key, even if several students submitted the same file.
Result<Backlog> tasks_of(const Batch& batch, const GradeStore& store, const std::vector<Submission>& named,
                         bool again) {
  ROOFWALK_TRY(const auto submissions, store.submissions());
  ROOFWALK_TRY(const auto grades, store.grades());
  std::set<std::string> named_keys, graded;  // graded: chapter and hash of each file with any grade, old or new
  for (const Submission& s : named) named_keys.insert(batch.key(s));
  named_keys.erase("");  // the key of submissions whose chapters are not graded now
  for (const StoredGrade& grade : grades) graded.insert(grade.chapter + grade.source_sha256);
  std::map<std::string, std::int64_t> rounds;
  if (again) {
    ROOFWALK_TRY(rounds, rounds_of(batch, store, named_keys));
  }
  Backlog backlog;
  std::set<std::string> seen;
  for (const Submission& s : submissions) {
    const std::string key = batch.key(s);
    if (key.empty() || !seen.insert(key).second) continue;
    const bool is_named = named_keys.contains(key);
    if (!is_named && graded.contains(s.chapter + s.source_sha256)) continue;
    ROOFWALK_TRY(const std::int64_t last, store.last_round(key));
    const std::int64_t wanted = is_named && again ? rounds.at(key) : 1;
    if (last >= wanted) {
      backlog.already += is_named ? 1 : 0;
    } else {
      backlog.tasks.push_back({key, s.chapter, s.source_sha256, wanted});
    }
  }
  // What the caller named comes first: a submission that is tried again may take long and fail again.
  std::stable_partition(backlog.tasks.begin(), backlog.tasks.end(),
                        [&](const Task& task) { return named_keys.contains(task.key); });
  return backlog;
}

class Grading {
 public:
  Grading(Batch& batch, const GradeOptions& options, std::map<std::string, JobTerms> terms, Backlog backlog,
          const std::function<void(const GradeProgress&)>& told)
      : batch_(batch), options_(options), terms_(std::move(terms)), told_(told), all_(backlog.tasks.size()) {
    summary_.already = backlog.already;
    waiting_.assign(backlog.tasks.begin(), backlog.tasks.end());
  }

  GradeSummary run() {
    const auto loop = [this](int worker) {
      while (auto task = next()) finish(*task, grade_one(*task, worker));
    };
    std::vector<std::jthread> helpers;
    for (int i = 1; i < options_.workers; ++i) helpers.emplace_back(loop, i);
    loop(0);
    helpers.clear();
    return summary_;
  }

 private:
  std::optional<Task> next() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    Task task = waiting_.front();
    waiting_.pop_front();
    return task;
  }

  Result<StoredGrade> grade_one(const Task& task, int worker) {
    Job job{terms_.at(task.chapter), fs::absolute(batch_.folder()) / "work" / fmt::format("{}", worker)};
    std::error_code error;
    fs::remove_all(job.folder, error);
    fs::create_directories(job.folder, error);
    fs::copy_file(batch_.source(task.source_sha256), job.folder / job.file_name(), error);
    if (error) return Error{.message = fmt::format("its copy cannot be read: {}", error.message())};
    ROOFWALK_TRY(Json answer, run_in_worker(options_.program, to_json(job), options_.limits));
    const auto text = [&](const char* name) {
      std::string value = answer.text_of(name);
      answer.erase(name);
      return value;
    };
    StoredGrade grade{
        .key = task.key, .round = task.round, .chapter = task.chapter, .source_sha256 = task.source_sha256};
    grade.plot = text("plot");
    grade.profile = text("profile");
    const Json attempt = answer.value("attempt", Json::object());
    if (attempt.value("verdict", "") == verdict_name(Verdict::too_noisy)) {
      return Error{.message = "the GPU was too noisy to tell"};
    }
    const Json bytes = attempt.value("source_sha256", Json());
    if (!attempt.contains("verdict") || (bytes.is_string() && bytes != task.source_sha256)) {
      return Error{.message = "the worker's answer is about another submission"};
    }
    grade.result = std::move(answer);
    grade.result["terms_sha256"] = batch_.terms_key(task.chapter);
    return grade;
  }

  void finish(Task& task, Result<StoredGrade> grade) {
    const std::lock_guard lock(mutex_);
    Status kept = grade ? batch_.store().add(*grade) : Status(grade.error());
    if (kept) {
      ++summary_.graded;
      ++done_;
    } else {
      ++faults_;
      summary_.last_trouble = kept.error().text();
      // If this cannot be written either, the submission stays without a grade, and the next call tries it again.
      [[maybe_unused]] const Status noted = batch_.store().add(
          StoredFault{.key = task.key, .reason = summary_.last_trouble, .at = "", .round = task.round});
      if (++task.tries < kTries) {
        waiting_.push_back(std::move(task));
      } else {
        ++summary_.faults;
        ++done_;
      }
    }
    const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin_).count();
    told_({.done = done_, .all = all_, .faults = faults_, .elapsed_s = elapsed_s});
  }

  Batch& batch_;
  const GradeOptions& options_;
  const std::map<std::string, JobTerms> terms_;
  const std::function<void(const GradeProgress&)>& told_;
  const Clock::time_point begin_ = Clock::now();
  const std::size_t all_;
  std::mutex mutex_;
  std::deque<Task> waiting_;
  std::size_t done_ = 0, faults_ = 0;
  GradeSummary summary_;
};

}  // namespace

Result<StarterDot> starter_dot(const Rig& rig, const Chapter& chapter, const HiddenCases& hidden) {
  const std::uint64_t seed = hidden.seeds.empty() ? kPublicSeed : hidden.seeds.front();
  const auto measured = prepare(chapter, rig.machine, seed, 1);
  return baseline_of(rig, chapter, *measured, seed);
}

Result<GradeSummary> grade_all(Batch& batch, const Rig& rig, const std::string& device,
                               const std::vector<Submission>& named, const GradeOptions& options,
                               const std::function<void(const GradeProgress&)>& told) {
  ROOFWALK_TRY(Backlog backlog, tasks_of(batch, batch.store(), named, options.again));
  std::map<std::string, JobTerms> terms;
  if (!backlog.tasks.empty()) {
    ROOFWALK_TRY(const RoofRates rates, measured_roofs(rig));
    for (const Chapter& chapter : batch.chapters()) {
      const auto is_of = [&](const Task& task) { return task.chapter == chapter.name; };
      if (std::none_of(backlog.tasks.begin(), backlog.tasks.end(), is_of)) continue;
      JobTerms& one = terms[chapter.name];
      one.chapter = chapter;
      one.hidden = batch.terms().hidden(chapter.name);
      one.device = device;
      one.rates = rates;
      one.isolation = options.isolation;
      ROOFWALK_TRY(one.starter, starter_dot(rig, chapter, one.hidden));
    }
  }
  std::error_code error;
  fs::remove_all(batch.folder() / "work", error);  // left over from a killed call
  GradeSummary summary = Grading(batch, options, std::move(terms), std::move(backlog), told).run();
  fs::remove_all(batch.folder() / "work", error);
  if (options.again && summary.faults == 0) fs::remove(regrading_file(batch), error);
  return summary;
}

}  // namespace roofwalk
