// The class that lowers a validated PTX function to a Program. lower.cpp lays out memory and walks the blocks;
// lower_values.cpp lowers register instructions, lower_memory.cpp memory and synchronization, lower_calls.cpp calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "common/base/result.h"
#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/lowering/analysis/speculation.h"
#include "common/vgpu/lowering/lower.h"
#include "common/vgpu/lowering/register_layout.h"
#include "common/vgpu/program/kernel_code.h"
#include "common/vgpu/program/operands.h"
#include "common/vgpu/program/program.h"
#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

// Lowers one kernel for one launch; used once.
class Lowering {
 public:
  Lowering(const LoweringInput& input, const KernelCode& code);

  Result<Program> run();

 private:
  using Function = ptx::Function;
  using Instruction = ptx::Instruction;
  using Operand = ptx::Operand;
  using Type = ptx::Type;
  using Variable = ptx::Variable;

  void lay_out_memory();
  void reserve_shared();
  void place_local(const Variable& variable, std::uint32_t& at);
  void find_frames();
  // The current size of the stack frame that contains a local variable of a recursive function; nullptr for other
  // variables, such as the function's parameters (calls save these instead).
  std::uint32_t* frame_of(const std::string& name);
  // The value of a symbol: an offset in its window, or an address.
  std::uint64_t symbol_value(const std::string& name) const;
  // Finds the registers whose value is fixed before a block starts: parameters, thread and block indices, constants and
  // copies of these. Readers of such a register use the slot of its value, and nothing is emitted for the instruction
  // that writes it.
  void find_fixed_registers();
  // The slot of the value that an instruction writes as its only result, if that value is fixed; else kNoSlot.
  Slot fixed_value(const Instruction& in);
  // The slot of a source operand whose lanes have `bytes` (0: a predicate). kNoSlot: not supported.
  Slot source(const Operand& operand, std::uint32_t bytes);
  std::uint32_t register_bytes(const Operand& operand, Type fallback) const;
  Error unsupported(const Instruction& in, std::string_view what = {}) const;
  Op base_op(const Instruction& in, std::uint32_t pc, std::uint32_t block);
  void emit(Op op, Handler handler);
  Status lower_block(std::uint32_t index);
  void emit_taken_up(const Op& entry);
  void emit_picks(std::uint32_t pc, std::uint32_t block);
  void emit_hold(const Op& swap, std::uint32_t bytes);
  void emit_end_of_turn(Handler handler, std::uint32_t pc, std::uint32_t block, bool behind = false);
  // The seed of the order of the ways from a block, if they may run in any order (find_ways_in_any_order()); else 0.
  std::int64_t seed_of_ways(std::uint32_t block);
  std::uint32_t block_at(std::uint32_t pc) const;
  Status lower_instruction(const Instruction& in, std::uint32_t pc, std::uint32_t block);
  Status lower_control(const Instruction& in, Op op, std::uint32_t pc, std::uint32_t block);
  Status lower_branch(const Instruction& in, Op op, std::uint32_t pc, std::uint32_t block);
  Status lower_indexed_branch(const Instruction& in, Op op, std::uint32_t block);
  Status lower_cache_policy(const Instruction& in, Op op);
  Status lower_space_query(const Instruction& in, Op op);

  // lower_calls.cpp
  Status lower_call(const Instruction& in, Op op, std::uint32_t block);
  Status lower_pointer_call(const Instruction& in, Op op);
  // The function whose code begins at a label.
  const LinkedPart& part_at(const Operand& label) const;
  // Adds the CallSite of a call for one of its possible callees.
  Status add_call_site(const Instruction& in, const LinkedPart& part);
  // Whether an instruction belongs to the kernel or to a function reachable from it without calls through pointers.
  bool is_called_by_name(std::uint32_t pc) const;
  CallSite::Place place(const Operand& operand) const;
  std::uint64_t passed_bytes(const Instruction& call) const;  // in both directions, of a lane
  Status lower_extern_call(const Instruction& in, const Op& op);

  // lower_values.cpp
  Status lower_alu(const Instruction& in, Op op);
  Status lower_carry(const Instruction& in, Op op);
  Status lower_convert(const Instruction& in, Op op);
  Status lower_move(const Instruction& in, Op op);
  // `mov.u64 %rd, __local_depot0` gives an offset within local memory, as nvcc expects.
  Status lower_local_address(const Instruction& in, Op op, const Operand& from);
  Status lower_cvta(const Instruction& in, Op op);
  Status lower_select(const Instruction& in, Op op);
  Status lower_compare(const Instruction& in, Op op);
  Status lower_set(const Instruction& in, Op op);
  Status lower_number_test(const Instruction& in, Op op);
  Status lower_exchange(const Instruction& in, Op op);
  Status lower_shuffle(const Instruction& in, Op op);
  Status lower_vote(const Instruction& in, Op op);

  // lower_memory.cpp
  // Fills s[4], offset and count (the width of the address register) from [base + offset].
  bool set_address(const Operand& address, Op& op);
  // Like set_address(), for a variable in a stack frame: emits an operation that computes the address into a register.
  bool set_frame_address(const Operand& address, Op& op);
  bool is_kernel_parameter(const Operand& address) const;
  Status lower_memory(const Instruction& in, Op op);
  // Notes that an instruction may wait for a write of another warp.
  void note_flag_reader(const Instruction& in, bool reads);
  bool may_read_flag(std::uint32_t pc);
  // Whether a value read from memory, where a copy may have put it, decides a way.
  bool copies_may_decide();
  void note_polls_by_plain_reads();
  bool sees_others(std::uint32_t pc);
  bool may_see_others(std::uint32_t pc);
  bool only_looks_at_global();
  void mark_loads_that_look();
  bool only_looks(std::uint32_t first, std::uint32_t last) const;
  bool has_many_looks();
  bool ends_turn_before(const ptx::Instruction& in, std::uint32_t pc, std::uint32_t block);
  bool may_end_turn_before(const ptx::Instruction& in);
  bool may_end_turn_behind(const ptx::Instruction& in);
  bool anybody_looks();
  bool polls_global();
  bool is_rung(std::uint32_t pc);
  bool is_in_loop(std::uint32_t block);
  bool glances(std::uint32_t pc, std::uint32_t block);
  static bool may_look(const ptx::Instruction& in);
  bool load_polls(std::uint32_t pc);
  bool polls_plainly(std::uint32_t pc, std::uint32_t block);
  void emit_check_of_wait(const ptx::Instruction& branch, std::uint32_t block);
  bool picks(std::uint32_t pc);
  bool ends_loops(std::uint32_t pc);
  // Whether an instruction is one of several looks at a flag of other blocks in front of a loop that polls, and not the
  // first. (libcu++'s waits begin with 17 of them.) As in a loop, the writer has a turn in between.
  bool looks_again(std::uint32_t pc, std::uint32_t block);
  bool load_guesses(std::uint32_t pc);
  bool load_peeks(std::uint32_t pc);
  // Kernel parameters are known at launch, so loading one is a move of a constant.
  Status lower_parameter(const Instruction& in, const Op& op, const Operand& address,
                         const std::vector<Operand>& parts);
  // The slot of element `i` of a parameter load, for a register of this many bytes; kNoSlot past the end of the
  // parameters.
  Slot parameter(const Instruction& in, const Operand& address, std::size_t i, std::uint32_t register_bytes);
  Status lower_matrix_load(const Instruction& in, Op op);
  Status lower_matrix_multiply(const Instruction& in, Op op);
  Status lower_fragment(const Instruction& in, Op op);
  Status lower_async_copy(const Instruction& in, Op op);
  Status lower_async_group(const Instruction& in, Op op);
  Status lower_atomic(const Instruction& in, Op op);
  // Whether an instruction is a volatile, relaxed, acquire or release access to memory that other warps share, an
  // atomic of which the same may be true, or a plain store to what a lock may protect.
  bool may_meet_others(const Instruction& in);
  // Whether others are to come in front of such an instruction in most tries, not in a few.
  bool leaves_time(const Instruction& in, std::uint32_t block);
  bool swaps_words();
  bool may_end_update(const Instruction& store);
  // Whether such an instruction does nothing but write.
  bool only_writes(const Instruction& in);
  bool loads_flags();
  bool decides_way(const Instruction& in, States states);
  // Whether any instruction reads the result.
  bool is_read(const Operand& result);
  bool is_in_polling_loop(std::uint32_t block);
  Status lower_barrier(const Instruction& in, Op op);
  Status lower_mbarrier(const Instruction& in, Op op);

  Slot result(const Operand& operand) const {
    return operand.kind == Operand::Kind::reg ? slots_.of_register(operand.index) : kNoSlot;
  }
  // Whether an instruction belongs to a called function, not to the kernel.
  bool is_called(std::uint32_t pc) const { return !linked_.parts.empty() && pc >= linked_.parts[0].count; }
  Status emit_ok(const Op& op, Handler handler) {
    emit(op, handler);
    return kOk;
  }

  const LoweringInput& input_;
  const LinkedKernel& linked_;
  const Function& function_;  // with its callees, if it has any
  const SharedLayout& shared_;
  const BlockUses& uses_;
  const std::vector<int>& unwritten_;  // KernelCode::unwritten
  ParameterLayout parameters_;
  std::map<std::string_view, std::size_t> parameter_numbers_;  // by name
  Program program_;
  Slots slots_{input_, program_};
  std::map<std::string_view, std::size_t> frames_;    // by name of a recursive part's local variable: the part
  std::map<std::size_t, std::uint32_t> frame_bytes_;  // by part: size of a recursive function's stack frame
  std::uint32_t next_memory_ = 0;                     // next index in the current block's BasicBlock::memory
  // These are computed when they are first needed. loops_of_atomics_: by basic block, whether it is in a loop
  // whose only accesses to global memory are atomics with a result. decides_way_: registers_that_decide(), with and
  // without states. read_: by register, whether any instruction reads it.
  std::vector<bool> loops_of_atomics_, decides_way_, decides_way_beside_states_, read_;
  // By basic block: whether it is in a loop, and in one that does nothing but look (polls_plainly()).
  std::vector<bool> loops_, loops_of_looks_;
  std::map<int, std::vector<bool>> loops_of_places_;    // the latter, without change of an address register
  std::optional<bool> polls_global_, anybody_looks_;    // polls_global(), anybody_looks()
  std::optional<bool> many_looks_, copies_may_decide_;  // has_many_looks(), copies_may_decide()
  std::vector<bool> rungs_;                             // by instruction: is_rung(), if there are many looks
  bool has_looked_ = false;                             // looks_again(): there was a look before
  Speculation speculation_;                             // of sanitized runs
  std::optional<std::uint32_t> last_spinning_block_;    // of those lowered so far: with an operation that spins
  std::optional<bool> loads_flags_, swaps_words_;       // loads_flags(), swaps_words()
  std::optional<std::set<std::tuple<std::string_view, int, std::int64_t>>> updated_places_;  // may_end_update()
  std::optional<std::vector<bool>> guesses_;  // by instruction: find_guesses(), computed at the first plain load
  // By instruction: find_polling_loads(), computed at the first volatile load, and find_what_ends_loops()
  // (loop_ends.h).
  std::vector<bool> polling_loads_, ending_loops_;
  std::vector<bool> picks_;                 // by instruction: find_what_picks()
  std::vector<bool> any_order_;             // by basic block: find_ways_in_any_order(), computed at the first branch
  std::optional<std::vector<bool>> peeks_;  // by instruction: find_peeks(), computed at the first relaxed load
};

}  // namespace roofwalk::vgpu
