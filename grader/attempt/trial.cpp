#include "grader/attempt/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/hash.h"
#include "common/record/run_record.h"

namespace roofwalk {
namespace {

// Whether the learner is to blame for the error. Errors in the learner's code name a file; errors of the harness do
// not.
bool is_learners(const Error& error) { return !error.file.empty(); }

// The seed that places the buffers in memory: it depends only on the file, the size and the seed of the case.
std::uint64_t layout_of(const Artifact& artifact, const std::string& case_name) {
  const std::string digest = sha256_hex(artifact.source_sha256 + "\n" + case_name);
  return std::stoull(digest.substr(0, 16), nullptr, 16) | 1;  // 0 would mean the default layout
}

// The line to look at if a value is wrong and the line that wrote it is unknown: the line with most stores or, if
// elements were never written, the line of the launch.
int suspect_line(const RunRecord& record, Wrong wrong) {
  int launch_line = 0, store_line = 0;
  std::uint64_t most_stores = 0;
  for (const KernelRecord& kernel : record.kernels) {
    if (kernel.line > 0) launch_line = kernel.line;
    for (const LineCounters& line : kernel.lines) {
      const auto stores = line.counters[Counter::global_store_requests].value_or(0);
      if (line.line > 0 && stores > most_stores) {
        most_stores = stores;
        store_line = line.line;
      }
    }
  }
  return wrong == Wrong::unwritten || store_line == 0 ? launch_line : store_line;
}

// Runs a trial with a wrong answer again, now with counters and a watch on the wrong element. Leaves the trial
// unchanged if this takes too long or fails.
void look_again(Workspace& workspace, const Artifact& artifact, bool was_counted, Trial& trial) {
  const Correctness& correctness = *trial.correctness;
  const bool has_writer = correctness.wrong == Wrong::off || correctness.wrong == Wrong::nan ||
                          correctness.wrong == Wrong::infinite || correctness.wrong == Wrong::input_changed;
  const bool watches = has_writer && correctness.index >= 0;
  if (!watches && was_counted) return;
  RunOptions options = kSmallTrial;
  options.figures = RunOptions::Figures::all;
  if (watches) {
    const auto [address, bytes] = workspace.place_of(correctness.buffer, correctness.index);
    options.watched_address = address;
    options.watched_bytes = bytes;
  }
  auto record = workspace.run(artifact, options);
  if (!record || record->fault) return;
  trial.writer_line = record->watched_line;
  if (!was_counted) trial.record.kernels = std::move(record->kernels);
}

// Where some blocks are watched, about this many are. All are watched up to the work of a GEMM of 512 x 512 x 512,
// which is classroom's largest measured size.
constexpr std::uint64_t kWatchedBlocks = 64;
constexpr std::int64_t kMostWatchedFlops = std::int64_t{1} << 28;

// The same for some blocks only, with the whole budget. For a kernel whose sanitized run exceeded its half of the
// budget, although it may end without the sanitizer.
RunOptions sanitized_in_part(RunOptions measured) {
  measured.sanitize = true;
  measured.figures = RunOptions::Figures::none;
  measured.sanitized_blocks = kWatchedBlocks;
  return measured;
}

// Sanitizes a measured trial without figures, on one thread. If there is more work than at classroom's sizes, only some
// blocks are watched (RunOptions::sanitized_blocks); otherwise all are, with half of the budget.
RunOptions sanitized(RunOptions measured, const Work& work) {
  if (work.useful_flops > kMostWatchedFlops) return sanitized_in_part(measured);
  measured.sanitize = true;
  measured.figures = RunOptions::Figures::none;
  measured.max_work /= 2;
  return measured;
}

bool runs_too_long(const Trial& trial) { return trial.record.fault && trial.record.fault->kind == FaultKind::runaway; }

// The run that gives the figures. The sanitizer has a budget of its own, so that a kernel runs too long here only if it
// does in a plain run. `watched`: the options of the sanitized run before it.
Result<Trial> run_sanitized_with_figures(const RunOptions& measured, const RunOptions& watched, const RunWith& run) {
  RunOptions both = measured;
  both.sanitize = true;
  both.sanitized_blocks = watched.sanitized_blocks;
  both.max_work += watched.max_work;
  both.milestone_work = measured.max_work;
  both.max_seconds *= 2;
  ROOFWALK_TRY(Trial trial, run(both));
  if (trial.went_wrong() || !trial.record.passed_milestone) return trial;
  ROOFWALK_TRY(Trial plain, run(measured));
  return runs_too_long(plain) ? plain : trial;
}

}  // namespace

std::string case_name(const Size& size, std::uint64_t seed) { return fmt::format("{}, seed {}", size.text(), seed); }

RunOptions measured_trial(const Work& work, int threads) {
  constexpr std::uint64_t kAlways = 2'000'000'000, kForEachFma = 256;
  constexpr double kAlwaysSeconds = 300;
  constexpr std::uint64_t kFlopsOfAWarp = 64;
  const std::uint64_t fmas = static_cast<std::uint64_t>(work.useful_flops) / kFlopsOfAWarp;
  const std::uint64_t work_units = std::max(kAlways, kForEachFma * fmas);
  return {.max_work = work_units,
          .max_seconds = kAlwaysSeconds * static_cast<double>(work_units) / static_cast<double>(kAlways),
          .threads = threads};
}

Result<Trial> run_sanitized(const RunOptions& measured, const Work& work, bool on_gpu, const RunWith& run) {
  RunOptions watching = sanitized(measured, work);
  ROOFWALK_TRY(Trial watched, run(watching));
  if (runs_too_long(watched) && watching.sanitized_blocks == 0) {
    watching = sanitized_in_part(measured);
    ROOFWALK_TRY(watched, run(watching));
  }
  if (watched.went_wrong()) return watched;
  ROOFWALK_TRY(Trial trial, on_gpu ? run(measured) : run_sanitized_with_figures(measured, watching, run));
  trial.record.warnings.insert(trial.record.warnings.end(), watched.record.warnings.begin(),
                               watched.record.warnings.end());
  return trial;
}

double share_of(const Work& work, const Work& measured) {
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return whole <= 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  return std::max(share(work.useful_flops, measured.useful_flops),
                  share(work.compulsory_bytes, measured.compulsory_bytes));
}

Result<Trial> run_small_size(const RunWith& run) {
  ROOFWALK_TRY(Trial trial, run(kSmallTrial));
  if (!runs_too_long(trial)) return trial;
  RunOptions in_part = kSmallTrial;
  in_part.sanitized_blocks = kWatchedBlocks;
  return run(in_part);
}

Result<Trial> run_hidden_size(const Work& work, const Work& measured, const RunWith& run) {
  const RunOptions whole = measured_trial(measured, 1);
  const double share = std::min(1.0, share_of(work, measured));
  const auto more = static_cast<std::uint64_t>(share * static_cast<double>(whole.max_work));
  RunOptions options = kSmallTrial;
  options.max_work += more;
  options.max_seconds += share * whole.max_seconds;
  if (work.useful_flops > kMostWatchedFlops) options.sanitized_blocks = kWatchedBlocks;
  ROOFWALK_TRY(Trial trial, run(options));
  const bool is_large = more > kSmallTrial.max_work;
  if (!is_large || !runs_too_long(trial) || options.sanitized_blocks != 0) return trial;
  options.sanitized_blocks = kWatchedBlocks;
  return run(options);
}

Result<Trial> run_trial(const DeviceFactory& open, const Artifact& artifact, const Problem& problem, std::string name,
                        const RunOptions& limits, const ExpectedValues& expected) {
  ROOFWALK_TRY(const auto device, open());
  return run_trial_on(*device, Loading::anew, artifact, problem, std::move(name), limits, expected);
}

Result<Trial> run_trial_on(Device& device, Loading loading, const Artifact& artifact, const Problem& problem,
                           std::string name, const RunOptions& limits, const ExpectedValues& expected) {
  Trial trial;
  trial.case_name = std::move(name);
  const std::uint64_t layout = layout_of(artifact, trial.case_name);
  device.lay_out(layout);
  RunOptions options = limits;
  options.sanitized_seed = layout;
  const bool checks_bounds = device.identity() == DeviceIdentity{};
  ROOFWALK_TRY(Workspace workspace, Workspace::make(device, problem, checks_bounds ? 0 : kGuardBytes));
  auto record = loading == Loading::kept ? workspace.run_loaded(artifact, options) : workspace.run(artifact, options);
  if (!record) {
    if (!is_learners(record.error())) return record.error();
    trial.refusal = record.error();
    return trial;
  }
  trial.record = std::move(*record);
  if (!expected || trial.record.fault) return trial;
  trial.correctness = workspace.check(expected());
  ROOFWALK_TRY_STATUS(device.alive());  // values that were read from a lost device are not results
  if (!trial.correctness->correct) look_again(workspace, artifact, limits.figures != RunOptions::Figures::none, trial);
  return trial;
}

void add_to_evidence(const Trial& trial, const Artifact& artifact, Evidence& evidence) {
  evidence.refusal = trial.refusal;
  evidence.fault = trial.record.fault;
  evidence.fault_case = trial.case_name;
  if (!trial.correctness) return;
  CaseOutcome outcome{trial.case_name, *trial.correctness, {}, 0};
  if (!outcome.correctness.correct) {
    outcome.file = artifact.source_path;
    if (trial.shows_lines)
      outcome.line = trial.writer_line > 0 ? trial.writer_line : suspect_line(trial.record, outcome.correctness.wrong);
  }
  evidence.outcome = std::move(outcome);
}

}  // namespace roofwalk
