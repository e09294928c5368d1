// Checks whether an instruction's operands match its opcode, type and modifiers.
#pragma once

#include <string_view>
#include <vector>

#include "common/ptx/module.h"

namespace roofwalk::ptx {

// The notation of a number. Before check_operands runs, an immediate operand has its magnitude in `bits`, its minus
// sign in `negated` and its Written in `component`.
enum class Written : std::uint8_t { integer, float32, float64 };

// Checks the number, kinds and widths of the operands, for all forms except branch and call, and converts immediates to
// the bits of their operand's type. `text` is the opcode with its modifiers, for messages. Throws Refusal.
void check_operands(Instruction& instruction, const std::vector<Register>& registers, std::string_view text);

// Whether the instruction may have a second result, as in `first|second`. If the text has no second result, the parser
// adds an empty one.
bool has_second_result(const Instruction& instruction);

// Returns the bits of a number in the type `type`. If the number does not fit, throws Refusal with a message that
// begins with `text`.
std::uint64_t immediate_bits(const Operand& operand, Type type, std::string_view text, int ptx_line);

// Whether a register of type `declared` is allowed where an instruction requires `wanted`: their widths must be equal
// and, if either is a float, also the types; but .b types fit all types of their width. .pred fits only .pred.
bool register_fits(Type declared, Type wanted);

}  // namespace roofwalk::ptx
