// Runs each job in a process of its own: if the process crashes, hangs or uses too much memory, only that submission
// has a fault.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include "common/base/json_fwd.h"
#include "common/base/result.h"

namespace roofwalk {

struct WorkerLimits {
  // The limits on counted work end a kernel long before this, so only a process that hangs reaches it.
  double wall_s = 1800;
  std::size_t memory_bytes = std::size_t{16} << 30;  // address space; boxes inside the worker have their own limits
};

// Starts `program` with `grade-worker`, sends it the job over a socket and returns its answer, a JSON object. Errors:
// one line about how the worker ended, with the last line that it printed.
Result<Json> run_in_worker(const std::filesystem::path& program, const Json& job, const WorkerLimits& limits);

// Notices that a program was built anew, because another program may give other grades.
class SameProgram {
 public:
  explicit SameProgram(std::filesystem::path program);
  // Errors: its file is another one than when this object was made.
  Status check() const;

 private:
  using Identity = std::array<std::int64_t, 4>;
  static Identity identity_of(const std::filesystem::path& program);
  std::filesystem::path program_;
  Identity first_;
};

// The worker's side: tells whether this process was started as a worker, receives the job, sends the answer.
bool is_grade_worker();
Result<Json> receive_job();
Status send_answer(const Json& answer);

}  // namespace roofwalk
