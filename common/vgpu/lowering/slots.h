// Where in a warp's memory everything lies that operands name: registers, constants, thread indices.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "common/vgpu/lowering/lower.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

inline std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) { return (value + unit - 1) / unit * unit; }

class Slots {
 public:
  // Fills in the program's slots, constants and sizes; its function and blocks must be there.
  Slots(const LoweringInput& input, Program& program);

  // From now on the register is what `at` holds, which nothing writes while blocks run.
  void fix_register(int reg, Slot at);
  bool is_fixed(int reg) const { return program_.fixed_registers[static_cast<std::size_t>(reg)]; }
  // The others' slots. Registers that carry values between basic blocks have a slot of their own; those within one
  // share slots, each from its first write until its last read. So unrolled code needs little more than what lives at
  // once.
  // Fails where too many carry values.
  Status lay_out_registers();

  Slot of_register(int reg) const { return program_.register_slots[static_cast<std::size_t>(reg)]; }
  // Beside the PTX registers; so many bytes a lane.
  Slot new_register(std::uint32_t bytes);
  // A value that is the same in every lane of every warp.
  Slot constant(std::uint64_t bits, std::uint32_t bytes);
  // Of a special register; kNoSlot for those that change while a kernel runs.
  Slot special(const ptx::Operand& operand);

  // Once every operand has its slot.
  void finish();

 private:
  Slot next_slot(std::uint32_t bytes);
  // Thread indices and the like: 32-bit lanes that depend on the warp's place in its block.
  Slot warp_constant(ptx::SpecialRegister special, int component);
  void fill_warp_constants();
  std::uint32_t warps() const;

  const LoweringInput& input_;
  Program& program_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, Slot> constant_slots_;
  std::map<std::pair<ptx::SpecialRegister, int>, Slot> warp_constant_slots_;
};

}  // namespace roofwalk::vgpu
