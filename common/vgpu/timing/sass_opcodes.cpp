// The opcodes of SASS: unit and class of each machine instruction.
#include <array>

#include "common/ptx/table/costs.h"
#include "common/vgpu/timing/instruction_cost.h"
#include "common/vgpu/timing/sass_map.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using Class = Operation::Class;

constexpr std::size_t kOperations = 512;
constexpr std::uint16_t kEndCollective = 0x11b;

struct SassOpcode {
  std::uint16_t operation;
  Unit unit;
  Class kind;
};

// The low nine bits of encodings, for compute capability 8.0 to 9.0: found by assembling kernels of every kind and
// disassembling them with NVIDIA's nvdisasm 13.2. Opcodes that are not listed are integer instructions.
constexpr SassOpcode kSassOpcodes[] = {
    // fp32: FMUL, FADD, FFMA, FSWZADD
    {0x020, Unit::fp32, Class::other},
    {0x021, Unit::fp32, Class::other},
    {0x023, Unit::fp32, Class::other},
    {0x022, Unit::fp32, Class::other},
    // IMAD, IMAD.WIDE, IDP, IMAD.HI
    {0x024, Unit::multiply, Class::other},
    {0x025, Unit::multiply, Class::other},
    {0x026, Unit::multiply, Class::other},
    {0x027, Unit::multiply, Class::other},
    // DMUL, DADD, DSETP, DFMA
    {0x028, Unit::fp64, Class::other},
    {0x029, Unit::fp64, Class::other},
    {0x02a, Unit::fp64, Class::other},
    {0x02b, Unit::fp64, Class::other},
    // HADD2, HFMA2, HMUL2, HSET2, HSETP2, HFMA2.MMA, HMNMX2
    {0x030, Unit::half, Class::other},
    {0x031, Unit::half, Class::other},
    {0x032, Unit::half, Class::other},
    {0x033, Unit::half, Class::other},
    {0x034, Unit::half, Class::other},
    {0x035, Unit::half, Class::constant},
    {0x040, Unit::half, Class::other},
    // IMMA, HMMA, BMMA, DMMA
    {0x037, Unit::tensor, Class::other},
    {0x03c, Unit::tensor, Class::other},
    {0x03d, Unit::tensor, Class::other},
    {0x03f, Unit::tensor, Class::other},
    // MOV, CS2R, UMOV, ULDC; ULDC of an address in a uniform register
    {0x002, Unit::integer, Class::constant},
    {0x005, Unit::integer, Class::constant},
    {0x082, Unit::integer, Class::constant},
    {0x0b9, Unit::integer, Class::constant},
    {0x0bb, Unit::integer, Class::load_constant},
    // FLO, BREV, FCHK, F2I, I2F, FRND, MUFU, POPC, F2F, F2I, I2F and FRND of 64 bits, S2R, B2R, MATCH, S2UR,
    // REDUX
    {0x100, Unit::special, Class::other},
    {0x101, Unit::special, Class::other},
    {0x102, Unit::special, Class::other},
    {0x105, Unit::special, Class::other},
    {0x106, Unit::special, Class::other},
    {0x107, Unit::special, Class::other},
    {0x108, Unit::special, Class::other},
    {0x109, Unit::special, Class::other},
    {0x110, Unit::special, Class::other},
    {0x111, Unit::special, Class::other},
    {0x112, Unit::special, Class::other},
    {0x113, Unit::special, Class::other},
    {0x119, Unit::special, Class::other},
    {0x11c, Unit::special, Class::other},
    {0x1a1, Unit::special, Class::other},
    {0x1c3, Unit::special, Class::other},
    {0x1c4, Unit::special, Class::other},
    // NOP, DEPBAR, ENDCOLLECTIVE, BAR, BSYNC, CALL, BSSY, YIELD, BRA, WARPSYNC, BRX, JMP, BREAK, EXIT, RET, BPT,
    // NANOSLEEP
    {0x118, Unit::control, Class::other},
    {0x11a, Unit::control, Class::async_wait},
    {kEndCollective, Unit::control, Class::other},
    {0x11d, Unit::control, Class::barrier},
    {0x141, Unit::control, Class::other},
    {0x142, Unit::control, Class::other},
    {0x143, Unit::control, Class::call},
    {0x144, Unit::control, Class::call},
    {0x145, Unit::control, Class::other},
    {0x146, Unit::control, Class::other},
    {0x147, Unit::control, Class::branch},
    {0x148, Unit::control, Class::other},
    {0x149, Unit::control, Class::branch},
    {0x14a, Unit::control, Class::branch},
    {0x14d, Unit::control, Class::branch},
    {0x150, Unit::control, Class::branch},
    {0x15c, Unit::control, Class::other},
    {0x15d, Unit::control, Class::sleep},
    // LDSM, LD, LDG, LDC, LDL, LDS, ST, STG, STL, STS, SHFL, ATOM, ATOM.CAS, ATOMS, ATOMS.CAS, RED
    {0x03b, Unit::memory, Class::memory},
    {0x180, Unit::memory, Class::memory},
    {0x181, Unit::memory, Class::memory},
    {0x182, Unit::memory, Class::load_constant},
    {0x183, Unit::memory, Class::memory},
    {0x184, Unit::memory, Class::memory},
    {0x185, Unit::memory, Class::memory},
    {0x186, Unit::memory, Class::memory},
    {0x187, Unit::memory, Class::memory},
    {0x188, Unit::memory, Class::memory},
    {0x189, Unit::memory, Class::shuffle},
    {0x18a, Unit::memory, Class::memory},
    {0x18b, Unit::memory, Class::memory},
    {0x18c, Unit::memory, Class::memory},
    {0x18d, Unit::memory, Class::memory},
    {0x18e, Unit::memory, Class::memory},
    // CCTL, MEMBAR, ATOMG, ERRBAR, LDGSTS, LDGDEPBAR
    {0x18f, Unit::memory, Class::other},
    {0x192, Unit::memory, Class::other},
    {0x1a3, Unit::memory, Class::memory},
    {0x1a6, Unit::memory, Class::memory},
    {0x1a8, Unit::memory, Class::memory},
    {0x1a9, Unit::memory, Class::memory},
    {0x1ab, Unit::control, Class::other},
    {0x1ae, Unit::memory, Class::memory},
    {0x1af, Unit::memory, Class::async_commit},
};

constexpr auto kOperationTable = [] {
  std::array<Operation, kOperations> table;
  table.fill(Operation{Unit::integer, Class::other});
  for (const SassOpcode& row : kSassOpcodes) table[row.operation] = {row.unit, row.kind};
  return table;
}();

}  // namespace

Operation operation_info(std::uint16_t operation) { return kOperationTable[operation % kOperations]; }

bool ends_collective(std::uint16_t operation) { return operation % kOperations == kEndCollective; }

bool is_kept(const Instruction& in) {
  const ptx::OpcodeInfo& row = ptx::info(in.opcode);
  return row.form == Form::alu && (ptx::kept_types(row.cost) & ptx::bit(in.type)) != 0;
}

std::size_t place_of(Unit unit) {
  const bool integer = unit == Unit::multiply || unit == Unit::half;
  return static_cast<std::size_t>(integer ? Unit::integer : unit);
}

std::optional<Operation> single_operation(const Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::load:
    case Form::store:
    case Form::matrix_load:
    case Form::async_copy:
      if (is_memory(in)) return Operation{Unit::memory, Class::memory};
      return std::nullopt;
    case Form::shuffle:
      return Operation{Unit::memory, Class::shuffle};
    case Form::matrix_multiply:
      return Operation{Unit::tensor, Class::other};
    case Form::alu:
      break;
    default:
      return std::nullopt;
  }
  if (!is_kept(in) || !ptx::is_float(in.type)) return std::nullopt;
  return Operation{ptx::unit_of(ptx::info(in.opcode).units, in.type), Class::other};
}

}  // namespace roofwalk::vgpu
