// Runs a program in a box and waits.
#pragma once

#include <string>
#include <vector>

#include "common/base/subprocess.h"
#include "common/sandbox/box.h"

namespace roofwalk {

struct BoxedRun {
  double timeout_s = 20;                    // of wall time
  std::size_t max_log_bytes = 64 << 10;     // of stdout and stderr together; more is thrown away
  std::size_t max_result_bytes = 4 << 20;   // of what it writes to kChannelDescriptor; the same
  std::size_t max_thrown_bytes = 16 << 20;  // of either: a program that writes yet more is killed
};

// `program`[0] is a path inside the box. When this returns, nothing that ran in the box is left. Errors: no box can be
// made here (why, and what to do about it).
Result<CommandResult> run_boxed(const Box& box, const std::vector<std::string>& program, const BoxedRun& run = {});

}  // namespace roofwalk
