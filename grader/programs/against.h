// A program's run beside an earlier one: which kernels came and went, and which figures changed.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/json_fwd.h"
#include "common/base/result.h"
#include "common/specs/machine.h"
#include "grader/text/text.h"

namespace roofwalk {

// Reads what --json has written. Errors: it is no such file; another machine, or another version of the model, whose
// figures cannot be compared.
Result<Json> read_run(const std::filesystem::path& file, const Machine& machine);

// A row for each figure that changed, by kernel, in the order of `now`. `name`: the earlier run's file.
std::string changes_table(const Json& earlier, const Json& now, const std::string& name, std::size_t columns,
                          const Colors& colors);

}  // namespace roofwalk
