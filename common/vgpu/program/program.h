// A kernel lowered for one launch: a flat list of operations with resolved handlers, register slots and constants.
// Nothing here is text any more; executing never looks anything up by name.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/ptx/module.h"
#include "common/record/run_record.h"
#include "common/vgpu/program/instructions.h"

namespace roofwalk::vgpu {

inline constexpr int kWarpSize = 32;
inline constexpr std::uint32_t kAllLanes = ~0u;

struct Op;
struct Warp;
class Launch;

// Executes one operation for a warp and returns the next one; nullptr ends the warp's turn (Warp says why).
using Handler = const Op* (*)(Launch&, Warp&, const Op*);

// Where an operand's 32 lanes lie: two bits choose the base (Warp::bases), the rest is an offset in bytes.
using Slot = std::uint32_t;
enum class Base : std::uint32_t { registers = 0, constants = 1, warp_constants = 2 };
constexpr Slot slot(Base base, std::uint32_t offset) { return static_cast<std::uint32_t>(base) << 30 | offset; }
inline constexpr Slot kNoSlot = ~0u;

struct Op {
  Handler run = nullptr;
  // The handler behind a predicate (run is op_guard or op_guard_again then), or of the operation alone (run does
  // several at once then).
  Handler guarded = nullptr;
  std::array<Slot, 6> s{kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot};  // results first, then sources
  Slot guard = kNoSlot;                                                         // predicate of the instruction
  bool guard_negated = false;
  bool past_l1 = false;     // load: passes_l1()
  bool spins = false;       // atomic: in a loop that asks global memory for no more, so it waits for what others write
  bool back_edge = false;   // branch: its target does not lie ahead, so other warps get their turn
  std::int64_t offset = 0;  // of an address; block entry: cycles (block_latency.h); or a small parameter of the handler
  const ptx::Instruction* instruction = nullptr;  // nullptr for block entries
  std::uint32_t pc = 0;                           // index of the PTX instruction: its site
  std::uint32_t block = 0;                        // basic block that it stands in
  std::uint32_t count = 0;                        // block entry: its instructions; memory: bytes a lane
  std::uint32_t memory = 0;                       // memory: its place in BasicBlock::memory; block entry: how many
  std::uint32_t target = 0;                       // branch: block of the taken lanes; block entry: its work
  std::uint32_t next_block = 0;                   // branch and fall-through: block of the others
  std::uint32_t meet = 0;                         // branch: block where both meet again
  std::uint32_t steps = 0;                        // lockstep code: which steps its address or register has
};

// A straight run of instructions: entered at the top, left at the bottom.
struct BasicBlock {
  std::uint32_t first = 0, count = 0;     // PTX instructions
  std::vector<std::uint32_t> successors;  // blocks; kExitBlock for leaving
  std::uint32_t reconvergence = 0;        // immediate post-dominator; kExitBlock where there is none
  std::uint32_t first_op = 0;             // its entry operation
  std::vector<std::uint32_t> memory;      // PTX instructions whose outcomes traces keep, in order
  // One way leads on from it, straight to the end of its function, but for threads that end before, and nobody else is
  // asked for there.
  bool leads_out = false;
};
inline constexpr std::uint32_t kExitBlock = ~0u;

// Basic blocks in program order with successors and immediate post-dominators.
std::vector<BasicBlock> find_blocks(const ptx::Function& function);

// By block: whether a way leads from it back to it through blocks that all `passes` lets pass, itself among them.
std::vector<bool> find_loops(const std::vector<BasicBlock>& blocks,
                             const std::function<bool(const BasicBlock&)>& passes);

// One call of one function of the module.
struct CallSite {
  struct Place {          // of a value that is handed over
    Slot slot = kNoSlot;  // a register or a constant; kNoSlot: local memory
    std::uint32_t local = 0, bytes = 0;
  };
  std::vector<std::pair<Place, Place>> arguments, results;  // from, to
  bool recursive = false;                                   // the callee may call the caller: registers are kept aside
  std::uint32_t frame_bytes = 0;                            // recursive: local memory of one more run of the callee
};

// What a call through a pointer calls where the pointer is this number.
struct CallTarget {
  std::uint64_t number = 0;
  std::uint32_t block = 0, site = 0;  // of the function; into Program::calls
};

// How the lanes of a register differ from lane 0, in every warp of the block alike.
struct Steps {
  alignas(64) std::array<std::uint64_t, kWarpSize> of_lane{};  // modulo 2^64; those of 32-bit registers sign-extended
  std::int64_t low = 0, high = 0;                              // the least and the greatest of them, as signed numbers
  bool even = false;                                           // of_lane[l] = l * stride
  std::uint64_t stride = 0;
  std::uint64_t bits = 0;  // set in any of them: whether all are multiples of a power of two
  // Whether of_lane is even within each eight lanes, with this stride: rows of a tile that are part of a warp.
  bool even_eights = false;
  std::uint64_t stride_of_eights = 0;
};
Steps make_steps(const std::array<std::uint64_t, kWarpSize>& of_lane);

// A register of which lockstep code may keep lane 0 only, or a predicate (0 bytes) that is the same for all lanes.
struct LockstepRegister {
  Slot slot = kNoSlot;
  std::uint32_t bytes = 0;  // a lane
  std::uint32_t steps = 0;  // which of LockstepCode::steps
};

// Fma of two words of shared memory again and again, each adding to what the one before made, as an unrolled product of
// two tiles does. The words of each side lie at fixed places from one register; nobody asks for them, or for the sums
// in between, afterwards.
struct ProductRun {
  struct Load {
    std::int32_t offset = 0;
    std::uint32_t pc = 0;
  };
  struct Side {
    std::vector<Load> loads;
    std::int64_t low = 0, high = 0;              // of the words of all loads and lanes, from the register on
    std::uint64_t bits = 0;                      // set in any of their places
    std::array<std::int64_t, 4> of_eights = {};  // steps of the first of each eight lanes
  };
  Side left, right;
  std::vector<std::pair<std::int32_t, std::int32_t>> offsets;  // of both sides, product by product
};

// The program once more, for warps all of whose 32 lanes run together (lockstep.h).
struct LockstepCode {
  std::vector<Op> ops;                  // empty: none
  std::vector<std::uint32_t> first_op;  // by basic block
  std::vector<Steps> steps;             // number 0: all zero
  // By basic block. Whose other lanes are to be filled where a warp comes apart at its end; what must hold for a warp
  // to enter it in lockstep.
  std::vector<std::vector<LockstepRegister>> leaving, entering;
  std::vector<std::vector<LockstepRegister>> at_checks;  // by Op::offset of a check: whose lanes are to be filled there
  std::vector<ProductRun> product_runs;                  // by Op::target of its first operation
};

struct Program {
  std::shared_ptr<const ptx::Function> linked;  // the kernel with what it calls, where it calls anything
  const ptx::Function* function = nullptr;      // what runs: the same, or the module's
  std::vector<BasicBlock> blocks;
  std::vector<Op> ops;
  LockstepCode lockstep;
  std::vector<Slot> register_slots;                       // by PTX register
  std::vector<bool> fixed_registers;                      // by PTX register: their slots hold it from the start
  std::uint32_t register_bytes = 0;                       // of one warp
  std::vector<Slot> matrix_slots;                         // of mma, which has more operands than an Op: d, a, b, c
  std::vector<std::uint8_t> constants;                    // broadcast to 32 lanes each
  std::vector<std::uint8_t> warp_constants;               // thread indices and the like, one run a warp of the block
  std::uint32_t warp_constant_bytes = 0;                  // a warp's share
  std::uint32_t static_shared_bytes = 0;                  // dynamic shared memory starts here, 16-byte aligned
  std::uint32_t shared_bytes = 0;                         // all of it
  bool has_fences = false;                                // of memory
  std::uint32_t shared_swap_cycles = 0;                   // block_latency.h
  std::vector<std::uint32_t> timed_operations;            // likewise, by basic block; empty where no clock asks
  std::map<std::uint32_t, std::string> shared_variables;  // where each begins: its mangled name
  std::uint32_t local_bytes = 0;                          // a thread, the stack of recursion included
  std::uint32_t stack_start = 0;                          // of it, where that stack begins
  std::uint32_t parameter_bytes = 0;                      // of it, at its start: parameters of calls
  bool points_to_constants = false;                       // as LoweringInput says
  std::vector<CallSite> calls;
  std::vector<std::vector<CallTarget>> call_targets;      // by Op::offset of a call through a pointer, by number
  std::map<std::uint64_t, std::string> function_names;    // by number, where anything is called through a pointer
  std::vector<std::vector<std::uint32_t>> branch_tables;  // by Op::offset of brx.idx: the blocks of its table
  // Slots that are written when a block starts: ctaid.{x,y,z} and smid, kNoSlot where the kernel does not ask.
  std::array<Slot, 3> ctaid_slots{kNoSlot, kNoSlot, kNoSlot};
  Slot smid_slot = kNoSlot;
  // Where the .param and .local variables of the function lie in local memory, by name.
  std::map<std::string, std::pair<std::uint32_t, std::uint32_t>, std::less<>> locals;  // offset, bytes
};

}  // namespace roofwalk::vgpu
