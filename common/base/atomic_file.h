// Replaces files and folders so that concurrent readers never see a half-written one.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/base/result.h"

namespace roofwalk {

// Returns the Error for a failed system call that wrote `file`, with the text of errno.
Error cannot_write(const std::filesystem::path& file);

// Returns a path beside `place` that no other process uses.
std::filesystem::path fresh_beside(const std::filesystem::path& place);

// Writes the file completely or not at all. On return the file is on the disk. Creates missing folders.
Status replace_file(const std::filesystem::path& file, std::string_view bytes);

// Puts the complete folder `fresh` in the place of `folder`, in one step if the file system supports that, and deletes
// the old folder. Without that support, the old folder may be gone after an Error.
Status replace_folder(const std::filesystem::path& fresh, const std::filesystem::path& folder);

}  // namespace roofwalk
