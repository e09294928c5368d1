// Writes tar archives (POSIX ustar).
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "grader/class/hand_ins/archive.h"

namespace roofwalk {

// The same bytes for the same files, on every day and machine. Errors: a name of more than 100 bytes.
Result<std::string> tar_of(const std::vector<ArchiveFile>& files);

}  // namespace roofwalk
