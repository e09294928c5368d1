// Checks that every index of a parsed module is in range.
#pragma once

#include <string>

#include "common/ptx/module.h"

namespace roofwalk::ptx {

// Returns a description of the first error; empty if there is none.
inline std::string wrong_in(const Operand& operand, const Function& function) {
  const auto registers = static_cast<int>(function.registers.size());
  const auto instructions = static_cast<int>(function.instructions.size());
  switch (operand.kind) {
    case Operand::Kind::reg:
      if (operand.index < 0 || operand.index >= registers) return "a register that is not there";
      break;
    case Operand::Kind::address:
      if (operand.index < -1 || operand.index >= registers) return "an address register that is not there";
      break;
    case Operand::Kind::label:
      if (operand.index < 0 || operand.index > instructions) return "a label outside the code";
      break;
    case Operand::Kind::variable:
    case Operand::Kind::function:
      if (operand.symbol.empty()) return "a symbol without a name";
      break;
    default:
      break;
  }
  for (const Operand& element : operand.elements) {
    if (std::string wrong = wrong_in(element, function); !wrong.empty()) return wrong;
  }
  return {};
}

inline std::string wrong_in(const Module& module) {
  const auto locations = static_cast<int>(module.locations.size());
  const auto files = static_cast<int>(module.files.size());
  for (const auto& frames : module.locations) {
    for (const SourceFrame& frame : frames) {
      if (frame.file < -1 || frame.file >= files) return "a file that is not there";
    }
  }
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.instructions) {
      if (instruction.location < -1 || instruction.location >= locations) return "a location that is not there";
      if (instruction.guard < -1 || instruction.guard >= static_cast<int>(function.registers.size())) {
        return "a guard that is not there";
      }
      if (module.line_in(instruction, "kernel.cu") < 0) return "a negative line";
      for (const auto* list : {&instruction.operands, &instruction.call_arguments, &instruction.call_results}) {
        for (const Operand& operand : *list) {
          if (std::string wrong = wrong_in(operand, function); !wrong.empty()) return wrong;
        }
      }
    }
  }
  return {};
}

// Returns what is wrong with an error message, which must be one short line of plain text that begins with the PTX
// line or with "this is ".
inline std::string wrong_in(const std::string& refusal) {
  if (!refusal.starts_with("PTX line ") && !refusal.starts_with("this is ")) return "no line: " + refusal;
  if (refusal.size() >= 400) return "too long: " + refusal;
  for (const char c : refusal) {
    if (c < ' ' || c > '~') return "bytes that are no text: " + refusal;
  }
  return {};
}

}  // namespace roofwalk::ptx
