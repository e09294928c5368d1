// Reads and writes whole files, for sources and artifacts.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace roofwalk {

// Returns the bytes of a regular file; nullopt if it is missing, larger than `max_bytes` or not a regular file.
std::optional<std::string> read_file(const std::filesystem::path& file, std::size_t max_bytes);

// Writes a whole file; false if it cannot be written completely.
bool write_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace roofwalk
