#include "grader/attempt/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "common/base/hash.h"
#include "common/record/run_record.h"
#include "grader/attempt/chapter_roofs.h"
#include "grader/attempt/goals.h"
#include "grader/attempt/habits.h"
#include "grader/attempt/inspect.h"
#include "grader/attempt/later_calls.h"
#include "grader/attempt/redact.h"
#include "grader/rig/gpu_rig.h"
#include "grader/rig/workers.h"

namespace roofwalk {
namespace {

Attempt blank(const Rig& rig, const Request& request, const Size& size) {
  Attempt attempt;
  attempt.chapter = request.chapter->name;
  attempt.device = rig.device_name();
  attempt.device_kind = rig.device_kind;
  attempt.device_option = rig.device_option;
  attempt.size = size;
  if (request.hidden.empty()) attempt.seed = request.seed;
  attempt.file = request.file.string();
  attempt.sandboxed = rig.isolation == Isolation::boxed;
  attempt.walk_level = walk_level(*request.chapter);
  attempt.roof = request.chapter->roof;
  attempt.baseline = request.chapter->baseline_name();
  attempt.roofs = roofs_for(rig, *request.chapter);
  if (const Machine& m = rig.machine; m.is_slice()) {
    attempt.notes.push_back(fmt::format(
        "{} is a slice: {} of {}'s {} SMs with their share of L2 and DRAM; the chip's rates are {:.3g} times these",
        m.name, m.sms, m.chip_name(), m.chip_sms, static_cast<double>(m.chip_sms) / m.sms));
  }
  return attempt;
}

// Number of threads for work that needs no GPU.
int host_threads(const Rig& rig) { return rig.is_real() ? rig.virtual_threads : rig.threads; }

struct SmallCase {
  Size size;
  std::uint64_t seed = 0;
  bool is_instructors = false;  // not one of the chapter's sizes; may be as large as the measured one
};

std::vector<SmallCase> public_cases(const Chapter& chapter, std::uint64_t seed) {
  std::vector<SmallCase> cases;
  for (const Size& size : chapter.correctness_sizes) cases.push_back({size, seed});
  return cases;
}

// The hidden sizes, and the chapter's own sizes with hidden seeds.
std::vector<SmallCase> hidden_cases(const Chapter& chapter, const Request& request) {
  std::vector<SmallCase> cases;
  for (const std::uint64_t seed : request.hidden.seeds) {
    for (const Size& size : chapter.correctness_sizes) cases.push_back({size, seed});
    for (const Size& size : request.hidden.sizes) cases.push_back({size, seed, true});
  }
  if (!request.hidden.seeds.empty()) return cases;
  for (const Size& size : request.hidden.sizes) cases.push_back({size, request.seed, true});
  return cases;
}

RunOptions limits_of(RunOptions options, const Request& request) {
  if (request.ignores_clock) options.max_seconds = 30 * 86400.0;  // days
  return options;
}

// Runs the cases, and returns their trials in order, up to the first one in which the kernel was stopped.
Result<std::vector<Trial>> small_trials(int threads, const DeviceFactory& open, const Exercise& exercise,
                                        const Work& measured_work, const Artifact& artifact, const Request& request,
                                        const std::vector<SmallCase>& cases) {
  std::vector<std::optional<Result<Trial>>> results(cases.size());
  std::atomic<std::size_t> first_stopped{results.size()};
  parallel_for(results.size(), threads, [&](std::size_t i) {
    // After a stopped kernel, no later case is begun, so that an endless loop is not waited for in every case. After
    // wrong values, all cases still run.
    if (i > first_stopped) return;
    const auto& [size, seed, is_instructors] = cases[i];
    const Problem problem = exercise.problem(size, seed);
    const std::vector<Expected> expected = exercise.reference(size, problem);
    const auto run = [&, &size = size, &seed = seed](const RunOptions& limits) {
      return run_trial(open, artifact, problem, case_name(size, seed), limits_of(limits, request),
                       [&]() -> const std::vector<Expected>& { return expected; });
    };
    results[i] = is_instructors ? run_hidden_size(exercise.work(size), measured_work, run) : run_small_size(run);
    if (results[i]->ok() && !(*results[i])->was_stopped()) return;
    for (std::size_t before = first_stopped; i < before && !first_stopped.compare_exchange_weak(before, i);) {
    }
  });
  std::vector<Trial> trials;
  for (auto& result : results) {
    ROOFWALK_TRY(Trial trial, *std::move(result));
    trials.push_back(std::move(trial));
    if (trials.back().was_stopped()) break;
  }
  return trials;
}

// Replaces the output of earlier trials by this trial's, and adds its warnings, each only once.
void note_output(const Trial& trial, Attempt& attempt) {
  attempt.printed = trial.record.printed;
  attempt.printed_case = trial.case_name;
  for (const Fault& warning : trial.record.warnings) {
    const auto same = [&](const Fault& known) { return known.line == warning.line && known.kernel == warning.kernel; };
    if (std::none_of(attempt.warnings.begin(), attempt.warnings.end(), same)) attempt.warnings.push_back(warning);
  }
}

void note_errors(const Trial& trial, const Size& size, Attempt& attempt) {
  ++attempt.cases;
  if (!trial.correctness) return;
  const Correctness& c = *trial.correctness;
  attempt.correct = c.correct;
  if (attempt.worst_error && c.worst_error <= *attempt.worst_error) return;
  attempt.worst_error = c.worst_error;
  attempt.worst_place = c.index >= 0 ? fmt::format("{}[{}], {}", c.buffer, c.index, size.text()) : size.text();
}

// Whether the request's own run gives the starter's dot, because it runs the starter in the same way.
bool measures_starter(const Rig& rig, const Request& request) {
  std::error_code unknown;
  return !request.starter && !rig.is_real() && request.hidden.empty() && request.seed == kPublicSeed &&
         std::filesystem::is_regular_file(request.file, unknown) &&
         file_text(request.file) == file_text(request.chapter->baseline());
}

// The starter's dot: given in the request, stored by an earlier call, or measured in the background. Invalid if the
// request's own run gives it.
std::future<Result<StarterDot>> starter_dot(const Rig& rig, const Request& request, const Measured& measured,
                                            const std::string& key) {
  const std::optional<StarterDot> known = request.starter ? request.starter : kept_starter(rig, key);
  if (!known && measures_starter(rig, request)) return {};
  return start(known ? 1 : rig.threads, [&rig, &request, &measured, known]() -> Result<StarterDot> {
    if (known) return *known;
    const PhaseTimer timer(rig.phases, "the starter's dot");
    return measure_starter(rig, *request.chapter, measured.problem, measured.work);
  });
}

// Records the figures of the measured trial; its correctness is recorded elsewhere.
Status add_measurement(const Rig& rig, const Trial& trial, const Artifact& artifact, const Work& work,
                       const Habits& habits, Evidence& evidence, Attempt& attempt) {
  attempt.measurement = measure(trial.record, work, attempt.roofs);
  const bool lacks_atomic_flops = habits.adds_by_atomics && !attempt.measurement->atomic_flops.known();
  if (lacks_atomic_flops) attempt.measurement->executed_over_useful.obtained = Obtained::unsupported;
  attempt.time_is_modelled = trial.record.time_is_modelled;
  attempt.bytes_are_modelled = trial.record.bytes_are_modelled;
  attempt.kernels = trial.record.kernels;
  attempt.finding = inspect(trial.record, *attempt.measurement, rig.machine, attempt.roofs, artifact.source_text);
  attempt.bound = bound_of(attempt.kernels, *attempt.measurement, attempt.roofs);
  const auto point = attempt.measurement->point(attempt.walk_level);
  const auto starter = evidence.starter.find(attempt.walk_level);
  if (point && starter != evidence.starter.end()) attempt.moved = movement(starter->second, *point);
  evidence.measurement = attempt.measurement;
  const bool counts_by_card = rig.is_real() && !trial.record.bytes_are_modelled;
  evidence.implausible = implausible(*attempt.measurement, attempt.roofs,
                                     {.dram_bytes = counts_by_card ? static_cast<double>(rig.machine.l2_bytes) : 0,
                                      .has_atomic_flops = lacks_atomic_flops});
  const auto spills = uncounted_spills(trial.record, *attempt.measurement, rig.machine);
  if (spills && !counts_by_card) evidence.implausible.push_back(*spills);
  if (attempt.roof != ChapterRoof::fp32) return kOk;
  ROOFWALK_TRY(const bool has_tensor_products, multiplies_on_tensor_cores(rig, trial.record, artifact, habits));
  if (has_tensor_products) {
    evidence.implausible.push_back(
        "the kernel multiplies on tensor cores, whose roof is not the one it is measured against: use FP32 arithmetic");
  }
  return kOk;
}

// What needs no GPU of an attempt on a real one. It is done before the attempt's turn, so that other users wait less.
struct WithoutGpu {
  Artifact starter;
  StarterDot dot;
  std::optional<RunRecord> modelled;  // the attempt's run on the virtual GPU, if the GPU's counters cannot be read
};

Result<WithoutGpu> do_without_gpu(const Rig& rig, const Chapter& chapter, const Measured& measured,
                                  const Artifact& artifact, std::future<Result<StarterDot>>& dot) {
  WithoutGpu ready;
  ROOFWALK_TRY(ready.starter, build_for(rig, chapter.baseline()));
  ROOFWALK_TRY(ready.dot, dot.get());  // takes a separate turn on the GPU if the dot is not stored
  if (!rig.counts_bytes) {
    ROOFWALK_TRY(ready.modelled, modelled_run(rig, artifact, measured.problem));
  }
  measured.expected.wait();
  return ready;
}

// Counted bytes and modelled ones are not comparable: if counting fails for one of the two, those of both are modelled.
Status use_bytes_of_one_kind(const Rig& rig, const Measured& measured, const Artifact& artifact,
                             const WithoutGpu& ready, Evidence& evidence, Attempt& attempt, RunRecord& record) {
  if (ready.modelled) take_bytes(*ready.modelled, record);
  ROOFWALK_TRY_STATUS(model_bytes(rig, artifact, measured.problem, record));
  if (record.bytes_are_modelled == ready.dot.bytes_are_modelled) return kOk;
  const auto modelled_of = [&](const Artifact& kernel) { return modelled_run(rig, kernel, measured.problem); };
  if (!record.bytes_are_modelled) {
    ROOFWALK_TRY(const auto modelled, modelled_of(artifact));
    if (modelled) take_bytes(*modelled, record);
    return kOk;
  }
  ROOFWALK_TRY(const auto modelled, modelled_of(ready.starter));
  if (!modelled) return kOk;
  const Measurement starter = measure(*modelled, measured.work, attempt.roofs);
  for (auto& [level, point] : evidence.starter) point.ai = starter.level(level).ai.get().value_or(point.ai);
  attempt.starter_sector_use = starter.sector_use.get();
  evidence.starter_counts = attempt.starter_counts = counts_of(starter);
  return kOk;
}

// The figures of a real GPU: times from pairs with the starter, and the virtual GPU's bytes if the GPU's counters
// cannot be read.
Status time_and_model(const Rig& rig, const Measured& measured, const Artifact& artifact, const WithoutGpu& ready,
                      Evidence& evidence, Trial& trial, Attempt& attempt) {
  attempt.notes = trial.record.notes;
  ROOFWALK_TRY_STATUS(use_bytes_of_one_kind(rig, measured, artifact, ready, evidence, attempt, trial.record));
  if (trial.record.bytes_are_modelled) attempt.notes.push_back("the bytes are the virtual GPU's, not this GPU's");
  const Measurement first = measure(trial.record, measured.work, attempt.roofs);
  const auto goals = timed_goals(evidence.goals, first);
  ROOFWALK_TRY(attempt.times, time_in_pairs(
                                  rig, ready.starter, artifact, measured.problem,
                                  [&]() -> const std::vector<Expected>& { return measured.expected.get(); }, goals));
  const GpuTimes& times = *attempt.times;
  const PairedTimes& pairs = times.pairs;
  trial.record.elapsed_ns = pairs.attempt.median_ns;
  for (auto& [level, point] : evidence.starter) {
    point.flops_per_s = static_cast<double>(measured.work.useful_flops) / pairs.starter.median_ns * 1e9;
  }
  attempt.starter = evidence.starter;
  attempt.notes.insert(attempt.notes.end(), times.notes.begin(), times.notes.end());
  for (std::size_t i = 0; i < goals.size(); ++i) {
    const GoalDecision& decision = pairs.goals[i];
    evidence.decided[{goals[i].goal, goals[i].grade}] = decision.decision == Decision::pass;
    if (decision.decision != Decision::too_noisy) continue;
    if (goals[i].grade == Grade::pass)
      evidence.noise = decision.reason;
    else
      attempt.notes.push_back(fmt::format("whether it is an ace is {}", decision.reason));
  }
  if (times.disturbed) evidence.noise = times.disturbed;
  return kOk;
}

// One attempt on its way through the steps. Each step adds to the evidence and to the attempt's record.
class AttemptInTheMaking {
 public:
  AttemptInTheMaking(const Rig& rig, const Request& request, const Exercise& exercise)
      : rig_(rig),
        request_(request),
        chapter_(*request.chapter),
        exercise_(exercise),
        measured_(request.measured
                      ? request.measured
                      : prepare(*request.chapter, rig.machine, measured_seed(request), host_threads(rig), rig.phases)),
        key_(baseline_key(rig, *request.chapter, measured_->size, measured_seed(request))),
        starter_(starter_dot(rig, request, *measured_, key_)),
        attempt_(blank(rig, request, measured_->size)) {
    MachineGoals goals = goals_on(rig.machine, chapter_, measured_->work, !rig.is_real());
    evidence_.goals = std::move(goals.asked);
    attempt_.goals_left_out = std::move(goals.left_out);
  }

  // Runs the steps, up to the first one that decides the verdict.
  Result<Attempt> to_the_end() {
    for (const auto step : {&AttemptInTheMaking::compile, &AttemptInTheMaking::run_small_sizes,
                            &AttemptInTheMaking::run_later_calls, &AttemptInTheMaking::run_hidden_cases,
                            &AttemptInTheMaking::run_uneven_size, &AttemptInTheMaking::run_measured_size}) {
      ROOFWALK_TRY(const bool goes_on, (this->*step)());
      if (!goes_on) break;
    }
    return judged();
  }

 private:
  Attempt judged() {
    attempt_.judgement = judge(evidence_);
    attempt_.fault = evidence_.fault;
    if (evidence_.outcome && evidence_.outcome->correctness.looks_like_half) {
      attempt_.finding = inspect_wrong(evidence_.outcome->correctness, evidence_.outcome->line);
    }
    attempt_.ended_line = line_of_end();
    attempt_.ended_source = source_line(file_text(request_.file), attempt_.ended_line);
    if (attempt_.finding && attempt_.judgement.grade == Grade::ace) settle(*attempt_.finding);
    if (attempt_.finding && attempt_.measurement) lead_with_missed(attempt_.judgement, *attempt_.finding);
    return std::move(attempt_);
  }

  int line_of_end() const {
    const Verdict verdict = attempt_.judgement.verdict;
    if (verdict == Verdict::compile_error) return evidence_.compile_error->line;
    if (verdict == Verdict::refused) return evidence_.refusal->line;
    if (verdict == Verdict::fault) return evidence_.fault->line;
    return verdict == Verdict::incorrect ? evidence_.outcome->line : 0;
  }

  // Each step returns whether the next one should run.
  Result<bool> compile() {
    const PhaseTimer timer(rig_.phases, "compile");
    auto artifact = build_for(rig_, request_.file);
    if (!artifact) {
      if (artifact.error().file != request_.file.string()) return artifact.error();  // no mistake of the learner's
      evidence_.compile_error = artifact.error();
      return false;
    }
    artifact_ = *std::move(artifact);
    artifact_.may_call_libraries = request_.may_call_libraries;
    attempt_.source_sha256 = artifact_.source_sha256;
    const auto is_unchanged = [&](const std::filesystem::path& file) {
      return artifact_.source_sha256 == sha256_hex(file_text(file));
    };
    attempt_.is_starter = is_unchanged(chapter_.starter());
    is_baseline_ = is_unchanged(chapter_.baseline());
    return true;
  }

  // Runs the cases. If the rig has a real GPU, they run on the virtual GPU first, because that can tell the line and
  // thread of a failure.
  Result<std::vector<Trial>> trials_of(const std::vector<SmallCase>& cases) {
    const PhaseTimer timer(rig_.phases, "small sizes");
    ROOFWALK_TRY(auto trials, small_trials(host_threads(rig_), rig_.virtual_devices(), exercise_, measured_->work,
                                           artifact_, request_, cases));
    habits_.add(trials);
    if (rig_.is_real() && std::none_of(trials.begin(), trials.end(), [](const Trial& t) { return t.went_wrong(); })) {
      return small_trials(rig_.threads, rig_.open, exercise_, measured_->work, artifact_, request_, cases);
    }
    return trials;
  }

  Result<bool> run_small_sizes() {
    ROOFWALK_TRY(const auto trials, trials_of(public_cases(chapter_, request_.seed)));
    attempt_.small_sizes = static_cast<int>(trials.size());
    for (const Trial& trial : trials) attempt_.wrong_small_sizes += trial.went_wrong() ? 1 : 0;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      note_errors(trials[i], chapter_.correctness_sizes[i], attempt_);
      add_to_evidence(trials[i], artifact_, evidence_);
      note_output(trials[i], attempt_);
      if (trials[i].went_wrong()) return false;  // the card shows the first failure
    }
    return true;
  }

  Result<bool> run_later_calls() {
    const PhaseTimer timer(rig_.phases, "small sizes");
    ROOFWALK_TRY(const auto wrong, later_calls(rig_.virtual_devices(), exercise_, chapter_.correctness_sizes,
                                               request_.seed, artifact_, limits_of(kSmallTrial, request_)));
    if (!wrong) return true;
    note_errors(wrong->trial, wrong->size, attempt_);
    add_to_evidence(wrong->trial, artifact_, evidence_);
    return false;
  }

  Result<bool> run_hidden_cases() {
    if (request_.hidden.empty()) return true;
    const std::vector<SmallCase> cases = hidden_cases(chapter_, request_);
    ROOFWALK_TRY(auto trials, trials_of(cases));
    attempt_.hidden_cases = static_cast<int>(trials.size());
    for (std::size_t i = 0; i < trials.size(); ++i) {
      hide(trials[i], cases[i].is_instructors ? Hidden::size : Hidden::seed);
      attempt_.wrong_hidden_cases += trials[i].went_wrong() ? 1 : 0;
    }
    for (const Trial& trial : trials) {
      if (trial.correctness) attempt_.correct = trial.correctness->correct;
      add_to_evidence(trial, artifact_, evidence_);
      if (trial.went_wrong()) return false;
    }
    return true;
  }

  RunOptions measured_options() const {
    return limits_of(is_baseline_ ? starter_trial(rig_.threads) : measured_trial(measured_->work, rig_.threads),
                     request_);
  }

  Result<Trial> run_large(const Measured& at, RunOptions options) const {
    options.sample_seed = measured_seed(request_);
    return run_trial(rig_.open, artifact_, at.problem, case_name(at.size, measured_seed(request_)), options,
                     [&]() -> const std::vector<Expected>& { return at.expected.get(); });
  }

  // For a grade: one run without figures at a large size that is a multiple of no block and no tile.
  Result<bool> run_uneven_size() {
    const Size size = uneven_size(chapter_, measured_->size, measured_seed(request_));
    if (!request_.sanitizes_measured || size == measured_->size) return true;
    ROOFWALK_TRY(const auto turn, wait_for_turn(rig_, chapter_.name));
    const PhaseTimer timer(rig_.phases, "uneven size");
    RunOptions options = measured_options();
    options.figures = RunOptions::Figures::none;
    ROOFWALK_TRY(Trial trial, run_large(*prepare(chapter_, size, measured_seed(request_), 1), options));
    if (trial.went_wrong()) note_large(trial, size);
    return !trial.went_wrong();
  }

  Result<Trial> measured_run() const {
    const PhaseTimer timer(rig_.phases, "measured size");
    if (!request_.sanitizes_measured) return run_large(*measured_, measured_options());
    return run_sanitized(measured_options(), measured_->work, rig_.is_real(),
                         [&](const RunOptions& with) { return run_large(*measured_, with); });
  }

  void note_large(Trial& trial, const Size& size) {
    if (request_.hidden.seeds.empty()) {
      note_errors(trial, size, attempt_);
      note_output(trial, attempt_);
    } else {
      hide(trial, Hidden::seed);
      if (size != measured_->size) trial.case_name = hidden_case_below(measured_->size, chapter_.name);
      ++attempt_.cases;
      if (trial.correctness) attempt_.correct = trial.correctness->correct;
    }
    add_to_evidence(trial, artifact_, evidence_);
  }

  // The starter's dot from the attempt's own run. Measures the starter if the file has been changed meanwhile.
  Result<StarterDot> dot_of(const Trial& trial) const {
    if (!is_baseline_) return measure_starter(rig_, chapter_, measured_->problem, measured_->work);
    return starter_dot_of(measure(trial.record, measured_->work, attempt_.roofs), trial.record.bytes_are_modelled);
  }

  Result<bool> run_measured_size() {
    std::optional<WithoutGpu> ready;
    if (rig_.is_real()) {
      ROOFWALK_TRY(ready, do_without_gpu(rig_, chapter_, *measured_, artifact_, starter_));
      ROOFWALK_TRY_STATUS(keep_starter(rig_, key_, ready->dot));
    }
    ROOFWALK_TRY(const auto turn, wait_for_turn(rig_, chapter_.name));
    ROOFWALK_TRY(Trial trial, measured_run());
    note_large(trial, measured_->size);
    if (trial.refusal || trial.record.fault) return false;

    ROOFWALK_TRY(const StarterDot dot, ready              ? Result<StarterDot>(ready->dot)
                                       : starter_.valid() ? starter_.get()
                                                          : dot_of(trial));
    if (!ready) ROOFWALK_TRY_STATUS(keep_starter(rig_, key_, dot));
    evidence_.starter = attempt_.starter = dot.points;
    attempt_.starter_sector_use = dot.sector_use;
    evidence_.starter_counts = attempt_.starter_counts = dot.counts;
    // A wrong answer has no figures: its dot would mean nothing.
    if (!trial.correctness->correct) return false;
    if (ready) {
      ROOFWALK_TRY_STATUS(time_and_model(rig_, *measured_, artifact_, *ready, evidence_, trial, attempt_));
    }
    ROOFWALK_TRY_STATUS(add_measurement(rig_, trial, artifact_, measured_->work, habits_, evidence_, attempt_));
    return true;
  }

  const Rig& rig_;
  const Request& request_;
  const Chapter& chapter_;
  const Exercise& exercise_;
  const std::shared_ptr<const Measured> measured_;
  const std::string key_;                    // key of the starter's dot
  std::future<Result<StarterDot>> starter_;  // reads the members above
  Artifact artifact_;
  bool is_baseline_ = false;  // the file is the kernel of the walk's first dot, unchanged
  Attempt attempt_;
  Evidence evidence_;
  Habits habits_;
};

}  // namespace

Result<Attempt> run_attempt(const Rig& rig, const Request& request) {
  const Exercise* exercise = find_exercise(request.chapter->name);
  if (exercise == nullptr) {
    return Error{fmt::format("chapter `{}` has no exercise in this program", request.chapter->name)};
  }
  return AttemptInTheMaking(rig, request, *exercise).to_the_end();
}

std::uint64_t measured_seed(const Request& request) {
  return request.hidden.seeds.empty() ? request.seed : request.hidden.seeds.front();
}

std::string walk_level(const Chapter& chapter) {
  for (const Goal& goal : chapter.goals) {
    if (goal.axis == Goal::Axis::right) return goal.level;
  }
  for (const Goal& goal : chapter.goals) {
    if (!is_count(goal.what)) return goal.level;
  }
  return "dram";
}

std::optional<std::string> not_offered(const Chapter& chapter, const Machine& machine) {
  if (machine.compute_capability >= chapter.min_compute_capability) return std::nullopt;
  const auto version = [](int capability) { return fmt::format("{}.{}", capability / 10, capability % 10); };
  return fmt::format("`{}` needs compute capability {}, and {} has {}", chapter.name,
                     version(chapter.min_compute_capability), machine.name, version(machine.compute_capability));
}

}  // namespace roofwalk
