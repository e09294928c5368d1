// Whether the operands of an instruction are what its opcode, type and modifiers ask for.
#pragma once

#include <string_view>
#include <vector>

#include "common/ptx/module.h"

namespace roofwalk::ptx {

// How a number was written. Until check_operands has run, an immediate operand holds its magnitude in `bits`, its minus
// sign in `negated` and its Written in `component`.
enum class Written : std::uint8_t { integer, float32, float64 };

// Checks counts, kinds and widths of the operands, all forms but branch and call, and turns immediates into the bits
// of their operand's type. `text` is the opcode with its modifiers, for messages. Throws Refusal.
void check_operands(Instruction& instruction, const std::vector<Register>& registers, std::string_view text);

// Whether `first|second` may stand where the result stands. The second is ours where the text has none.
bool has_second_result(const Instruction& instruction);

// The bits of `type` that a number as written stands for. Throws Refusal, which calls it `text`, where it does not fit.
std::uint64_t immediate_bits(const Operand& operand, Type type, std::string_view text, int ptx_line);

// Whether a register of type `declared` may stand where an instruction wants `wanted`: the same width, and not a float
// where an integer is wanted or the reverse; .b registers hold either.
bool register_fits(Type declared, Type wanted);

}  // namespace roofwalk::ptx
