#include "grader/class/slurm/collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <string_view>
#include <thread>

#include "common/base/atomic_file.h"
#include "common/base/hash.h"
#include "common/store/store.h"
#include "grader/class/slurm/follow_up.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using Seconds = std::chrono::duration<double>;

constexpr int kSubmitTries = 5;
constexpr int kMostSubmittedAfterFault = 2;
constexpr double kToldOfSilence_s = 60;
constexpr double kMostSilence_s = 1800;
constexpr int kRestForListing = 10;

std::string last_line_of(const fs::path& log) {
  std::string text = file_text(log);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  constexpr std::size_t kMostCharacters = 200;
  return shortened(printable(text.substr(text.rfind('\n') + 1)), kMostCharacters);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return Seconds(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::string new_job_name() {
  std::random_device random;
  return fmt::format("roofwalk-{:08x}{:08x}", random(), random());
}

Error loss_of(const UnitFolder& folder, const std::vector<TaskOfArray>& tasks) {
  std::string words;  // the last line that one of the tasks printed
  for (const auto& [name, index] : tasks) {
    if (words.empty()) words = last_line_of(folder.array(name) / fmt::format("{}.log", index));
  }
  return {.message = fmt::format("Slurm's task ended {} times without an answer{}{}", kMostLosses,
                                 words.empty() ? "" : ": ", words),
          .advice = "do all nodes see " + folder.root().string() + " and this program?"};
}

Status Collector::run() {
  ROOFWALK_TRY_STATUS(SlurmQueue::is_installed());
  ROOFWALK_TRY_STATUS(folder_.make());
  if (options_.waits) cancel_follow_up(options_.folder);
  find_earlier();
  auto looked = Clock::now();
  for (;;) {
    ROOFWALK_TRY_STATUS(submit_waiting());
    take_answers();
    if (!options_.waits) return leave();
    if (flights_.empty() && lost_.empty()) {
      // A fault puts its submission back, to be tried once more.
      ROOFWALK_TRY_STATUS(submit_waiting());
      if (flights_.empty()) break;
    }
    if (seconds_since(looked) >= options_.poll_s) {
      ROOFWALK_TRY_STATUS(look_at_queue());
      looked = Clock::now();
    }
    // The list of a large class's answers takes long on a network file system, whose server has other clients, too.
    std::this_thread::sleep_for(std::max<Seconds>(Seconds(options_.look_s), kRestForListing * listing_));
  }
  clean_up();
  return kOk;
}

// Leaves what has no answer yet to a job. A call knows only its own tries, so the jobs tell how often a submission was
// tried: without that, one that always has a fault would be tried for ever.
Status Collector::leave() {
  std::vector<GradeTask> again;
  while (auto task = grading_.next()) {
    const std::string unit = unit_name(*task);
    const auto fault = faults_.find(unit);
    if (fault == faults_.end() || submitted_[unit] < kMostSubmittedAfterFault) {
      again.push_back(*std::move(task));
    } else {
      grading_.finish(*std::move(task), fault->second);
    }
  }
  if (!again.empty()) ROOFWALK_TRY_STATUS(submit(in_chunks(again, 1)));
  if (flights_.empty()) {
    clean_up();
    return kOk;
  }
  if (const Status renewed = renew_follow_up(options_); !renewed) {
    options_.told("no job follows the tasks, so the same command has to be given later: " + renewed.error().message);
    return kOk;
  }
  options_.told(fmt::format("{} still out; a job that starts when the tasks have ended submits again what is lost: {}",
                            flights_.size(), follow_up_name(options_.folder)));
  return kOk;
}

// The units of jobs that earlier calls submitted. A unit is in several if it was lost once; any job's answer is taken.
void Collector::find_earlier() {
  for (const std::string& name : folder_.arrays()) {
    jobs_.insert(name);
    for (const std::size_t task : folder_.tasks(name)) {
      const auto units = folder_.read(name, task);
      if (!units) continue;
      for (const Unit& unit : *units) {
        earlier_[unit.name].emplace_back(name, task);
        ++submitted_[unit.name];
      }
    }
  }
}

Status Collector::submit_waiting() {
  std::vector<GradeTask> fresh;
  while (auto task = grading_.next()) {
    const std::string name = unit_name(*task);
    if (const auto known = earlier_.extract(name)) {
      flights_.insert_or_assign(name, Flight{*std::move(task), known.mapped()});
    } else {
      fresh.push_back(*std::move(task));
    }
  }
  auto chunks = in_chunks(fresh, options_.per_task);
  // One of them may be what ends its task each time, and must not take others with it.
  for (GradeTask& task : lost_) chunks.push_back({std::move(task)});
  lost_.clear();
  for (std::size_t begin = 0; begin < chunks.size(); begin += kMostTasksOfAJob) {
    const std::size_t end = std::min(begin + kMostTasksOfAJob, chunks.size());
    ROOFWALK_TRY_STATUS(submit(
        {chunks.begin() + static_cast<std::ptrdiff_t>(begin), chunks.begin() + static_cast<std::ptrdiff_t>(end)}));
  }
  return kOk;
}

Status Collector::submit(const std::vector<std::vector<GradeTask>>& chunks) {
  const std::string name = new_job_name();
  std::size_t count = 0;
  for (std::size_t task = 0; task < chunks.size(); ++task) {
    std::vector<Unit> units;
    for (const GradeTask& one : chunks[task]) {
      const fs::path source = folder_.source(one.source_sha256);
      if (sha256_hex(file_text(source)) != one.source_sha256)
        ROOFWALK_TRY_STATUS(replace_file(source, file_text(grading_.source(one))));
      units.push_back(unit_of(grading_, one));
    }
    ROOFWALK_TRY_STATUS(folder_.write(name, task, units));
    count += units.size();
  }
  ROOFWALK_TRY_STATUS(
      replace_file(folder_.array(name) / "script.sh", array_script(array_job(options_, name, chunks.size()))));
  ROOFWALK_TRY_STATUS(submit_script(queue_, folder_, name, options_.retry_s));
  jobs_.insert(name);
  for (std::size_t task = 0; task < chunks.size(); ++task) {
    for (const GradeTask& one : chunks[task]) {
      flights_.insert_or_assign(unit_name(one), Flight{one, {{name, task}}});
      ++submitted_[unit_name(one)];
    }
  }
  options_.told(fmt::format("{} submission{} in {} task{}: job {}", count, count == 1 ? "" : "s", chunks.size(),
                            chunks.size() == 1 ? "" : "s", name));
  return kOk;
}

// Slurm may take a job and fail to say so; the job's name then is in the queue.
Status submit_script(const SlurmQueue& queue, const UnitFolder& folder, const std::string& name, double retry_s) {
  for (int tries = 1;; ++tries) {
    const Status submitted = queue.submit(folder.array(name) / "script.sh");
    if (submitted) return kOk;
    const auto queued = queue.tasks({name});
    if (queued && !queued->empty()) return kOk;
    if (tries == kSubmitTries) {
      std::error_code error;
      fs::remove_all(folder.array(name), error);
      return Error{.message = "Slurm does not take the job: " + submitted.error().message,
                   .advice = "what is graded is kept; the same command goes on"};
    }
    std::this_thread::sleep_for(Seconds(retry_s * (1 << (tries - 1))));
  }
}

void Collector::take_answers() {
  const auto begin = Clock::now();
  const std::vector<std::string> answered = folder_.answered();
  listing_ = Clock::now() - begin;
  for (const std::string& unit : answered) {
    if (flights_.contains(unit)) take_answer(unit);
  }
}

bool Collector::take_answer(const std::string& unit) {
  auto answer = folder_.answer(unit);
  std::error_code error;
  if (!answer) return false;
  // Without the file, the second try does not take the fault for its own answer.
  if (!*answer) {
    fs::remove(folder_.result(unit), error);
    faults_.insert_or_assign(unit, answer->error());
  }
  GradeTask task = std::move(flights_.at(unit).task);
  flights_.erase(unit);
  grading_.finish(std::move(task), *std::move(answer));
  return true;
}

Status Collector::look_at_queue() {
  const auto queued = queue_.tasks({jobs_.begin(), jobs_.end()});
  if (!queued) {
    if (!silent_since_) silent_since_ = Clock::now();
    const double silent_s = seconds_since(*silent_since_);
    if (silent_s > kMostSilence_s) {
      return Error{.message = "Slurm does not answer: " + queued.error().message,
                   .advice = "what is graded is kept; the same command goes on"};
    }
    if (silent_s > kToldOfSilence_s && !std::exchange(told_of_silence_, true)) {
      options_.told("waits for Slurm, which does not answer: " + queued.error().message);
    }
    return kOk;
  }
  silent_since_.reset();
  std::set<TaskOfArray> alive;
  for (const QueuedTask& task : *queued) {
    if (task.is_held()) {
      queue_.cancel_task(task);
    } else {
      alive.emplace(task.job_name, task.task);
    }
  }
  tell_why_all_wait(*queued);
  find_lost(alive);
  return kOk;
}

// The reason may be one that only an administrator can remove, such as nodes that are out of service. Tasks that wait
// behind the first one have reasons that say only that.
void Collector::tell_why_all_wait(const std::vector<QueuedTask>& queued) {
  const bool all_wait = std::all_of(queued.begin(), queued.end(),
                                    [](const QueuedTask& task) { return task.state == "PENDING" && !task.is_held(); });
  const auto unusual = std::find_if(queued.begin(), queued.end(), [](const QueuedTask& task) {
    constexpr std::array<std::string_view, 5> kUsual = {"None", "Resources", "Priority", "JobArrayTaskLimit",
                                                        "BeginTime"};  // soon after it was requeued
    return std::find(kUsual.begin(), kUsual.end(), task.reason) == kUsual.end();
  });
  if (!all_wait || unusual == queued.end() || unusual->reason == told_reason_) return;
  told_reason_ = unusual->reason;
  options_.told("all tasks wait: Slurm says " + printable(told_reason_));
}

void Collector::find_lost(const std::set<TaskOfArray>& alive) {
  std::vector<std::string> gone;
  for (auto& [unit, flight] : flights_) {
    const auto is_alive = [&](const TaskOfArray& task) { return alive.contains(task); };
    if (std::any_of(flight.at.begin(), flight.at.end(), is_alive)) {
      flight.gone_since.reset();
    } else if (!flight.gone_since) {
      flight.gone_since = Clock::now();
    } else if (seconds_since(*flight.gone_since) >= options_.grace_s) {
      gone.push_back(unit);
    }
  }
  for (const std::string& unit : gone) {
    // Opening a file shows it earlier than a list of its folder does.
    if (!take_answer(unit)) lose(unit);
  }
}

void Collector::lose(const std::string& unit) {
  auto flight = flights_.extract(unit);
  GradeTask& task = flight.mapped().task;
  std::error_code error;
  fs::remove(folder_.result(unit), error);  // a torn one
  if (++losses_[unit] < static_cast<int>(kMostLosses)) {
    lost_.push_back(std::move(task));
    return;
  }
  losses_.erase(unit);
  task.tries = kMostTries;  // it was tried often enough
  grading_.finish(std::move(task), loss_of(folder_, flight.mapped().at));
}

void Collector::clean_up() {
  for (const std::string& name : jobs_) queue_.cancel_job(name);  // tasks that were given up and came back
  cancel_follow_up(options_.folder);
  std::error_code error;
  fs::remove_all(folder_.root(), error);
}

std::string unit_name(const GradeTask& task) { return fmt::format("{}.{}", task.key, task.round); }

Unit unit_of(const Grading& grading, const GradeTask& task) {
  const Job job = grading.job(task, {});
  return {unit_name(task), task.source_sha256, job.file_name(), to_json(job), this_programs_hash()};
}

std::vector<std::vector<GradeTask>> in_chunks(const std::vector<GradeTask>& tasks, int per_task) {
  std::vector<std::vector<GradeTask>> chunks;
  for (const GradeTask& task : tasks) {
    if (chunks.empty() || chunks.back().size() == static_cast<std::size_t>(per_task)) chunks.emplace_back();
    chunks.back().push_back(task);
  }
  return chunks;
}

ArrayJob array_job(const SlurmOptions& options, std::string name, std::size_t tasks) {
  std::map<std::string, std::string> environment = {{"ROOFWALK_ROOT", options.course.string()}};
  if (const char* const cuda = std::getenv("ROOFWALK_CUDA")) environment["ROOFWALK_CUDA"] = cuda;
  return {.name = std::move(name),
          .tasks = tasks,
          .at_once = options.at_once,
          .needs_gpu = options.needs_gpu,
          .options = options.sbatch,
          .program = options.program,
          .folder = options.folder,
          .environment = std::move(environment)};
}

}  // namespace roofwalk
