// The dotted words after an opcode. Order matters, as it does to ptxas.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/ptx/module.h"

namespace roofwalk::ptx {

constexpr unsigned rounding_bit(Rounding rounding) { return 1u << static_cast<unsigned>(rounding); }
constexpr unsigned mode_bit(MulMode mode) { return 1u << static_cast<unsigned>(mode); }

// What an arithmetic opcode may carry for some of its types. Types without a row take no modifier at all.
struct AluForm {
  Opcode opcode;
  TypeSet types;
  unsigned roundings = rounding_bit(Rounding::none);
  bool ftz = false;
  bool sat = false;
  unsigned modes = mode_bit(MulMode::none);
  bool relu = false;  // not together with .sat
  bool nan = false;
};
extern const std::span<const AluForm> kArithmeticForms;

// Fills the fields of `instruction` (whose opcode is set) from `words`, dots included. Returns nothing where all is
// well, else why not: an empty string where the form is merely not supported.
std::optional<std::string> read_modifiers(std::span<const std::string_view> words, Instruction& instruction);

}  // namespace roofwalk::ptx
