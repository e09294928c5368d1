// Replaces files and folders so that concurrent readers never see a half-written one.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/base/result.h"

namespace roofwalk {

// After a failed call: an Error with the text of errno.
Error cannot_write(const std::filesystem::path& file);

// A path beside `place` that no other process uses.
std::filesystem::path fresh_beside(const std::filesystem::path& place);

// Writes the file completely or not at all; it is on the disk on return. Creates missing folders.
Status replace_file(const std::filesystem::path& file, std::string_view bytes);

// Puts the complete folder `fresh` in the place of `folder`, in one step where the file system can; the old one is
// deleted. After an Error the old one is still there.
Status replace_folder(const std::filesystem::path& fresh, const std::filesystem::path& folder);

}  // namespace roofwalk
