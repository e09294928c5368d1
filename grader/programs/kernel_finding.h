// What is wrong with a kernel of a program, and where: a chapter's diagnosis and profile, for a kernel whose useful
// work nobody has told.
#pragma once

#include <string>

#include "common/base/json_fwd.h"
#include "common/base/result.h"
#include "common/specs/machine.h"
#include "grader/profile/profile.h"
#include "grader/programs/launch_log.h"

namespace roofwalk {

// The diagnosis of what a launch does in the mean. As useful counts what the kernel executes, and as compulsory what
// DRAM would move if the lanes of each access were contiguous, so that the diagnosis is never about work that could be
// left out or data that need not be read. Reads the kernel's file, if it is there. Its cause is "none" if no cause is
// worth curing.
Finding finding_of(const MeasuredKernel& kernel, const Machine& machine);

// The kernel's file line by line, as of a chapter. Error: the file cannot be read.
Result<Profile> profile_of_kernel(const MeasuredKernel& kernel, const Machine& machine);

// {kernel, file, says, lines, elsewhere, total}, as in "roofwalk.profile/1".
Json lines_json(const Profile& profile);

}  // namespace roofwalk
