// Matches the code that ptxas made of a kernel (SASS) to its PTX: the machine instructions of each basic block, their
// order, and the number of copies if ptxas unrolled it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/vgpu/program/program.h"
#include "common/vgpu/timing/instruction_schedule.h"

namespace roofwalk::vgpu {

// Unit and class of a machine instruction in the timing model.
struct Operation {
  enum class Class : std::uint8_t {
    other,
    memory,
    shuffle,
    constant,
    load_constant,  // LDC, ULDC: load of constant memory or of a parameter
    barrier,
    async_commit,
    async_wait,
    sleep,
    branch,
    call
  };
  Unit unit = Unit::integer;
  Class kind = Class::other;  // constant: makes a value without reading one, or copies one
};
// Returns the operation for the low nine bits of an encoding (sass_opcodes.cpp).
Operation operation_info(std::uint16_t operation);
// Whether this is ENDCOLLECTIVE. From compute capability 9.0 on, a diverged warp exchanges values in separate pieces of
// code, and each of them ends with this instruction.
bool ends_collective(std::uint16_t operation);

// Whether costs.def lists the type of an arithmetic instruction as `kept`: every copy has equally many machine
// instructions.
bool is_kept(const ptx::Instruction& in);

// Returns the operation of an instruction that ptxas turns into exactly one machine instruction in every copy of a loop
// body; nullopt for all other instructions.
std::optional<Operation> single_operation(const ptx::Instruction& in);

struct BlockOp {
  std::uint32_t pc = 0;  // PTX instruction that it implements
  std::uint16_t operation = 0;
  bool extra = false;  // issues here, but implements an instruction of another basic block
  std::uint8_t register_reads = 0;
};

struct BlockCode {
  std::uint32_t copies = 1;
  std::vector<BlockOp> ops;
};

// Numbers of machine instructions by unit. Integer, multiply and half count as one unit, because multipliers do some of
// the integer work.
using IssuesOfUnits = std::array<std::uint64_t, ptx::kUnitCount>;
std::size_t place_of(ptx::Unit unit);

struct FoundCode {
  // By basic block: the forms of its machine code, in decreasing number of copies; the last form has one copy. A form
  // has several copies only if the basic block is a loop by itself; of a block that was copied along with a loop around
  // it, one copy is kept. Code that was hoisted out of a loop is not included.
  std::vector<std::vector<BlockCode>> forms;
  // By basic block: machine instructions of a copy that are in no form, since they lie inside loops that the PTX does
  // not have.
  std::vector<IssuesOfUnits> lost;
  // By PTX instruction: whether at least half of the copies of its code contain a branch; branches around rare code are
  // ignored.
  std::vector<bool> branches;
};
FoundCode find_block_code(const ptx::Function& function, std::span<const BasicBlock> blocks,
                          std::span<const MachineOp> code);

}  // namespace roofwalk::vgpu
