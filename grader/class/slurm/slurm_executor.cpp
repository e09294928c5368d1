#include "grader/class/slurm/slurm_executor.h"

#include <fmt/format.h>

#include <map>

#include "common/base/network_file_system.h"
#include "grader/class/slurm/collector.h"
#include "grader/class/slurm/follow_up.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

constexpr double kLocalGrace_s = 10;
constexpr double kNetworkGrace_s = 75;  // attributes are cached for up to 60 s by default (nfs(5), acdirmax)

std::string count_of(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

double grace_for(const std::filesystem::path& folder) {
  return network_file_system(folder) != nullptr ? kNetworkGrace_s : kLocalGrace_s;
}

Status grade_by_slurm(Grading& grading, const SlurmOptions& options) { return Collector(grading, options).run(); }

std::string dry_run_text(Grading& grading, const SlurmOptions& options) {
  std::vector<GradeTask> tasks;
  while (auto task = grading.next()) tasks.push_back(*std::move(task));
  const auto chunks = in_chunks(tasks, options.per_task);
  if (chunks.empty()) return "nothing to submit: everything is graded\n";
  return fmt::format("# {} in {}\n{}", count_of(tasks.size(), "submission"), count_of(chunks.size(), "task"),
                     array_script(array_job(options, "roofwalk-NAME", chunks.size())));
}

std::string status_text(const std::filesystem::path& root) {
  const UnitFolder folder(root);
  const auto names = folder.arrays();
  if (names.empty()) return "no job: nothing is in Slurm's queue for these grades\n";
  const auto queued = SlurmQueue().tasks(names);
  std::string text;
  for (const std::string& name : names) {
    std::size_t units = 0, answered = 0;
    for (const std::size_t task : folder.tasks(name)) {
      const auto read = folder.read(name, task);
      if (!read) continue;
      units += read->size();
      for (const Unit& unit : *read) answered += folder.answer(unit.name) ? 1 : 0;
    }
    text += fmt::format("{}: {} of {} answered", name, answered, count_of(units, "submission"));
    std::map<std::string, std::size_t> states;
    if (queued) {
      for (const QueuedTask& task : *queued) {
        if (task.job_name == name)
          ++states[printable(task.state == "PENDING" ? fmt::format("PENDING ({})", task.reason) : task.state)];
      }
    }
    for (const auto& [state, count] : states) text += fmt::format("; {} {}", count_of(count, "task"), state);
    if (queued && states.empty()) text += "; no task is in the queue";
    text += "\n";
  }
  text += follow_up_text(root);
  if (!queued) text += fmt::format("Slurm does not answer: {}\n", queued.error().message);
  return text;
}

}  // namespace roofwalk
