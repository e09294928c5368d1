// Whole files in and out, for sources and artifacts.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace roofwalk {

// The bytes of a regular file of at most `max_bytes`; nothing where it is absent, larger or something else than a file.
std::optional<std::string> read_file(const std::filesystem::path& file, std::size_t max_bytes);

// False where it cannot be written whole.
bool write_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace roofwalk
