// Decompresses a block of LZ4 (lz4_Block_format.md of the LZ4 project).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace roofwalk::cudart {

// nullopt: the block is damaged or does not have that many bytes.
std::optional<std::string> unpacked_lz4(std::string_view block, std::size_t full_bytes);

}  // namespace roofwalk::cudart
