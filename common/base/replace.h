// New files and folders in the place of old ones, in one step: whoever reads meanwhile sees the one or the other.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/base/result.h"

namespace roofwalk {

// After a call that failed: what errno says of it.
Error cannot_write(const std::filesystem::path& file);

// Where it is made, beside its place: a name of this process alone.
std::filesystem::path fresh_beside(const std::filesystem::path& place);

// Whole or not at all, and on the disk when it returns; folders included.
Status replace_file(const std::filesystem::path& file, std::string_view bytes);

// Moves `fresh`, which is complete, into the place of `folder`; what was there is gone.
Status replace_folder(const std::filesystem::path& fresh, const std::filesystem::path& folder);

}  // namespace roofwalk
