// A process for each submission: if it crashes, hangs or grows, only that submission gets a fault of ours.
#pragma once

#include <filesystem>

#include "common/base/json_fwd.h"
#include "common/base/result.h"

namespace roofwalk {

struct WorkerLimits {
  double wall_s = 1800;                              // far beyond what the counts allow a kernel: only a hang gets here
  std::size_t memory_bytes = std::size_t{16} << 30;  // address space; boxes in it have their own limits
};

// Starts `program` grade-worker, sends it the job over a socket of their own and returns the object that it answers.
// Errors: one line on how the worker ended, with the last line that it printed.
Result<Json> run_in_worker(const std::filesystem::path& program, const Json& job, const WorkerLimits& limits);

// The other end, in the worker: whether it was started as one; the job; the answer.
bool is_grade_worker();
Result<Json> receive_job();
Status send_answer(const Json& answer);

}  // namespace roofwalk
