// Assigns slots to all operands: registers, constants, thread indices.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "common/vgpu/lowering/lower.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

inline std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) { return (value + unit - 1) / unit * unit; }

// The system's shared memory: its size (programming guide, compute capability 8.0), the unit by which the block's own
// is allocated, and the part for cooperative groups (static_assert in cooperative_groups/details/memory.h).
inline constexpr std::uint32_t kReservedSharedBytes = 1024, kSharedUnitBytes = 128, kSharedBytesOfGroups = 288;

class Slots {
 public:
  // The functions below fill in the program's slots, constants and sizes; the program's function and blocks must be set
  // before the first call.
  Slots(const LoweringInput& input, Program& program);

  // Makes the register an alias of slot `at`, whose contents do not change while a block runs.
  void fix_register(int reg, Slot at);
  bool is_fixed(int reg) const { return program_.fixed_registers[static_cast<std::size_t>(reg)]; }
  // Assigns slots to all other registers. A register that carries a value between basic blocks has its own slot.
  // Block-local registers share slots by liveness (first write to last read), so unrolled code needs few more slots
  // than values live at once. Error: too many registers cross blocks.
  Status lay_out_registers();

  Slot of_register(int reg) const { return program_.register_slots[static_cast<std::size_t>(reg)]; }
  // A new slot, separate from those of the PTX registers, with this many bytes per lane.
  Slot new_register(std::uint32_t bytes);
  // The slot of a value that is the same in every lane of every warp.
  Slot constant(std::uint64_t bits, std::uint32_t bytes);
  // The slot of a special register; kNoSlot if its value changes while a block runs (clocks).
  Slot special(const ptx::Operand& operand);

  // Must be called once all operands have their slots.
  void finish();

 private:
  Slot next_slot(std::uint32_t bytes);
  // Thread indices and similar values: 32-bit lanes that depend on the warp's position in its block.
  Slot warp_constant(ptx::SpecialRegister special, int component);
  void fill_warp_constants();
  std::uint32_t warps() const;

  const LoweringInput& input_;
  Program& program_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, Slot> constant_slots_;
  std::map<std::pair<ptx::SpecialRegister, int>, Slot> warp_constant_slots_;
};

}  // namespace roofwalk::vgpu
