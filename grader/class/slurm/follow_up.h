// The job that looks after the tasks of `grade --detach` when nobody waits for them. It starts when all tasks have
// ended
// (--dependency=afterany), submits again what was lost, and with it the job that follows that, until everything has an
// answer. On the machine that has the record, it then takes the answers into the record. On any other node it does not:
// a record is neither on a network file system, where a database can be lost, nor on a node's own disk, where nobody
// looks for it. There the answers lie in the shared folder until somebody gives the command again, which needs seconds.
//   follow-up.json   what it must know
//   follow-up.sh     its script
//   follow-up.log    what it said
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "common/base/result.h"
#include "grader/class/slurm/slurm_executor.h"

namespace roofwalk {

// The job's name, which no other class's job has.
std::string follow_up_name(const std::filesystem::path& folder);

// Submits the job in place of one that waits. Errors: Slurm does not take it, or does not answer.
Status renew_follow_up(const SlurmOptions& options);

// Takes a job that waits out of the queue, if there is one: somebody waits for the tasks.
void cancel_follow_up(const std::filesystem::path& folder);

// A line about it for `grade --status`.
std::string follow_up_text(const std::filesystem::path& folder);

struct FollowUpPace {
  double grace_s = 10;           // as in SlurmOptions
  double between_asks_s = 30;    // while Slurm does not answer
  double most_silence_s = 1800;  // after this the job fails
};

// What the job does. Errors: Slurm does not answer or takes no job, or the command that takes the answers fails.
Status follow_up(const std::filesystem::path& folder, const FollowUpPace& pace,
                 const std::function<void(const std::string&)>& told);

}  // namespace roofwalk
