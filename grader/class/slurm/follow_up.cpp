#include "grader/class/slurm/follow_up.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "common/base/atomic_file.h"
#include "common/base/hash.h"
#include "common/base/json_reader.h"
#include "common/base/subprocess.h"
#include "common/store/store.h"
#include "grader/class/slurm/collector.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using Place = std::pair<std::string, std::size_t>;  // the job's name and the task

constexpr int kTriesToFollow = 5;
constexpr std::size_t kMostWords = 1024;
constexpr double kMostCollecting_s = 6 * 3600;

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// Tells one file on one machine from all others: a path may lead to another file on each node. Empty if there is none.
std::string identity_of(const fs::path& record) {
  struct stat info {};
  if (record.empty() || ::stat(record.c_str(), &info) != 0) return {};
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) return {};
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}", host, file_text("/etc/machine-id"), info.st_dev, info.st_ino));
}

Status write_options(const SlurmOptions& options) {
  return replace_file(options.folder / "follow-up.json", json_line({{"schema", "roofwalk.follow_up/1"},
                                                                    {"sbatch", options.sbatch},
                                                                    {"at_once", options.at_once},
                                                                    {"needs_gpu", options.needs_gpu},
                                                                    {"collect", options.collect},
                                                                    {"record", options.record.string()},
                                                                    {"identity", identity_of(options.record)}}));
}

struct Known {
  SlurmOptions options;
  std::string identity;  // of the record
};

Result<Known> read_options(const fs::path& folder) {
  Known known;
  SlurmOptions& options = known.options;
  const fs::path file = folder / "follow-up.json";
  const Json json = parse_json(file_text(file));
  JsonReader in(json, file.string());
  std::string schema, record;
  const auto words = [](std::vector<std::string>& list) {
    return [&list](const Json& word) -> Status {
      if (!word.is_string()) return Error{"a word is not a text"};
      list.push_back(word.get<std::string>());
      return kOk;
    };
  };
  in.text("schema", schema);
  in.each("sbatch", kMostWords, words(options.sbatch));
  in.whole<int>("at_once", options.at_once, 0);
  in.flag("needs_gpu", options.needs_gpu);
  in.each("collect", kMostWords, words(options.collect));
  in.text("record", record);
  in.text("identity", known.identity);
  ROOFWALK_TRY_STATUS(in.end());
  std::error_code error;
  options.folder = folder;
  options.record = record;
  options.program = fs::read_symlink("/proc/self/exe", error);
  options.course = fs::current_path();
  return known;
}

// A unit without an answer, and all tasks that had it.
struct Open {
  Unit unit;
  std::vector<Place> places;
};

std::map<std::string, Open> open_units(const UnitFolder& folder) {
  std::map<std::string, Open> open;
  for (const std::string& name : folder.arrays()) {
    for (const std::size_t task : folder.tasks(name)) {
      auto units = folder.read(name, task);
      if (!units) continue;
      for (Unit& unit : *units) {
        const std::string unit_name = unit.name;
        if (folder.answer(unit_name)) continue;
        Open& one = open[unit_name];
        one.unit = std::move(unit);
        one.places.emplace_back(name, task);
      }
    }
  }
  return open;
}

class FollowUp {
 public:
  FollowUp(Known known, const FollowUpPace& pace)
      : options_(std::move(known.options)), identity_(std::move(known.identity)), pace_(pace) {}

  Status run() {
    const auto names = folder_.arrays();
    if (names.empty()) return kOk;  // somebody took all answers
    ROOFWALK_TRY_STATUS(find_alive(names));
    auto lost = lost_units();
    if (!lost.empty()) {
      sleep_for(pace_.grace_s);  // an answer may become visible late
      lost = lost_units();
    }
    std::vector<Unit> again;
    for (auto& [name, open] : lost) {
      if (open.places.size() < kMostLosses) {
        again.push_back(std::move(open.unit));
      } else {
        ROOFWALK_TRY_STATUS(folder_.write_answer(name, loss_of(folder_, open.places)));
      }
    }
    if (!again.empty()) ROOFWALK_TRY_STATUS(submit_again(again));
    if (!again.empty() || !alive_.empty()) ROOFWALK_TRY_STATUS(renew_follow_up(options_));
    return collect();
  }

 private:
  Status find_alive(const std::vector<std::string>& names) {
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
      const auto queued = queue_.tasks(names);
      if (!queued) {
        if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > pace_.most_silence_s) {
          return Error{.message = "Slurm does not answer: " + queued.error().message};
        }
        sleep_for(pace_.between_asks_s);
        continue;
      }
      for (const QueuedTask& task : *queued) {
        if (task.is_held()) {
          queue_.cancel_task(task);
        } else {
          alive_.emplace(task.job_name, task.task);
        }
      }
      return kOk;
    }
  }

  std::map<std::string, Open> lost_units() const {
    auto open = open_units(folder_);
    std::erase_if(open, [&](const auto& one) {
      const auto& places = one.second.places;
      return std::any_of(places.begin(), places.end(), [&](const Place& place) { return alive_.contains(place); });
    });
    return open;
  }

  // Each as a task of its own: one of them may be what ends its task each time.
  Status submit_again(const std::vector<Unit>& units) const {
    for (std::size_t begin = 0; begin < units.size(); begin += kMostTasksOfAJob) {
      const std::size_t count = std::min(kMostTasksOfAJob, units.size() - begin);
      const std::string name = new_job_name();
      for (std::size_t task = 0; task < count; ++task) {
        ROOFWALK_TRY_STATUS(folder_.write(name, task, {units[begin + task]}));
      }
      const fs::path script = folder_.array(name) / "script.sh";
      ROOFWALK_TRY_STATUS(replace_file(script, array_script(array_job(options_, name, count))));
      ROOFWALK_TRY_STATUS(submit_script(queue_, folder_, name, options_.retry_s));
      options_.told(fmt::format("{} submitted again: job {}", count, name));
    }
    return kOk;
  }

  Status collect() const {
    if (options_.collect.empty() || identity_.empty() || identity_of(options_.record) != identity_) return kOk;
    std::vector<std::string> words = options_.collect;
    words.insert(words.begin(), options_.program.string());
    ROOFWALK_TRY(const CommandResult collected, run_command({.arguments = words, .timeout_s = kMostCollecting_s}));
    options_.told(collected.output);
    constexpr int kLastVerdict = 1;  // 1: some submissions have no grade yet, or somebody has to look at one
    if (collected.exit_code >= 0 && collected.exit_code <= kLastVerdict) return kOk;
    return Error{.message = fmt::format("the command that takes the answers ended with {}", collected.exit_code)};
  }

  const SlurmOptions options_;
  const std::string identity_;
  const FollowUpPace pace_;
  const UnitFolder folder_{options_.folder};
  const SlurmQueue queue_{};
  std::set<Place> alive_;
};

}  // namespace

std::string follow_up_name(const fs::path& folder) {
  return "roofwalk-follow-up-" + sha256_hex(fs::absolute(folder).lexically_normal().string()).substr(0, 16);
}

void cancel_follow_up(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / "follow-up.json", error)) SlurmQueue().cancel_waiting(follow_up_name(folder));
}

Status renew_follow_up(const SlurmOptions& options) {
  const UnitFolder folder(options.folder);
  const SlurmQueue queue;
  const std::string name = follow_up_name(options.folder);
  const fs::path script = options.folder / "follow-up.sh";
  ROOFWALK_TRY_STATUS(write_options(options));
  for (int tries = 1;; ++tries) {
    // Asked anew at each try: Slurm refuses to wait for a job that it no longer remembers.
    const auto queued = queue.tasks(folder.arrays());
    Status submitted = queued ? kOk : Status(queued.error());
    if (queued) {
      std::set<std::string> after;
      for (const QueuedTask& task : *queued) after.insert(task.job_id);
      queue.cancel_waiting(name);
      const ArrayJob tasks = array_job(options, name, 1);
      ROOFWALK_TRY_STATUS(replace_file(script, follow_up_script({.name = name,
                                                                 .after = {after.begin(), after.end()},
                                                                 .options = options.sbatch,
                                                                 .program = options.program,
                                                                 .folder = options.folder,
                                                                 .environment = tasks.environment})));
      submitted = queue.submit(script);
    }
    if (submitted) return kOk;
    if (tries == kTriesToFollow) return submitted;
    std::this_thread::sleep_for(std::chrono::seconds(1 << tries));
  }
}

std::string follow_up_text(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / "follow-up.json", error)) return {};
  const auto jobs = SlurmQueue().jobs(follow_up_name(folder));
  if (!jobs) return {};
  if (jobs->empty()) {
    return "no job follows the tasks: the same command without --status takes the answers, and submits again what is "
           "lost\n";
  }
  std::string text = "a job follows the tasks:";
  for (const QueuedJob& job : *jobs) {
    text += fmt::format(" {} {}{}", job.id, job.state, job.state == "PENDING" ? fmt::format(" ({})", job.reason) : "");
  }
  return text + "\n";
}

Status follow_up(const fs::path& folder, const FollowUpPace& pace,
                 const std::function<void(const std::string&)>& told) {
  if (UnitFolder(folder).arrays().empty()) return kOk;
  ROOFWALK_TRY(Known known, read_options(folder));
  known.options.told = told;
  return FollowUp(std::move(known), pace).run();
}

}  // namespace roofwalk
