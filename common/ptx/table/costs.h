// Costs of arithmetic from costs.def: machine instructions on a chip, and work of the host.
#pragma once

#include <cstdint>

#include "common/ptx/module.h"

namespace roofwalk::ptx {

// Conditions that distinguish rows of one class and type.
enum class When : std::uint8_t {
  always,
  saturated,     // .sat
  high,          // .hi
  flushes,       // .ftz
  keeps,         // no .ftz
  one_way,       // rounded towards zero, up or down
  exact,         // neither .approx nor .full
  approximate,   // .approx
  nan_wins,      // .NaN
  modified,      // .ftz, .relu or .NaN
  of_distance,   // .shiftamt
  by_registers,  // a bit count or position is not an immediate
};
bool holds(When when, const Instruction& instruction);

struct MachineInstructions {
  int special = 0, integer = 0, multiply = 0, fp32 = 0, fp64 = 0, control = 0, half = 0;
};
struct CostRow {
  enum class Kind : std::uint8_t { inlined, called };
  CostClass cost;
  TypeSet types;
  When when;
  Kind kind;
  MachineInstructions instructions;
};
// Returns the cost of an arithmetic instruction; nullptr if it follows from units.def and the width of the type.
const CostRow* find_cost(const Instruction& instruction);

// Returns the `kept` types of a cost class (costs.def).
TypeSet kept_types(CostClass cost);

// Returns the host's work for an arithmetic instruction (PTX_WORK in costs.def).
std::uint32_t work_of_arithmetic(const Instruction& instruction);

}  // namespace roofwalk::ptx
