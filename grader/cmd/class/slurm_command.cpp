#include "grader/cmd/class/slurm_command.h"

#include <fmt/format.h>

#include <sstream>

#include "common/base/hash.h"
#include "grader/class/slurm/array_script.h"
#include "grader/cmd/class/class_options.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr int kPerTask = 8;
constexpr int kMostPerTask = 1000;

}  // namespace

void add_slurm_options(Verb& command, SlurmCommand& options) {
  const Option executor =
      command.add_option("--executor", options.executor, "where to grade: here, or as jobs of a cluster")
          .one_of({"local", "slurm"})
          .shows_default();
  command
      .add_option("--shared", options.shared,
                  "a folder that this machine and all nodes of the cluster see; default: the folder of the grades")
      .needs(executor);
  command.add_option("--sbatch", options.sbatch, "options for sbatch, such as --sbatch \"--partition=lab --time=30\"")
      .needs(executor);
  command
      .add_option("--per-task", options.per_task,
                  fmt::format("submissions of one task of Slurm; default: {}, on GPUs 1", kPerTask))
      .needs(executor);
  command.add_option("--at-once", options.at_once, "tasks of Slurm that may run at the same time; default: any number")
      .needs(executor);
  command
      .add_flag("--detach", options.detaches,
                "submit and return; a job submits again what is lost, and the same command takes the grades later")
      .needs(executor);
  command.add_flag("--dry-run", options.dry_run, "print the script for sbatch, and submit nothing").needs(executor);
  command.add_flag("--status", options.shows_status, "show what is in Slurm's queue, and do nothing else")
      .needs(executor);
}

fs::path slurm_folder(const Session& session, const SlurmCommand& command, const fs::path& grades) {
  const fs::path own = fs::absolute(grades).lexically_normal();
  if (command.shared.empty()) return own / "slurm";
  // Several classes may share the folder.
  const std::string hash = sha256_hex(own.string()).substr(0, 16);
  return fs::absolute(session.from_caller(command.shared)).lexically_normal() / ("roofwalk-" + hash);
}

SlurmOptions slurm_options(const Session& session, const SlurmCommand& command, const fs::path& grades) {
  SlurmOptions options;
  std::istringstream words(command.sbatch);
  for (std::string option; words >> option; options.sbatch.push_back(option)) {
    value_or_fail(check_sbatch_option(option), kUsage);
  }
  if (command.per_task < 0 || command.per_task > kMostPerTask || command.at_once < 0) {
    throw Failure{{.message = fmt::format("--per-task is 1 to {}, and --at-once is not negative", kMostPerTask)},
                  kUsage};
  }
  std::error_code error;
  options.folder = slurm_folder(session, command, grades);
  options.program = fs::read_symlink("/proc/self/exe", error);
  options.course = fs::current_path();
  options.needs_gpu = session.options.device.starts_with("cuda");
  options.per_task = command.per_task > 0 ? command.per_task : options.needs_gpu ? 1 : kPerTask;
  options.at_once = command.at_once;
  options.waits = !command.detaches;
  options.grace_s = grace_for(options.folder.parent_path());
  options.told = [](const std::string& line) { tell(line); };
  return options;
}

}  // namespace roofwalk
