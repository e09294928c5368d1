// Parses the modifiers after an opcode. They must come in the order that ptxas requires.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/ptx/module.h"

namespace roofwalk::ptx {

// Sets of roundings and product modes, as used in modifiers.def.
using RoundingSet = std::uint32_t;
using ModeSet = std::uint32_t;
constexpr RoundingSet bit(Rounding rounding) { return RoundingSet{1} << static_cast<unsigned>(rounding); }
constexpr ModeSet bit(MulMode mode) { return ModeSet{1} << static_cast<unsigned>(mode); }
inline constexpr RoundingSet kNoRounding = bit(Rounding::none), kNearest = bit(Rounding::rn);
inline constexpr RoundingSet kIeee = kNearest | bit(Rounding::rz) | bit(Rounding::rm) | bit(Rounding::rp);
inline constexpr RoundingSet kApprox = bit(Rounding::approx), kFull = bit(Rounding::full);
inline constexpr ModeSet kNoMode = bit(MulMode::none);
inline constexpr ModeSet kLoHi = bit(MulMode::lo) | bit(MulMode::hi), kLoHiWide = kLoHi | bit(MulMode::wide);
inline constexpr unsigned kFtz = 1, kSat = 2, kRelu = 4, kNan = 8, kHalfNeedsFtz = 16, kFtzIfApprox = 32;

// A row of modifiers.def.
struct ArithmeticForm {
  Modifiers modifiers;
  TypeSet types;
  ModeSet modes = kNoMode;
  RoundingSet roundings = kNoRounding;
  unsigned others = 0;

  bool has(unsigned other) const { return (others & other) != 0; }
};
extern const std::span<const ArithmeticForm> kArithmeticForms;

// Fills the fields of `instruction` (whose opcode is set) from `words`, which include their dots. Returns nullopt on
// success, otherwise the reason for the refusal, which is an empty string if the form is merely not supported.
std::optional<std::string> read_modifiers(std::span<const std::string_view> words, Instruction& instruction);

}  // namespace roofwalk::ptx
