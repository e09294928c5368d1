#include "grader/class/slurm/slurm_queue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <string_view>

#include "common/base/subprocess.h"
#include "grader/course/course.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

constexpr double kCommandTimeout_s = 60;
constexpr std::size_t kMostQueueBytes = std::size_t{64} << 20;
constexpr std::size_t kMostShownCharacters = 200;

// The first line of what a command printed.
std::string words_of(const CommandResult& result) {
  if (result.timed_out) return fmt::format("no answer within {:.0f} s", kCommandTimeout_s);
  return shortened(printable(result.output.substr(0, result.output.find('\n'))), kMostShownCharacters);
}

// Whether a variable of the environment would change what the scripts submit or what the queue answers. To sbatch,
// variables matter more than the options in a script. Those on which no script depends stay, such as SBATCH_ACCOUNT.
bool misleads_slurm(std::string_view name) {
  constexpr std::string_view kOfJobs[] = {
      "SBATCH_ARRAY_INX",     "SBATCH_CLUSTERS",      "SBATCH_DEBUG",      "SBATCH_ERROR",
      "SBATCH_EXCLUSIVE",     "SBATCH_EXPORT",        "SBATCH_GPUS",       "SBATCH_GET_USER_ENV",
      "SBATCH_GPUS_PER_NODE", "SBATCH_GPUS_PER_TASK", "SBATCH_GRES",       "SBATCH_INPUT",
      "SBATCH_JOB_NAME",      "SBATCH_NO_REQUEUE",    "SBATCH_OPEN_MODE",  "SBATCH_OUTPUT",
      "SBATCH_REQUEUE",       "SBATCH_WAIT",          "SBATCH_IGNORE_PBS", "SBATCH_CONTAINER",
      "SBATCH_CONTAINER_ID",  "SBATCH_WAIT_ALL_NODES"};
  return name.starts_with("SQUEUE_") || name.starts_with("SCANCEL_") ||
         std::find(std::begin(kOfJobs), std::end(kOfJobs), name) != std::end(kOfJobs);
}

std::map<std::string, std::string> environment_for_slurm() {
  std::map<std::string, std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry = *at;
    const std::size_t end = std::min(entry.find('='), entry.size());
    const std::string_view name = entry.substr(0, end);
    if (!misleads_slurm(name)) variables.emplace(name, entry.substr(std::min(end + 1, entry.size())));
  }
  return variables;
}

Result<std::string> output_of(const std::vector<std::string>& arguments) {
  ROOFWALK_TRY(const CommandResult result, run_command({.arguments = arguments,
                                                        .environment = environment_for_slurm(),
                                                        .timeout_s = kCommandTimeout_s,
                                                        .max_output_bytes = kMostQueueBytes}));
  if (result.exit_code == 0 && !result.timed_out) return result.output;
  return Error{.message = fmt::format("{}: {}", arguments.front(), words_of(result))};
}

// The fields of each line, of which the last may hold any character. Leaves out warnings among the lines.
template <std::size_t kFields>
std::vector<std::array<std::string_view, kFields>> lines_of(std::string_view output) {
  std::vector<std::array<std::string_view, kFields>> lines;
  for (std::string_view rest = output; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    std::array<std::string_view, kFields> fields;
    std::size_t count = 0;
    for (; count < kFields; ++count) {
      const std::size_t end = count + 1 < kFields ? line.find('|') : std::string_view::npos;
      fields[count] = line.substr(0, end);
      if (end == std::string_view::npos) break;
      line.remove_prefix(end + 1);
    }
    if (count + 1 == kFields) lines.push_back(fields);
  }
  return lines;
}

}  // namespace

bool QueuedTask::is_held() const {
  return state == "SPECIAL_EXIT" || state == "REQUEUE_HOLD" ||
         (state == "PENDING" && reason.find("held") != std::string::npos);
}

Status SlurmQueue::is_installed() {
  for (const char* const command : {"sbatch", "squeue", "scancel"}) {
    if (find_program(command)) continue;
    return Error{.message = fmt::format("there is no {} on the PATH", command),
                 .advice = "run this on a login node of the cluster; without --executor slurm, grading runs here"};
  }
  return kOk;
}

Status SlurmQueue::submit(const std::filesystem::path& script) const {
  std::vector<std::string> words = {"sbatch", "--parsable"};
  for (std::string& option : options_in(file_text(script))) words.push_back(std::move(option));
  words.push_back(script.string());
  const auto submitted = output_of(words);
  return submitted ? kOk : Status(submitted.error());
}

Result<std::vector<QueuedTask>> SlurmQueue::tasks(const std::vector<std::string>& job_names) const {
  if (job_names.empty()) return std::vector<QueuedTask>();
  // Anybody may give a job of theirs the name of one of these.
  ROOFWALK_TRY(const std::string output,
               output_of({"squeue", "--noheader", "--array", "--format=%j|%F|%K|%T|%r",
                          fmt::format("--user={}", ::geteuid()), fmt::format("--name={}", fmt::join(job_names, ","))}));
  return parse_queue(output);
}

Result<std::vector<QueuedJob>> SlurmQueue::jobs(const std::string& job_name) const {
  ROOFWALK_TRY(const std::string output, output_of({"squeue", "--noheader", "--format=%i|%T|%r",
                                                    fmt::format("--user={}", ::geteuid()), "--name=" + job_name}));
  return parse_jobs(output);
}

void SlurmQueue::cancel_job(const std::string& job_name) const {
  [[maybe_unused]] const auto ignored = output_of({"scancel", "--quiet", "--name=" + job_name});
}

void SlurmQueue::cancel_task(const QueuedTask& task) const {
  [[maybe_unused]] const auto ignored = output_of({"scancel", "--quiet", fmt::format("{}_{}", task.job_id, task.task)});
}

void SlurmQueue::cancel_waiting(const std::string& job_name) const {
  [[maybe_unused]] const auto ignored = output_of({"scancel", "--quiet", "--state=PENDING", "--name=" + job_name});
}

std::vector<std::string> options_in(const std::string& script) {
  constexpr std::string_view kMark = "#SBATCH ";
  std::vector<std::string> options;
  for (std::string_view rest = script; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!line.starts_with(kMark)) continue;
    std::string& option = options.emplace_back();
    char quote = 0;
    for (const char c : line.substr(kMark.size())) {
      if (quote == 0 ? c == '"' || c == '\'' : c == quote) {
        quote = quote == 0 ? c : '\0';
      } else {
        option += c;
      }
    }
  }
  return options;
}

std::vector<QueuedTask> parse_queue(const std::string& output) {
  std::vector<QueuedTask> tasks;
  for (const auto& fields : lines_of<5>(output)) {
    QueuedTask task{std::string(fields[0]), std::string(fields[1]), 0, std::string(fields[3]), std::string(fields[4])};
    const std::string_view index = fields[2];
    const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), task.task);
    if (error == std::errc() && end == index.data() + index.size()) tasks.push_back(std::move(task));
  }
  return tasks;
}

std::vector<QueuedJob> parse_jobs(const std::string& output) {
  std::vector<QueuedJob> jobs;
  for (const auto& [id, state, reason] : lines_of<3>(output)) {
    jobs.push_back({std::string(id), std::string(state), std::string(reason)});
  }
  return jobs;
}

}  // namespace roofwalk
