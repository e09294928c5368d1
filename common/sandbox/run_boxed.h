// Runs a program in a box and waits for its end.
#pragma once

#include <string>
#include <vector>

#include "common/base/subprocess.h"
#include "common/sandbox/box.h"

namespace roofwalk {

struct BoxedRun {
  double timeout_s = 20;                    // of wall time
  std::size_t max_log_bytes = 64 << 10;     // of stdout and stderr together; more is discarded
  std::size_t max_result_bytes = 4 << 20;   // limit for the data that it writes to kChannelDescriptor; more is
                                            // discarded
  std::size_t max_thrown_bytes = 16 << 20;  // limit for discarded bytes of either; a program that writes even more is
                                            // killed
};

// Runs `program`, whose first word is a path inside the box. On success, nothing from the box is still running. Errors:
// boxes do not work here (with the reason and what to do); a process in the box was killed and does not end.
Result<CommandResult> run_boxed(const Box& box, const std::vector<std::string>& program, const BoxedRun& run = {});

}  // namespace roofwalk
