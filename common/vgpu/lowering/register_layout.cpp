#include "common/vgpu/lowering/register_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "common/vgpu/program/operands.h"
#include "common/vgpu/program/place_numbers.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::SpecialRegister;
using ptx::Type;

constexpr std::uint32_t kSlotAlign = 64;

// Bytes of a register's 32 lanes; a predicate takes one bit per lane.
std::uint32_t bytes_of(const ptx::Register& reg) {
  if (reg.type == Type::pred) return sizeof(std::uint32_t);
  return static_cast<std::uint32_t>(std::max(ptx::size_bytes(reg.type), 1) * kWarpSize);
}

}  // namespace

Slots::Slots(const LoweringInput& input, Program& program) : input_(input), program_(program) {}

void Slots::fix_register(int reg, Slot at) {
  program_.register_slots[static_cast<std::size_t>(reg)] = at;
  program_.fixed_registers[static_cast<std::size_t>(reg)] = true;
}

Status Slots::lay_out_registers() {
  const auto& registers = program_.function->registers;
  const std::vector<bool> crosses = registers_across_blocks(*program_.function, program_.blocks);
  const auto carried = static_cast<std::size_t>(std::count(crosses.begin(), crosses.end(), true));
  if (carried > kMaxRegistersAcrossBlocks) {
    return Error{.message = fmt::format("a kernel with {} registers that carry values from one basic block to another: "
                                        "the virtual GPU takes {}",
                                        carried, kMaxRegistersAcrossBlocks)};
  }
  for (std::size_t r = 0; r < registers.size(); ++r) {
    if (crosses[r] && !program_.fixed_registers[r]) program_.register_slots[r] = next_slot(bytes_of(registers[r]));
  }
  std::map<std::uint32_t, std::vector<Slot>> unused;  // free slots by size
  for (const BasicBlock& block : program_.blocks) {
    std::map<int, std::uint32_t> last;  // by register: the last instruction of the block that reads or writes it
    for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
      const auto touch = [&](int reg) {
        if (!crosses[static_cast<std::size_t>(reg)] && !is_fixed(reg)) last[reg] = pc;
      };
      for_each_source(program_.function->instructions[pc], touch);
      for_each_result(program_.function->instructions[pc], touch);
    }
    for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
      const Instruction& in = program_.function->instructions[pc];
      for_each_result(in, [&](int reg) {
        const auto r = static_cast<std::size_t>(reg);
        if (program_.register_slots[r] != kNoSlot) return;
        auto& free = unused[bytes_of(registers[r])];
        if (free.empty()) free.push_back(next_slot(bytes_of(registers[r])));
        program_.register_slots[r] = free.back();
        free.pop_back();
      });
      // Slots whose registers are used here for the last time become free only after the results have got theirs: an
      // instruction may become several operations, and the first may write a result before the others read their
      // sources.
      const auto end = [&](int reg) {
        const auto found = last.find(reg);
        if (found == last.end() || found->second != pc) return;
        const auto r = static_cast<std::size_t>(reg);
        unused[bytes_of(registers[r])].push_back(program_.register_slots[r]);
        last.erase(found);
      };
      for_each_source(in, end);
      for_each_result(in, end);
    }
  }
  return kOk;
}

Slot Slots::next_slot(std::uint32_t bytes) {
  if (bytes >= kSlotAlign) program_.register_bytes = round_up(program_.register_bytes, kSlotAlign);
  const Slot out = slot(Base::registers, program_.register_bytes);
  program_.register_bytes += bytes >= kSlotAlign ? round_up(bytes, kSlotAlign) : bytes;
  return out;
}

Slot Slots::new_register(std::uint32_t bytes) {
  const Slot out = slot(Base::registers, round_up(program_.register_bytes, kSlotAlign));
  program_.register_bytes = round_up(program_.register_bytes, kSlotAlign) + bytes * kWarpSize;
  return out;
}

Slot Slots::constant(std::uint64_t bits, std::uint32_t bytes) {
  const auto [it, is_new] = constant_slots_.try_emplace({bits, bytes}, 0);
  if (is_new) {
    const auto at = static_cast<std::uint32_t>(program_.constants.size());
    program_.constants.resize(at + round_up(bytes * kWarpSize, kSlotAlign));
    for (int l = 0; l < kWarpSize; ++l) std::memcpy(&program_.constants[at + l * bytes], &bits, bytes);
    it->second = slot(Base::constants, at);
  }
  return it->second;
}

Slot Slots::warp_constant(SpecialRegister special, int component) {
  const auto [it, is_new] = warp_constant_slots_.try_emplace({special, component}, 0);
  if (is_new) {
    it->second = slot(Base::warp_constants, program_.warp_constant_bytes);
    program_.warp_constant_bytes += 4 * kWarpSize;
  }
  return it->second;
}

std::uint32_t Slots::warps() const {
  return static_cast<std::uint32_t>((input_.block.count() + kWarpSize - 1) / kWarpSize);
}

void Slots::fill_warp_constants() {
  program_.warp_constants.resize(std::size_t{program_.warp_constant_bytes} * warps());
  const Dim3 block = input_.block;
  for (const auto& [key, at] : warp_constant_slots_) {
    for (std::uint32_t warp = 0; warp < warps(); ++warp) {
      for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
        const std::uint32_t linear = warp * kWarpSize + lane;
        std::uint32_t value = 0;
        switch (key.first) {
          case SpecialRegister::tid: {
            const std::uint32_t tid[] = {linear % block.x, linear / block.x % block.y, linear / block.x / block.y};
            value = tid[key.second];
            break;
          }
          case SpecialRegister::laneid:
            value = lane;
            break;
          case SpecialRegister::warpid:
            value = number_of_warp(warp);
            break;
          case SpecialRegister::lanemask_eq:
            value = 1u << lane;
            break;
          case SpecialRegister::lanemask_lt:
            value = (1u << lane) - 1;
            break;
          case SpecialRegister::lanemask_le:
            value = (2u << lane) - 1;
            break;
          case SpecialRegister::lanemask_gt:
            value = ~((2u << lane) - 1);
            break;
          case SpecialRegister::lanemask_ge:
            value = ~((1u << lane) - 1);
            break;
          default:
            break;
        }
        std::memcpy(
            &program_.warp_constants[std::size_t{program_.warp_constant_bytes} * warp + (at & 0x3fff'ffffu) + lane * 4],
            &value, sizeof value);
      }
    }
  }
}

Slot Slots::special(const Operand& operand) {
  const auto pick = [&](const Dim3& dim) {
    return constant(operand.component == 0 ? dim.x : operand.component == 1 ? dim.y : dim.z, 4);
  };
  switch (operand.special) {
    case SpecialRegister::ntid:
      return pick(input_.block);
    case SpecialRegister::nctaid:
      return pick(input_.grid);
    case SpecialRegister::ctaid: {
      Slot& at = program_.ctaid_slots[operand.component];
      if (at == kNoSlot) at = new_register(4);
      return at;
    }
    case SpecialRegister::smid:
      if (program_.smid_slot == kNoSlot) program_.smid_slot = new_register(4);
      return program_.smid_slot;
    case SpecialRegister::nwarpid:
      return constant(kWarpNumbers, 4);
    case SpecialRegister::gridid:
      return constant(0, 8);
    case SpecialRegister::dynamic_smem_size:
      return constant(input_.dynamic_shared_bytes, 4);
    case SpecialRegister::total_smem_size:
      return constant(program_.shared_bytes - program_.reserved_shared_bytes, 4);
    case SpecialRegister::grid_workspace_hi:
      return constant(input_.grid_workspace >> 32, 4);
    case SpecialRegister::grid_workspace_lo:
      return constant(input_.grid_workspace & 0xffff'ffff, 4);
    case SpecialRegister::reserved_smem_begin:
    case SpecialRegister::reserved_smem_0:
      return constant(program_.shared_bytes - kReservedSharedBytes, 4);
    case SpecialRegister::reserved_smem_end:
    case SpecialRegister::reserved_smem_cap:
      return constant(program_.shared_bytes, 4);
    case SpecialRegister::reserved_smem_1:  // what cooperative groups may use
      return constant(program_.shared_bytes - kSharedBytesOfGroups, 4);
    case SpecialRegister::nsmid:
      return constant(numbers_of_sms(static_cast<std::uint32_t>(input_.sms)), 4);
    case SpecialRegister::clock:
    case SpecialRegister::clock_hi:
    case SpecialRegister::clock64:
    case SpecialRegister::globaltimer:
    case SpecialRegister::globaltimer_lo:
    case SpecialRegister::globaltimer_hi:
      return kNoSlot;
    default:
      return warp_constant(operand.special, operand.component);
  }
}

void Slots::finish() {
  program_.register_bytes = round_up(std::max(program_.register_bytes, kSlotAlign), kSlotAlign);
  fill_warp_constants();
}

}  // namespace roofwalk::vgpu
