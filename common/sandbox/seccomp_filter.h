// The system calls that are forbidden in a box: access to other processes, to kernel interfaces, and out of the box.
#pragma once

#include <string>

#include "common/base/result.h"

namespace roofwalk {

// Returns a seccomp program (an array of struct sock_filter) for `bwrap --seccomp`. It allows all system calls except
// those listed in the source; system calls of other architectures kill the process. Errors: out of memory.
Result<std::string> system_call_filter();

}  // namespace roofwalk
