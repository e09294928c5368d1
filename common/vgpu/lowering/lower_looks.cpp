// Which instructions may look at what other warps and blocks have done, and wait for it.
#include "common/vgpu/lowering/lowering.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/vgpu/exec/ops/plain_waits.h"
#include "common/vgpu/lowering/analysis/loop_ends.h"
#include "common/vgpu/lowering/analysis/polling.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

namespace {

bool swaps_a_word(const Instruction& in) {
  return ptx::info(in.opcode).form == Form::atomic &&
         (in.atomic == ptx::AtomicOp::cas || in.atomic == ptx::AtomicOp::exch);
}

// An address as the code spells it.
std::tuple<std::string_view, int, std::int64_t> place_in_code(const Operand& address) {
  return {address.symbol, address.index, address.offset};
}

}  // namespace

void Lowering::note_flag_reader(const Instruction& in, bool reads) {
  program_.reads_flags |= reads;
  program_.reads_global_flags |= reads && reaches_global(in);
}

// Whether a load or copy that is not volatile may be the one that reads a flag: its value, or that of any reader of
// memory where the copy may have written, decides a way.
bool Lowering::may_read_flag(std::uint32_t pc) {
  const Instruction& in = function_.instructions[pc];
  if (!reaches_global(in) || in.is_volatile) return false;
  if (in.async == ptx::AsyncMode::copy) return copies_may_decide();
  const Form form = ptx::info(in.opcode).form;
  return (form == Form::load || form == Form::fragment_load) && decides_way(in, States::followed) && sees_others(pc);
}

bool Lowering::copies_may_decide() {
  if (copies_may_decide_) return *copies_may_decide_;
  const auto decides = [&](const Instruction& in) {
    switch (ptx::info(in.opcode).form) {
      case Form::load:
      case Form::matrix_load:
      case Form::fragment_load:
      case Form::atomic:
      case Form::mbarrier:
        return decides_way(in, States::followed);
      default:
        return false;
    }
  };
  const auto& code = function_.instructions;
  return *(copies_may_decide_ = std::any_of(code.begin(), code.end(), decides));
}

// Whether what other blocks have written since the launch matters to an instruction that reads memory. Non-coherent
// loads (ld.global.nc) promise that nobody writes what they read. Those of which it depends whether a loop ends may
// break this.
bool Lowering::sees_others(std::uint32_t pc) { return !function_.instructions[pc].non_coherent || ends_loops(pc); }

// Whether an instruction may read what other blocks have written since the launch.
bool Lowering::may_see_others(std::uint32_t pc) {
  const Instruction& in = function_.instructions[pc];
  const Form form = ptx::info(in.opcode).form;
  const bool reads = form == Form::load || form == Form::fragment_load || in.async == ptx::AsyncMode::copy;
  return reads && reaches_global(in) && sees_others(pc);
}

// Whether a warp may wait for other blocks in a loop that does nothing but look, or of whose looks it depends whether
// it ends, or in code with many looks one after another. A single look in any other code, at a counter say, goes on
// whatever it sees.
bool Lowering::only_looks_at_global() {
  const auto looks = [](const Instruction& in) {
    const Form form = ptx::info(in.opcode).form;
    return form == Form::load || sleeps(in) || (form == Form::store && in.space == Space::local);
  };
  const std::vector<bool> loops = find_loops(program_.blocks, [&](const BasicBlock& block) {
    return std::all_of(block.memory.begin(), block.memory.end(),
                       [&](std::uint32_t pc) { return looks(function_.instructions[pc]); });
  });
  for (std::size_t b = 0; b < loops.size(); ++b) {
    for (const std::uint32_t pc : program_.blocks[b].memory) {
      const Instruction& in = function_.instructions[pc];
      if (!program_.reads_global_flags || !may_see_others(pc)) continue;
      if (ends_loops(pc) || (loops[b] && decides_way(in, States::followed))) return true;
    }
  }
  return has_many_looks();
}

// In a kernel where warps may wait for other blocks: sets Op::ends_loops of loads that may be such looks.
void Lowering::mark_loads_that_look() {
  for (Op& op : program_.ops) {
    if (op.instruction == nullptr || !may_see_others(op.pc)) continue;
    op.ends_loops = ends_loops(op.pc) || decides_way(*op.instruction, States::followed);
  }
}

// Whether the code outside of loops has so many looks that a warp may wait there.
bool Lowering::has_many_looks() {
  if (many_looks_) return *many_looks_;
  constexpr std::size_t kManyLooks = 16;
  const auto looks = [&](std::uint32_t pc) {
    const Instruction& in = function_.instructions[pc];
    return (!in.non_coherent && may_see_others(pc)) ||
           (ptx::info(in.opcode).form == Form::atomic && reaches_global(in) && may_look(in));
  };
  std::vector<std::uint32_t> in_no_loop;
  for (std::uint32_t b = 0; b < program_.blocks.size(); ++b) {
    for (const std::uint32_t pc : program_.blocks[b].memory) {
      if (!is_in_loop(b) && looks(pc)) in_no_loop.push_back(pc);
    }
  }
  many_looks_ = false;
  if (in_no_loop.size() < kManyLooks) return false;
  const std::vector<bool> choose = find_what_chooses_ways(function_, program_.blocks, linked_.parts);
  std::erase_if(in_no_loop, [&](std::uint32_t pc) { return !choose[pc]; });
  if (in_no_loop.size() < kManyLooks) return false;
  rungs_.assign(choose.size(), false);
  for (const std::uint32_t pc : in_no_loop) rungs_[pc] = true;
  return *(many_looks_ = true);
}

// Whether a warp's turn ends in front of an instruction, in a run that counts: of one that tells others, where turns go
// by time; and of one that tells other blocks, so that all warps that run at the same time have looked before. What a
// look finds depends on the time then, and not on which block has its turn first. A chain of blocks that look back
// would else be one of all blocks.
bool Lowering::ends_turn_before(const Instruction& in, std::uint32_t pc, std::uint32_t block) {
  if (program_.turns_by_clock && (may_tell(in, Told::waiting) || looks_again(pc, block))) return true;
  return input_.work_mode.counts && may_tell(in, Told::blocks) && polls_global();
}

// In a run in which turns end by chance: whether a warp's turn may end in front of an instruction. Its fences separate
// what it tells others.
bool Lowering::may_end_turn_before(const Instruction& in) {
  return input_.turns_seed != 0 && (may_meet_others(in) || ptx::info(in.opcode).form == Form::fence);
}

// The same behind it: others find there what the instruction tells them, but not yet what the warp does next, such as
// to store the data that a flag has announced too early.
bool Lowering::may_end_turn_behind(const Instruction& in) {
  return input_.turns_seed != 0 && may_tell(in, Told::others) && anybody_looks();
}

// Whether any instruction may look at what other warps have written.
bool Lowering::anybody_looks() {
  if (anybody_looks_) return *anybody_looks_;
  const auto& code = function_.instructions;
  anybody_looks_ = loads_flags() || std::any_of(code.begin(), code.end(), [&](const Instruction& in) {
                     return ptx::info(in.opcode).form == Form::atomic && is_read(in.operands[0]);
                   });
  return *anybody_looks_;
}

// Whether any instruction may wait for what other blocks write to global memory.
bool Lowering::polls_global() {
  if (polls_global_) return *polls_global_;
  polls_global_ = false;
  for (std::uint32_t pc = 0; pc < function_.instructions.size() && !*polls_global_; ++pc) {
    const Instruction& in = function_.instructions[pc];
    const Form form = ptx::info(in.opcode).form;
    const bool may_poll = form == Form::atomic ? reaches_global(in) && may_look(in) : may_see_others(pc);
    polls_global_ = may_poll && ((in.is_volatile && form == Form::load && load_polls(pc)) || ends_loops(pc));
  }
  return *polls_global_;
}

// Whether an instruction is one of many looks outside of loops.
bool Lowering::is_rung(std::uint32_t pc) { return has_many_looks() && rungs_[pc]; }

bool Lowering::is_in_loop(std::uint32_t block) {
  if (loops_.empty()) loops_ = find_loops(program_.blocks, [](const BasicBlock&) { return true; });
  return loops_[block];
}

// Whether these blocks do nothing with memory but look at it.
bool Lowering::only_looks(std::uint32_t first, std::uint32_t last) const {
  constexpr std::uint32_t kMostBlocks = 64;  // of a loop that waits
  if (last - first >= kMostBlocks) return false;
  for (std::uint32_t b = first; b <= last; ++b) {
    for (const std::uint32_t pc : program_.blocks[b].memory) {
      const Instruction& in = function_.instructions[pc];
      const Form form = ptx::info(in.opcode).form;
      if (form != Form::load && form != Form::atomic && !sleeps(in)) return false;
    }
  }
  return true;
}

// Whether a volatile load is one of few looks that are made once. Such a look waits for nobody.
bool Lowering::glances(std::uint32_t pc, std::uint32_t block) {
  return !load_polls(pc) && !is_in_loop(block) && !is_called(pc) && !has_many_looks();
}

// Inline PTX may poll global memory by plain loads or copies, in a loop or by recursion.
void Lowering::note_polls_by_plain_reads() {
  const bool calls = !linked_.parts.empty();
  const std::vector<bool> loops = find_loops(program_.blocks, [](const BasicBlock&) { return true; });
  for (std::size_t b = 0; b < loops.size(); ++b) {
    for (const std::uint32_t pc : program_.blocks[b].memory) {
      if (program_.reads_global_flags || (!loops[b] && !calls)) break;
      const Instruction& in = function_.instructions[pc];
      note_flag_reader(in, may_read_flag(pc));
    }
  }
}

bool Lowering::load_polls(std::uint32_t pc) {
  const bool calls = !linked_.parts.empty();
  if (polling_loads_.empty())
    polling_loads_ = find_polling_loads(function_, program_.blocks, calls ? linked_.parts[0].count : ~0u);
  return polling_loads_[pc];
}

bool Lowering::picks(std::uint32_t pc) {
  if (picks_.empty()) picks_ = find_what_picks(function_);
  return picks_[pc];
}

bool Lowering::ends_loops(std::uint32_t pc) {
  if (ending_loops_.empty()) ending_loops_ = find_what_ends_loops(function_, program_.blocks, linked_.parts);
  return ending_loops_[pc];
}

// Whether a load or copy that is not volatile is made in a loop that does nothing but look, always at the same place,
// until its value ends the loop. What another block writes there comes from L2. On a chip, L1 may serve the old value
// for ever; the loop ends only if it does not.
bool Lowering::polls_plainly(std::uint32_t pc, std::uint32_t block) {
  const Instruction& in = function_.instructions[pc];
  if (!input_.work_mode.counts || !may_see_others(pc)) return false;
  const auto only_looks = [&](const BasicBlock& part) {
    return std::all_of(part.memory.begin(), part.memory.end(), [&](std::uint32_t each) {
      const Instruction& other = function_.instructions[each];
      const Form form = ptx::info(other.opcode).form;
      return form == Form::load || form == Form::async_copy || sleeps(other) || other.space == Space::local;
    });
  };
  if (loops_of_looks_.empty()) loops_of_looks_ = find_loops(program_.blocks, only_looks);
  if (!loops_of_looks_[block]) return false;
  const int address = in.operands[1].index;
  const auto keeps_place = [&](const BasicBlock& part) {
    bool keeps = only_looks(part);
    for (std::uint32_t each = part.first; each < part.first + part.count; ++each)
      for_each_result(function_.instructions[each], [&](int reg) { keeps = keeps && reg != address; });
    return keeps;
  };
  constexpr std::size_t kMostAddresses = 64;
  const auto known = loops_of_places_.find(address);
  if (known == loops_of_places_.end() && loops_of_places_.size() == kMostAddresses) return false;
  const std::vector<bool>& loops =
      known != loops_of_places_.end()
          ? known->second
          : loops_of_places_.emplace(address, find_loops(program_.blocks, keeps_place)).first->second;
  return loops[block] && ends_loops(pc);
}

// In front of a branch back to a wait by plain loads: a check that no lane takes it.
void Lowering::emit_check_of_wait(const Instruction& branch, std::uint32_t block) {
  if (!input_.work_mode.sanitized) return;
  const std::optional<std::uint32_t> load = find_plain_wait(function_, program_.blocks[block]);
  if (!load) return;
  Op op;
  op.run = op_plain_wait;
  op.pc = *load;
  op.block = block;
  op.guard = slots_.of_register(branch.guard);
  op.guard_negated = branch.guard_negated;
  program_.ops.push_back(op);
}

bool Lowering::looks_again(std::uint32_t pc, std::uint32_t block) {
  const Instruction& in = function_.instructions[pc];
  if (ptx::info(in.opcode).form != Form::load || !in.is_volatile || !reaches_global(in) || !load_polls(pc))
    return false;
  return !is_in_loop(block) && std::exchange(has_looked_, true);
}

// Whether an atomic whose result decides a way polls: its basic block is in a loop whose only accesses to global memory
// are atomics with a result.
bool Lowering::is_in_polling_loop(std::uint32_t block) {
  if (loops_of_atomics_.empty()) {
    loops_of_atomics_ = find_loops(program_.blocks, [&](const BasicBlock& part) {
      return std::all_of(part.memory.begin(), part.memory.end(), [&](std::uint32_t pc) {
        const Instruction& in = function_.instructions[pc];
        return ptx::info(in.opcode).form == ptx::Form::atomic || sleeps(in) || !reaches_global(in);
      });
    });
  }
  return loops_of_atomics_[block];
}

// Whether any load of the code may be one of a flag or a count that other warps write.
bool Lowering::loads_flags() {
  if (loads_flags_) return *loads_flags_;
  const auto& code = function_.instructions;
  loads_flags_ = std::any_of(code.begin(), code.end(), [](const Instruction& in) {
    return ptx::info(in.opcode).form == Form::load && in.is_volatile;
  });
  return *loads_flags_;
}

bool Lowering::only_writes(const Instruction& in) {
  const Form form = ptx::info(in.opcode).form;
  return form == Form::store || form == Form::reduction || (form == Form::atomic && !is_read(in.operands[0]));
}

bool Lowering::may_meet_others(const Instruction& in) {
  if (in.space != Space::shared && !reaches_global(in)) return false;
  const Form form = ptx::info(in.opcode).form;
  if (form == Form::load) return in.is_volatile;
  if (form == Form::store) return in.is_volatile || may_end_update(in);
  if (form != Form::atomic && form != Form::reduction) return false;
  return !only_writes(in) || swaps_words() || loads_flags();
}

// Of a write, the others then do all that they do with the old value. A compare-and-swap that is tried once then fails;
// one in a loop fails often enough by itself.
bool Lowering::leaves_time(const Instruction& in, std::uint32_t block) {
  return only_writes(in) || (in.atomic == ptx::AtomicOp::cas && !is_in_loop(block));
}

// Whether any code may take a lock or a ticket, as a compare-and-swap or an exchange does.
bool Lowering::swaps_words() {
  const auto& code = function_.instructions;
  if (!swaps_words_) swaps_words_ = std::any_of(code.begin(), code.end(), swaps_a_word);
  return *swaps_words_;
}

// Whether a plain store to global memory may be the end of an update, or open a lock: the code also loads or swaps
// words there. Races in global memory are not found, but an update that another warp has made since the load is lost.
bool Lowering::may_end_update(const Instruction& store) {
  if (!reaches_global(store)) return false;
  if (!updated_places_) {
    updated_places_.emplace();
    for (const Instruction& in : function_.instructions) {
      const bool loads = ptx::info(in.opcode).form == Form::load && !in.non_coherent;
      if ((loads || swaps_a_word(in)) && reaches_global(in)) updated_places_->insert(place_in_code(in.operands[1]));
    }
  }
  return updated_places_->contains(place_in_code(store.operands[0]));
}

bool Lowering::decides_way(const Instruction& in, States states) {
  std::vector<bool>& by_register = states == States::followed ? decides_way_ : decides_way_beside_states_;
  if (by_register.empty()) by_register = registers_that_decide(function_, states);
  bool decides = false;
  for_each_result(in, [&](int reg) { decides = decides || by_register[static_cast<std::size_t>(reg)]; });
  return decides;
}

// Whether an atomic may be one that looks at a word (is_look() in requests/sync_points.cpp).
bool Lowering::may_look(const Instruction& in) {
  using ptx::AtomicOp;
  const Operand& value = in.operands[2];
  if (value.kind != Operand::Kind::immediate) return true;
  if (in.atomic == AtomicOp::inc || in.atomic == AtomicOp::dec) return value.bits == 0;
  return in.atomic != AtomicOp::add || value.bits == 0;
}

}  // namespace roofwalk::vgpu
