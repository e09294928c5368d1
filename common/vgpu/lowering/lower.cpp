// Lowers a validated PTX function to a Program for one launch: slots for registers, constants for all values that the
// launch fixes, and a handler for each instruction.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "common/vgpu/exec/divergent_barrier.h"
#include "common/vgpu/exec/turns.h"
#include "common/vgpu/lowering/lockstep_code.h"
#include "common/vgpu/lowering/lowering.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {

using ptx::Form;
using ptx::Function;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using ptx::Variable;

Lowering::Lowering(const LoweringInput& input, const KernelCode& code)
    : input_(input),
      linked_(code.linked),
      function_(*code.function),
      shared_(code.shared),
      uses_(*code.uses),
      unwritten_(code.unwritten),
      parameters_(parameter_layout(*input.function)) {
  program_.linked = linked_.function;
  program_.function = &function_;
  program_.blocks = code.blocks;
  program_.unit_times.resize(code.blocks.size());
  for (std::size_t i = 0; i < function_.parameters.size(); ++i)
    parameter_numbers_.try_emplace(function_.parameters[i].name, i);
}

Result<Program> Lowering::run() {
  program_.points_to_constants = input_.points_to_constants || input_.parameters_address != 0;
  lay_out_memory();
  program_.register_slots.assign(function_.registers.size(), kNoSlot);
  program_.fixed_registers.assign(function_.registers.size(), false);
  find_fixed_registers();
  ROOFWALK_TRY_STATUS(slots_.lay_out_registers());
  if (input_.work_mode.sanitized) speculation_ = find_speculation(function_, program_.blocks, uses_, linked_.parts);
  program_.turns_by_clock =
      input_.work_mode.counts && std::any_of(function_.instructions.begin(), function_.instructions.end(), sleeps);
  for (std::uint32_t b = 0; b < program_.blocks.size(); ++b) ROOFWALK_TRY_STATUS(lower_block(b));
  note_polls_by_plain_reads();
  program_.looks_at_global = program_.looks_at_global || only_looks_at_global();
  if (program_.looks_at_global) mark_loads_that_look();
  for (const int reg : unwritten_) {
    if (slots_.is_fixed(reg) || slots_.of_register(reg) == kNoSlot) continue;
    const int bytes = ptx::size_bytes(function_.registers[static_cast<std::size_t>(reg)].type);
    program_.unwritten.push_back({slots_.of_register(reg), static_cast<std::uint32_t>(bytes) * kWarpSize, reg});
  }
  slots_.finish();
  program_.lockstep = make_lockstep_code(program_);
  return std::move(program_);
}

void Lowering::lay_out_memory() {
  program_.static_shared_bytes = shared_.static_bytes;
  for (const auto& [name, offset] : shared_.offsets) program_.shared_variables.emplace(offset, name);
  program_.shared_bytes = shared_.static_bytes;
  if (input_.dynamic_shared_bytes != 0) {
    const std::uint64_t wanted = std::uint64_t{shared_.dynamic_at} + input_.dynamic_shared_bytes;
    program_.shared_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, ~0u));
  }
  reserve_shared();
  // Call parameters come first, so that recursive calls can save them in one piece. Local variables of recursive
  // functions are on a stack, at offsets within their frame.
  find_frames();
  std::uint32_t at = 0;
  for (const Variable& variable : function_.variables) {
    if (variable.space == Space::param) place_local(variable, at);
  }
  program_.parameter_bytes = at = round_up(at, 16);
  for (const Variable& variable : function_.variables) {
    if (variable.space == Space::local && frame_of(variable.name) == nullptr) place_local(variable, at);
  }
  program_.stack_start = program_.local_bytes = at;
  const bool recurses =
      std::any_of(linked_.parts.begin(), linked_.parts.end(), [](const LinkedPart& part) { return part.recursive; });
  if (!recurses) return;
  program_.stack_start = round_up(at, 16);
  program_.local_bytes = program_.stack_start + kStackBytes;
  for (const Variable& variable : function_.variables) {
    if (variable.space != Space::local) continue;
    if (std::uint32_t* frame = frame_of(variable.name)) place_local(variable, *frame);
  }
}

// As on sm_80, the system's part of shared memory lies behind the block's own, at the next unit of allocation.
void Lowering::reserve_shared() {
  const auto& code = function_.instructions;
  const bool is_used = std::any_of(code.begin(), code.end(), [](const Instruction& in) {
    return std::any_of(in.operands.begin(), in.operands.end(), [](const Operand& operand) {
      return operand.kind == Operand::Kind::special && operand.special >= ptx::SpecialRegister::reserved_smem_begin;
    });
  });
  const std::uint32_t own = program_.shared_bytes;
  if (!is_used || own >= 1u << 30) return;
  program_.shared_bytes = round_up(own, kSharedUnitBytes) + kReservedSharedBytes;
  program_.reserved_shared_bytes = program_.shared_bytes - own;
}

void Lowering::place_local(const Variable& variable, std::uint32_t& at) {
  at = round_up(at, static_cast<std::uint32_t>(std::max(variable.align_bytes, 8)));
  const auto bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(variable.size_bytes, 1u << 24));
  program_.locals[variable.name] = {at, bytes};
  at = std::min(at + bytes, 1u << 24);
}

void Lowering::find_frames() {
  for (const Variable& variable : function_.variables) {
    const std::size_t mark = variable.name.rfind('@');
    if (variable.space != Space::local || mark == std::string::npos) continue;
    const auto part = static_cast<std::size_t>(std::atoi(variable.name.c_str() + mark + 1));
    if (part < linked_.parts.size() && linked_.parts[part].recursive) frames_.try_emplace(variable.name, part);
  }
}

std::uint32_t* Lowering::frame_of(const std::string& name) {
  const auto found = frames_.find(name);
  return found == frames_.end() ? nullptr : &frame_bytes_[found->second];
}

std::uint64_t Lowering::symbol_value(const std::string& name) const {
  if (const auto it = shared_.offsets.find(name); it != shared_.offsets.end()) return it->second;
  if (const auto it = program_.locals.find(name); it != program_.locals.end()) return it->second.first;
  const auto parameter = parameter_numbers_.find(name);
  if (parameter != parameter_numbers_.end()) return input_.parameters_address + parameters_.offsets[parameter->second];
  return input_.address_of(name);
}

void Lowering::find_fixed_registers() {
  std::vector<int> writes(function_.registers.size());
  for (const Instruction& in : function_.instructions)
    for_each_result(in, [&](int reg) { ++writes[static_cast<std::size_t>(reg)]; });
  for (const Instruction& in : function_.instructions) {
    if (in.guard >= 0 || in.operands.empty() || in.operands[0].kind != Operand::Kind::reg) continue;
    const int reg = in.operands[0].index;
    if (result_count(in) != 1 || writes[static_cast<std::size_t>(reg)] != 1) continue;
    if (const Slot at = fixed_value(in); at != kNoSlot) slots_.fix_register(reg, at);
  }
}

Slot Lowering::fixed_value(const Instruction& in) {
  const Form form = ptx::info(in.opcode).form;
  const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
  const std::uint32_t own_bytes = register_bytes(in.operands[0], in.type);
  if (form == Form::load) {
    const bool known = in.space == Space::param && is_kernel_parameter(in.operands[1]);
    return known ? parameter(in, in.operands[1], 0, own_bytes) : kNoSlot;
  }
  const bool copies =
      form == Form::move || (form == Form::cvta && in.space != Space::shared && in.space != Space::local);
  if (!copies || in.type == Type::pred || bytes != own_bytes) return kNoSlot;
  const Operand& from = in.operands[1];
  switch (from.kind) {
    case Operand::Kind::reg:
      return slots_.is_fixed(from.index) && register_bytes(from, in.type) == bytes ? source(from, bytes) : kNoSlot;
    case Operand::Kind::immediate:
      return source(from, bytes);
    case Operand::Kind::special:
      return bytes == 4 && from.special != ptx::SpecialRegister::gridid ? source(from, bytes) : kNoSlot;
    case Operand::Kind::variable:
      return program_.locals.contains(from.symbol) ? kNoSlot : source(from, bytes);
    default:
      return kNoSlot;
  }
}

Slot Lowering::source(const Operand& operand, std::uint32_t bytes) {
  switch (operand.kind) {
    case Operand::Kind::reg:
      return slots_.of_register(operand.index);
    case Operand::Kind::immediate:
      // A predicate's 32 lanes are bits of one word: here all or none are set.
      return bytes == 0 ? slots_.constant(operand.bits != 0 ? kAllLanes : 0u, 4) : slots_.constant(operand.bits, bytes);
    case Operand::Kind::special:
      return slots_.special(operand);
    case Operand::Kind::variable:
    case Operand::Kind::function:
      return slots_.constant(symbol_value(operand.symbol) + static_cast<std::uint64_t>(operand.offset), bytes);
    default:
      return kNoSlot;
  }
}

std::uint32_t Lowering::register_bytes(const Operand& operand, Type fallback) const {
  if (operand.kind == Operand::Kind::reg) {
    return static_cast<std::uint32_t>(ptx::size_bytes(function_.registers[operand.index].type));
  }
  return static_cast<std::uint32_t>(std::max(ptx::size_bytes(fallback), 2));
}

Error Lowering::unsupported(const Instruction& in, std::string_view what) const {
  return Error{.message =
                   fmt::format("PTX line {}: `{}{}`{}{} is not supported by the virtual GPU yet", in.ptx_line,
                               ptx::info(in.opcode).mnemonic, in.type == Type::none ? "" : ptx::type_name(in.type),
                               what.empty() ? "" : " ", what)};
}

Op Lowering::base_op(const Instruction& in, std::uint32_t pc, std::uint32_t block) {
  Op op;
  op.instruction = &in;
  op.pc = pc;
  op.block = block;
  if (leaves_outcome(in)) op.memory = next_memory_++;
  return op;
}

void Lowering::emit(Op op, Handler handler) {
  op.run = handler;
  const Instruction& in = *op.instruction;
  if (in.guard >= 0) {
    op.guard = slots_.of_register(in.guard);
    op.guard_negated = in.guard_negated;
    const Form form = ptx::info(in.opcode).form;
    const bool steers = form == Form::branch || form == Form::indexed_branch || form == Form::leave;
    if (!steers && !calls_linked(in)) op.guarded = handler, op.run = op_guard;
  }
  if (op.spins) last_spinning_block_ = op.block;
  program_.ops.push_back(op);
}

Status Lowering::lower_block(std::uint32_t index) {
  BasicBlock& block = program_.blocks[index];
  block.first_op = static_cast<std::uint32_t>(program_.ops.size());
  Op entry;
  const auto first = function_.instructions.begin() + block.first;
  entry.run = std::any_of(first, first + block.count, meets_block) ? op_enter_block_with_barrier : op_enter_block;
  entry.pc = block.first < function_.instructions.size() ? block.first : 0;
  entry.block = index;
  entry.count = block.count;
  entry.memory = static_cast<std::uint32_t>(block.memory.size());
  for (auto in = first; in != first + block.count; ++in) {
    const std::uint32_t passing = work_of_passing(passed_bytes(*in));
    entry.target += work_of(*in, function_, input_.work_mode) + passing;
    entry.next_block += work_of_one_lane(*in, function_, input_.work_mode) + passing;
  }
  next_memory_ = 0;
  program_.ops.push_back(entry);
  emit_taken_up(entry);
  for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
    const Instruction& in = function_.instructions[pc];
    emit_picks(pc, index);
    if (ends_turn_before(in, pc, index)) emit_end_of_turn(op_end_turn, pc, index);
    if (may_end_turn_before(in)) emit_end_of_turn(op_may_end_turn, pc, index);
    if (const Status status = lower_instruction(in, pc, index); !status) {
      Error error = status.error();
      error.line = input_.module->line_in(in, input_.source_name);
      return error;
    }
    if (may_end_turn_behind(in)) emit_end_of_turn(op_may_end_turn, pc, index, true);
  }
  Op fall;
  fall.run = op_fall_through;
  fall.pc = entry.pc;
  fall.block = index;
  fall.next_block = index + 1 < program_.blocks.size() ? index + 1 : kExitBlock;
  program_.ops.push_back(fall);
  return kOk;
}

void Lowering::emit_taken_up(const Op& entry) {
  const auto found = speculation_.taken_up.find(entry.block);
  if (found == speculation_.taken_up.end()) return;
  for (const TakenUp& load : found->second) {
    Op op;
    op.run = op_take_up;
    op.pc = entry.pc;
    op.block = entry.block;
    op.target = load.number;
    op.count = load.number_here;
    op.next_block = load.ways;
    program_.ops.push_back(op);
  }
}

// The operations come before the instruction that picks, because its predicate's slot may be free after it.
void Lowering::emit_picks(std::uint32_t pc, std::uint32_t block) {
  const auto found = speculation_.picks.find(pc);
  if (found == speculation_.picks.end()) return;
  for (const Pick& pick : found->second) {
    Op op;
    op.run = op_pick;
    op.pc = pc;
    op.block = block;
    op.s[0] = slots_.of_register(pick.predicate);
    op.target = pick.number;
    op.count = pick.if_true;
    op.next_block = pick.if_false;
    op.speculative = pick.is_last;
    program_.ops.push_back(op);
  }
}

void Lowering::emit_end_of_turn(Handler handler, std::uint32_t pc, std::uint32_t block, bool behind) {
  Op op;
  op.run = handler;
  op.pc = pc;
  op.block = block;
  op.offset = static_cast<std::int64_t>(input_.turns_seed);
  op.target = behind ? ~pc : pc;
  op.count = behind || leaves_time(function_.instructions[pc], block) ? 1 : 0;
  program_.ops.push_back(op);
}

std::uint32_t Lowering::block_at(std::uint32_t pc) const {
  const auto it = std::lower_bound(program_.blocks.begin(), program_.blocks.end(), pc,
                                   [](const BasicBlock& b, std::uint32_t at) { return b.first < at; });
  if (it == program_.blocks.end() || it->first != pc || it->count == 0) return kExitBlock;
  return static_cast<std::uint32_t>(it - program_.blocks.begin());
}

Status Lowering::lower_instruction(const Instruction& in, std::uint32_t pc, std::uint32_t block) {
  if (result_count(in) == 1 && !in.operands.empty() && in.operands[0].kind == Operand::Kind::reg &&
      slots_.is_fixed(in.operands[0].index)) {
    return kOk;
  }
  Op op = base_op(in, pc, block);
  switch (ptx::info(in.opcode).form) {
    case Form::alu:
      return lower_alu(in, op);
    case Form::carry:
      return lower_carry(in, op);
    case Form::convert:
      return lower_convert(in, op);
    case Form::move:
      return lower_move(in, op);
    case Form::cvta:
      return lower_cvta(in, op);
    case Form::select:
      return lower_select(in, op);
    case Form::compare:
      return lower_compare(in, op);
    case Form::set:
      return lower_set(in, op);
    case Form::number_test:
      return lower_number_test(in, op);
    case Form::load:
    case Form::store:
      return lower_memory(in, op);
    case Form::matrix_load:
      return lower_matrix_load(in, op);
    case Form::matrix_multiply:
      return lower_matrix_multiply(in, op);
    case Form::fragment_load:
    case Form::fragment_store:
      return lower_fragment(in, op);
    case Form::cache_policy:
      return lower_cache_policy(in, op);
    case Form::async_copy:
      return in.async == ptx::AsyncMode::copy ? lower_async_copy(in, op) : lower_async_group(in, op);
    case Form::atomic:
    case Form::reduction:
      return lower_atomic(in, op);
    case Form::barrier:
      return lower_barrier(in, op);
    case Form::shuffle:
      return lower_shuffle(in, op);
    case Form::vote:
      return lower_vote(in, op);
    case Form::active_mask:
      op.s[0] = result(in.operands[0]);
      return emit_ok(op, op_active_mask);
    case Form::warp_reduce:
    case Form::warp_match:
      return lower_exchange(in, op);
    case Form::space_query:
      return lower_space_query(in, op);
    case Form::mbarrier:
      return lower_mbarrier(in, op);
    case Form::branch:
    case Form::indexed_branch:
    case Form::leave:
    case Form::sleep:
    case Form::trap:
    case Form::fence:
    case Form::prefetch:
    case Form::call:
      return lower_control(in, op, pc, block);
  }
  return unsupported(in);
}

// Lowers control flow, and instructions without results: sleep, trap, fence, prefetch.
Status Lowering::lower_control(const Instruction& in, Op op, std::uint32_t pc, std::uint32_t block) {
  switch (ptx::info(in.opcode).form) {
    case Form::branch:
      return lower_branch(in, op, pc, block);
    case Form::indexed_branch:
      return lower_indexed_branch(in, op, block);
    case Form::leave:
      return emit_ok(op, ptx::has_trait(in, ptx::kReturns) && is_called(pc) ? op_return : op_exit);
    case Form::sleep:
      op.s[0] = source(in.operands[0], 4);
      return op.s[0] == kNoSlot ? unsupported(in) : emit_ok(op, op_sleep);
    case Form::trap:
      return emit_ok(op, op_trap);
    case Form::fence:
      program_.has_fences = true;
      return emit_ok(op, op_fence);
    case Form::prefetch:
      return emit_ok(op, op_nothing);
    case Form::call:
      return lower_call(in, op, block);
    default:
      return unsupported(in);
  }
}

Status Lowering::lower_branch(const Instruction& in, Op op, std::uint32_t pc, std::uint32_t block) {
  const auto target = static_cast<std::uint32_t>(in.operands[0].index);
  op.target = block_at(target);
  op.next_block = block + 1 < program_.blocks.size() ? block + 1 : kExitBlock;
  op.meet = program_.blocks[block].reconvergence;
  op.back_edge = target <= pc;
  // Blocks are lowered in order, and a loop's lie between the target of its branch and the branch.
  op.spins = op.back_edge && last_spinning_block_ && *last_spinning_block_ >= op.target;
  op.decides = op.spins && only_looks(op.target, block);
  op.offset = seed_of_ways(block);
  emit_check_of_wait(in, block);
  return emit_ok(op, op_branch);
}

Status Lowering::lower_indexed_branch(const Instruction& in, Op op, std::uint32_t block) {
  std::vector<std::uint32_t>& table = program_.branch_tables.emplace_back();
  for (const Operand& label : in.operands[1].elements)
    table.push_back(block_at(static_cast<std::uint32_t>(label.index)));
  op.s[0] = source(in.operands[0], 4);
  op.offset = static_cast<std::int64_t>(program_.branch_tables.size()) - 1;
  op.next_block = block + 1 < program_.blocks.size() ? block + 1 : kExitBlock;
  op.meet = program_.blocks[block].reconvergence;
  return emit_ok(op, op_indexed_branch);
}

// All cache policies are treated alike, because the caches here have a single replacement policy.
Status Lowering::lower_cache_policy(const Instruction& in, Op op) {
  op.s[0] = result(in.operands[0]);
  op.s[1] = slots_.constant(0, 8);
  return emit_ok(op, move_handler(8));
}

Status Lowering::lower_space_query(const Instruction& in, Op op) {
  op.s[0] = result(in.operands[0]);
  op.s[1] = source(in.operands[1], 8);
  if (op.s[0] == kNoSlot || op.s[1] == kNoSlot) return unsupported(in, "with this operand");
  return emit_ok(op, space_query_handler(in));
}
ParameterLayout parameter_layout(const Function& function) {
  ParameterLayout out;
  for (const Variable& parameter : function.parameters) {
    const int natural = std::max({parameter.align_bytes, ptx::size_bytes(parameter.type), 1});
    out.size_bytes = round_up(out.size_bytes, static_cast<std::uint32_t>(natural));
    out.offsets.push_back(out.size_bytes);
    out.size_bytes += static_cast<std::uint32_t>(std::min<std::uint64_t>(parameter.size_bytes, 1u << 16));
  }
  return out;
}

bool takes_parameter_address(const Function& kernel) {
  const auto is_parameter = [&](const ptx::Operand& operand) {
    return operand.kind == ptx::Operand::Kind::variable && operand.space == ptx::Space::param &&
           std::ranges::any_of(kernel.parameters, [&](const auto& p) { return p.name == operand.symbol; });
  };
  return std::ranges::any_of(kernel.instructions, [&](const ptx::Instruction& in) {
    return ptx::info(in.opcode).form == ptx::Form::move && std::ranges::any_of(in.operands, is_parameter);
  });
}

std::map<std::string, std::uint64_t> function_numbers(const ptx::Module& module) {
  std::map<std::string, std::uint64_t> out;
  for (const Function& function : module.functions) {
    if (!function.is_entry && !function.is_extern) out.emplace(function.name, 8 * (out.size() + 1));
  }
  return out;
}

std::uint32_t static_shared_bytes(const ptx::Module& module, const Function& function) {
  const auto code = code_of(module, function);
  return code ? code->shared.static_bytes : shared_layout(module, function).static_bytes;
}

Result<Program> lower(const LoweringInput& input) {
  ROOFWALK_TRY(const KernelCode code, code_of(*input.module, *input.function));
  return lower(input, code);
}

Result<Program> lower(const LoweringInput& input, const KernelCode& code) { return Lowering(input, code).run(); }

}  // namespace roofwalk::vgpu
