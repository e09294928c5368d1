// A kernel lowered for one launch: a flat list of operations with resolved handlers, register slots and constants.
// Nothing is looked up by name during execution.
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
#include "common/vgpu/program/instructions.h"

namespace roofwalk::vgpu {

inline constexpr int kWarpSize = 32;
inline constexpr std::uint32_t kAllLanes = ~0u;

struct Op;
struct Warp;
class Launch;

// Executes one operation for a warp and returns the next operation; nullptr ends the warp's turn (Warp::state tells
// why).
using Handler = const Op* (*)(Launch&, Warp&, const Op*);

// Location of an operand's 32 lanes: the top two bits choose the base (Warp::bases), the rest is a byte offset.
using Slot = std::uint32_t;
enum class Base : std::uint32_t { registers = 0, constants = 1, warp_constants = 2 };
constexpr Slot slot(Base base, std::uint32_t offset) { return static_cast<std::uint32_t>(base) << 30 | offset; }
inline constexpr Slot kNoSlot = ~0u;

struct Op {
  Handler run = nullptr;
  // The handler of the operation itself, if `run` is op_guard, op_guard_again or a fused handler.
  Handler guarded = nullptr;
  std::array<Slot, 6> s{kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot};  // results first, then sources
  Slot guard = kNoSlot;                                                         // the instruction's guard predicate
  bool guard_negated = false;
  bool past_l1 = false;       // load: passes_l1(), or it polls (Lowering::polls_plainly())
  bool non_coherent = false;  // load: ld.global.nc
  bool spins = false;         // atomic, load: polls memory in a loop until another thread changes it; branch: it leads
                              // back to such an operation
  bool decides = false;       // atomic, mbarrier: its result decides a way (registers_that_decide); volatile load of
                              // global memory: it may wait for another warp, as it is more than one look; branch that
                              // spins: nothing is done in its loop but look
  bool tells = false;         // acquire load, atomic: for the race detector, whether its value orders threads
  bool ends_loops = false;   // atomic: its result decides whether a loop ends (lowering/analysis/loop_ends.h); load: it
                             // may be a look for which its warp waits for other blocks (Program::looks_at_global)
  bool speculative = false;  // load: checked by picks (lowering/analysis/speculation.h); pick: the last one of its load
  bool guesses = false;     // load: its value matters only if a compare-and-swap finds it (lowering/analysis/guesses.h)
  bool peeks = false;       // relaxed load: its thread does the same whatever it finds (lowering/analysis/peeks.h)
  bool back_edge = false;   // branch: its target is not ahead of it, so taking it ends the turn
  std::int64_t offset = 0;  // address: its offset; block entry: cycles (block_latency.h); else a parameter of the
                            // handler
  const ptx::Instruction* instruction = nullptr;  // nullptr for block entries, picks and loads taken up
  std::uint32_t pc = 0;                           // index of the PTX instruction, which is its counter site
  std::uint32_t block = 0;                        // basic block that contains it
  // block entry: number of instructions; memory: bytes of the address register; pick: ways on which its predicate must
  // be true (bits); load taken up: its number in this block
  std::uint32_t count = 0;
  std::uint32_t memory = 0;  // memory: index in BasicBlock::memory; block entry: length of that list
  // branch: block of the lanes that take it; block entry: work of the block (work.h); speculative load and its
  // picks: its number
  std::uint32_t target = 0;
  // branch: block of the other lanes; fall-through: the next block; block entry: work if a single lane is active;
  // speculative load: its ways; pick: ways on which its predicate must be false (bits)
  std::uint32_t next_block = 0;
  std::uint32_t meet = 0;          // branch: block where both sides reconverge; block entry: least_issue_slots()
  std::uint32_t lane_offsets = 0;  // lockstep code: index of the LaneOffsets of its address or register
};

// A straight run of instructions: control enters at the first and leaves after the last.
struct BasicBlock {
  std::uint32_t first = 0, count = 0;     // PTX instructions
  std::vector<std::uint32_t> successors;  // blocks; kExitBlock: the exit
  std::uint32_t reconvergence = 0;        // immediate post-dominator; kExitBlock if there is none
  std::uint32_t first_op = 0;             // index of its entry operation
  std::vector<std::uint32_t> memory;      // PTX instructions that have an Outcome in traces, in order
  // A single path leads from here to the exit (some threads may exit earlier on it), and no instruction on that path
  // involves other lanes or warps.
  bool leads_out = false;
  bool leads_to_syncwarp = false;  // control may get from here to a __syncwarp() of the same function
};
inline constexpr std::uint32_t kExitBlock = ~0u;

// Returns the basic blocks in program order, with successors and immediate post-dominators.
std::vector<BasicBlock> find_blocks(const ptx::Function& function);

// Returns, by block, the number of its loop, from 1 on: of the cycles of blocks that all satisfy `passes` on which it
// lies, with those that share blocks with these. 0: none.
std::vector<std::uint32_t> number_loops(const std::vector<BasicBlock>& blocks,
                                        const std::function<bool(const BasicBlock&)>& passes);
// The same, whether it has one.
std::vector<bool> find_loops(const std::vector<BasicBlock>& blocks,
                             const std::function<bool(const BasicBlock&)>& passes);
// Returns, by block, whether control may get from it to the outside of a loop that it is in, be that in another loop.
std::vector<bool> find_loop_ends(const std::vector<BasicBlock>& blocks);

// A call instruction together with one of its possible callees: where arguments and results are.
struct CallSite {
  struct Place {          // location of an argument or a result
    Slot slot = kNoSlot;  // a register or a constant; kNoSlot: local memory
    std::uint32_t local = 0, bytes = 0;
  };
  std::vector<std::pair<Place, Place>> arguments, results;  // pairs: source, destination
  // The callee is recursive, so all registers are saved around the call.
  bool recursive = false;
  std::uint32_t frame_bytes = 0;  // recursive: local memory of one activation of the callee
};

// One possible target of a call through a pointer, and the pointer value that selects it.
struct CallTarget {
  std::uint64_t number = 0;
  std::uint32_t block = 0, site = 0;  // the function's first block; index into Program::calls
};

// By how much each lane's value of a register exceeds lane 0's. The same in every warp of the block.
struct LaneOffsets {
  alignas(64) std::array<std::uint64_t, kWarpSize> of_lane{};  // modulo 2^64; sign-extended for 32-bit registers
  std::int64_t low = 0, high = 0;                              // the least and the greatest difference, signed
  bool even = false;                                           // of_lane[l] = l * stride
  std::uint64_t stride = 0;
  std::uint64_t bits = 0;  // OR of of_lane: shows whether all differences are multiples of a power of two
  // Whether the stride is constant (stride_of_eights) within each group of eight lanes, as when groups read rows of a
  // tile that is narrower than a warp.
  bool even_eights = false;
  std::uint64_t stride_of_eights = 0;
  // Wavefronts of L1 if each lane loads an aligned word of 4 bytes: the largest number of distinct words in one bank.
  std::uint64_t word_wavefronts = 1;
};
LaneOffsets make_lane_offsets(const std::array<std::uint64_t, kWarpSize>& of_lane);

// A register of which lockstep code may keep lane 0 only, or a predicate (0 bytes) that is the same for all lanes.
struct LockstepRegister {
  Slot slot = kNoSlot;
  std::uint32_t bytes = 0;         // per lane
  std::uint32_t lane_offsets = 0;  // index into LockstepCode::lane_offsets
};

// A chain of fma operations. Each takes two words of shared memory and the previous sum, as in an unrolled product of
// two tiles. The addresses of each side's words are fixed offsets from one register. Neither the words nor the
// intermediate sums are read afterwards.
struct ProductRun {
  struct Load {
    std::int32_t offset = 0;
    std::uint32_t pc = 0;
  };
  struct Side {
    std::vector<Load> loads;
    // Least and greatest offset of a word from the register, over all loads and lanes.
    std::int64_t low = 0, high = 0;
    std::uint64_t bits = 0;                      // OR of all offsets and lane differences, to check alignment
    std::array<std::int64_t, 4> of_eights = {};  // by group of eight lanes: its first lane's address minus lane 0's
  };
  Side left, right;
  std::vector<std::pair<std::int32_t, std::int32_t>> offsets;  // left and right offset of each product
};

// A second version of the program, for warps whose 32 lanes all run together (lockstep.h).
struct LockstepCode {
  std::vector<Op> ops;                    // empty: there is no lockstep code
  std::vector<std::uint32_t> first_op;    // by basic block
  std::vector<LaneOffsets> lane_offsets;  // index 0: all zero
  // By basic block. leaving: registers of which only lane 0 is stored; their other lanes are filled in when a warp
  // diverges at the block's end. entering: registers that must match their LaneOffsets for a warp to enter the block in
  // lockstep.
  std::vector<std::vector<LockstepRegister>> leaving, entering;
  std::vector<std::vector<LockstepRegister>> at_checks;  // by Op::offset of a check: registers to fill in if it fails
  std::vector<ProductRun> product_runs;                  // by Op::target of its first operation
  std::vector<std::uint32_t> only_lane_0;  // by PTX register: 1 + its lane_offsets if only lane 0 is stored; else 0
};

// By unit of a scheduler (ptx::Unit): for how long it is busy, in quarters of a cycle. Control instructions occupy no
// pipe, so their place holds the issue slots of all instructions. As long as a line of the host's cache, since the rows
// of a warp's basic blocks are added up as it enters them.
struct alignas(64) UnitTimes {
  static constexpr std::uint32_t kPerCycle = 4;
  static constexpr std::size_t kIssue = static_cast<std::size_t>(ptx::Unit::control);
  std::array<std::uint32_t, 16> of{};

  void add(const UnitTimes& more) {
    for (std::size_t u = 0; u < of.size(); ++u) of[u] += more.of[u];
  }
};
static_assert(ptx::kUnitCount <= 16);

// The machine instruction that performs a PTX load, store or atomic of shared memory.
struct SharedAccess {
  std::uint8_t bytes = 0;   // per lane; 0: those of the PTX instruction
  std::uint8_t before = 0;  // how many of them lie before the address of the PTX instruction
  // Into how many consecutive iterations of the instruction's loop the machine access reaches, because ptxas unrolled
  // the loop. It is performed in the iteration in which it begins at a multiple of `bytes`.
  std::uint8_t iterations = 1;
  // For one in how many of these machine accesses there is one more, as wide as the PTX instruction; 0: none.
  std::uint8_t repeated_every = 0;
  // An atomic that adds the number of lanes that want a word, in one go (MachineOp::counts_lanes).
  bool counts_lanes = false;
  // The PTX instruction on whose line the machine instruction is, if that is another one; else kNotMerged. Requests and
  // wavefronts count there.
  std::uint32_t merged_into = kNotMerged;
  static constexpr std::uint32_t kNotMerged = ~0u;
  bool is_merged() const { return merged_into != kNotMerged; }
  // Whether an execution of the PTX instruction with this address performs the machine access.
  bool is_performed_at(std::uint64_t address) const {
    return !is_merged() && (iterations == 1 || (address - before) % bytes == 0);
  }
  bool is_repeated_at(std::uint64_t address) const {
    return repeated_every != 0 && (address - before) / bytes % repeated_every == 0;
  }
};

struct SharedAccesses {
  std::vector<SharedAccess> of;  // by PTX instruction; empty without machine code
  bool found_all = false;        // whether every access was found in the machine code
};

struct Program {
  std::shared_ptr<const ptx::Function> linked;  // the kernel and its callees; null if it has none
  const ptx::Function* function = nullptr;      // the function that runs: `linked` or the module's function
  std::vector<BasicBlock> blocks;
  std::vector<Op> ops;
  LockstepCode lockstep;
  std::vector<Slot> register_slots;  // by PTX register
  // By PTX register: whether its value is fixed before a block starts; its slot then holds that value.
  std::vector<bool> fixed_registers;
  // Registers that may be read before they are written: on hardware, whatever a former thread left there.
  struct Unwritten {
    Slot slot = kNoSlot;
    std::uint32_t bytes = 0;  // of all lanes
    int reg = -1;             // its PTX register
  };
  std::vector<Unwritten> unwritten;
  std::uint32_t register_bytes = 0;             // per warp
  std::vector<Slot> matrix_slots;               // operands of mma (d, a, b, c) and wmma, too many for an Op
  std::vector<std::uint8_t> constants;          // each broadcast to 32 lanes
  std::vector<std::uint8_t> warp_constants;     // thread indices and similar values, one section per warp of the block
  std::uint32_t warp_constant_bytes = 0;        // size of one section
  std::uint32_t static_shared_bytes = 0;        // dynamic shared memory follows, 16-byte aligned
  std::uint32_t shared_bytes = 0;               // static, dynamic and reserved
  std::uint32_t reserved_shared_bytes = 0;      // the last bytes, for the system; none if the code does not ask where
  bool has_fences = false;                      // whether the code has memory fences
  bool has_block_atomics = false;               // whether atomics on global memory have the scope of a block
  bool polls_global = false;                    // whether an operation that may reach global memory spins
  bool looks_at_global = false;                 // whether a loop that only looks, or ends by a look, may wait there
  bool reads_flags = false;                     // whether warps may wait for each other elsewhere than at barriers
  bool reads_global_flags = false;              // the same, by an operation that may reach global memory
  bool turns_by_clock = false;                  // whether a block's warps take turns in order of time (exec/turns.h)
  std::vector<std::uint32_t> timed_operations;  // by basic block, see block_latency.h; empty without the timing model
  std::vector<UnitTimes> unit_times;            // by basic block, see block_latency.h; all 0 without the timing model
  std::vector<std::uint32_t> rests;             // by PTX instruction: rest_latencies(); empty without the timing model
  std::map<std::uint32_t, std::string> shared_variables;  // mangled name by start offset
  std::span<const SharedAccess> shared_accesses;          // by PTX instruction; empty: each is an access by itself
  SharedAccess shared_access(std::uint32_t pc) const {
    return shared_accesses.empty() ? SharedAccess{} : shared_accesses[pc];
  }
  std::uint32_t local_bytes = 0;      // per thread, including the recursion stack
  std::uint32_t stack_start = 0;      // where in local memory the recursion stack begins
  std::uint32_t parameter_bytes = 0;  // call parameters, at the start of local memory
  bool points_to_constants = false;   // LoweringInput::points_to_constants
  std::vector<CallSite> calls;
  std::vector<std::vector<CallTarget>> call_targets;      // by Op::offset of a call through a pointer
  std::map<std::uint64_t, std::string> function_names;    // by pointer value; empty without calls through pointers
  std::vector<std::vector<std::uint32_t>> branch_tables;  // by Op::offset of brx.idx: the blocks of its table
  // Slots written when a block starts: ctaid.{x,y,z} and smid; kNoSlot if the kernel does not read the value.
  std::array<Slot, 3> ctaid_slots{kNoSlot, kNoSlot, kNoSlot};
  Slot smid_slot = kNoSlot;
  // Location of the function's .param and .local variables in local memory, by name.
  std::map<std::string, std::pair<std::uint32_t, std::uint32_t>, std::less<>> locals;  // offset, bytes
};

}  // namespace roofwalk::vgpu
