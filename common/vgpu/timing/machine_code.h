// The code that ptxas made of a kernel (SASS), laid beside its PTX: which machine instructions stand for each basic
// block, in which order, and in how many copies where ptxas unrolled it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/vgpu/program/program.h"
#include "common/vgpu/timing/schedule.h"

namespace roofwalk::vgpu {

// What a machine instruction is to the clock.
struct Operation {
  enum class Class : std::uint8_t {
    other,
    memory,
    shuffle,
    constant,
    load_constant,  // LDC, ULDC: of constant memory, or of a parameter
    barrier,
    async_commit,
    async_wait,
    branch,
    call
  };
  Unit unit = Unit::integer;
  Class kind = Class::other;  // constant: makes a value of nothing (or copies one)
};
// sass_opcodes.cpp. Of the low nine bits of an encoding.
Operation operation_info(std::uint16_t operation);
// From compute capability 9.0 on, a warp that has come apart exchanges values apart from the rest of the code, in
// pieces that this ends (ENDCOLLECTIVE).
bool ends_collective(std::uint16_t operation);

// Instructions that ptxas turns into exactly one of its own in every copy of a loop body: what that one is.
std::optional<Operation> single_operation(const ptx::Instruction& in);

struct BlockOp {
  std::uint32_t pc = 0;  // PTX instruction that it was made for
  std::uint16_t operation = 0;
  bool extra = false;  // issues here, but was made for an instruction of another basic block
};

struct BlockCode {
  std::uint32_t copies = 1;
  std::vector<BlockOp> ops;
};

struct FoundCode {
  // By basic block: the forms that its code takes, most copies first, the last with one copy. Basic blocks that are a
  // loop of their own may have several copies; of others that were copied with a loop around them, one copy is kept.
  // What was hoisted out of a loop is not in it.
  std::vector<std::vector<BlockCode>> forms;
  // By PTX instruction: whether most copies of its code have a branch that warps take now and then.
  std::vector<bool> branches;
};
FoundCode find_block_code(const ptx::Function& function, std::span<const BasicBlock> blocks,
                          std::span<const MachineOp> code);

}  // namespace roofwalk::vgpu
