// The system calls that nothing in a box may use: ways to other processes, to the kernel's own tables, and out.
#pragma once

#include <string>

#include "common/base/result.h"

namespace roofwalk {

// A seccomp program (struct sock_filter, one after the other), for `bwrap --seccomp`. Everything is allowed but what is
// named in the source; system calls of other architectures end the process. Errors: out of memory.
Result<std::string> system_call_filter();

}  // namespace roofwalk
