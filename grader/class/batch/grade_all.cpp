#include "grader/class/batch/grade_all.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/base/atomic_file.h"
#include "common/base/json.h"
#include "common/store/store.h"
#include "grader/attempt/baseline.h"
#include "grader/class/batch/stored_grade.h"
#include "grader/rig/roofs.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

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
                        [&](const GradeTask& task) { return named_keys.contains(task.key); });
  return backlog;
}

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
      const auto is_of = [&](const GradeTask& task) { return task.chapter == chapter.name; };
      if (std::none_of(backlog.tasks.begin(), backlog.tasks.end(), is_of)) continue;
      JobTerms& one = terms[chapter.name];
      one.chapter = chapter;
      one.hidden = batch.terms().hidden(chapter.name);
      one.device = device;
      one.toolkit = rig.toolkit ? rig.toolkit->version : "";
      one.rates = rates;
      one.isolation = options.isolation;
      ROOFWALK_TRY(one.starter, starter_dot(rig, chapter, one.hidden));
    }
  }
  std::error_code error;
  fs::remove_all(batch.folder() / "work", error);  // left over from a killed call
  Grading grading(batch, terms, std::move(backlog), told);
  Status graded = kOk;
  if (options.executor) {
    graded = options.executor(grading);
  } else {
    grade_here(grading, options.workers, options.program, options.limits, fs::absolute(batch.folder()) / "work");
  }
  fs::remove_all(batch.folder() / "work", error);
  ROOFWALK_TRY_STATUS(graded);
  const GradeSummary summary = grading.summary();
  if (options.again && summary.faults == 0) fs::remove(regrading_file(batch), error);
  return summary;
}

}  // namespace roofwalk
