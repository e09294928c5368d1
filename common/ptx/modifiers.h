// The dotted words after an opcode. Order matters, as it does to ptxas.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/ptx/module.h"

namespace roofwalk::ptx {

// Fills the fields of `instruction` (whose opcode is set) from `words`, dots included. Returns nothing where all is
// well, else why not: an empty string where the form is merely not supported.
std::optional<std::string> read_modifiers(std::span<const std::string_view> words, Instruction& instruction);

}  // namespace roofwalk::ptx
