// From a validated PTX function to a Program for one launch: slots for registers, constants for what a launch fixes,
// a handler for each instruction.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/vgpu/half.h"
#include "common/vgpu/handlers.h"
#include "common/vgpu/launch.h"
#include "common/vgpu/link.h"
#include "common/vgpu/lockstep.h"
#include "common/vgpu/operands.h"
#include "common/vgpu/program.h"
#include "common/vgpu/slots.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::SpecialRegister;
using ptx::Type;
using ptx::Variable;

// Calls `visit` with every symbol that the operands name.
template <class Visit>
void for_each_symbol(const Operand& operand, Visit&& visit) {
  if (!operand.symbol.empty()) visit(operand.symbol);
  for (const Operand& element : operand.elements) for_each_symbol(element, visit);
}

const Variable* find(const std::vector<Variable>& variables, const std::string& name) {
  const auto it = std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return v.name == name; });
  return it == variables.end() ? nullptr : &*it;
}

// The shared variables that a function names, in order of first use; `extern` ones (dynamic) last.
struct SharedLayout {
  std::map<std::string, std::uint32_t> offsets;
  std::uint32_t static_bytes = 0;
};

SharedLayout shared_layout(const ptx::Module& module, const Function& function) {
  SharedLayout out;
  std::vector<const Variable*> dynamic;
  const auto place = [&](const std::string& name) {
    if (out.offsets.contains(name)) return;
    const Variable* variable = find(function.variables, name);
    if (variable == nullptr) variable = module.find_variable(name);
    if (variable == nullptr || variable->space != Space::shared) return;
    if (variable->is_extern || variable->size_bytes == 0) {
      out.offsets[name] = 0;
      dynamic.push_back(variable);
      return;
    }
    const std::uint32_t at = round_up(out.static_bytes, static_cast<std::uint32_t>(std::max(variable->align_bytes, 1)));
    out.offsets[name] = at;
    out.static_bytes = at + static_cast<std::uint32_t>(std::min<std::uint64_t>(variable->size_bytes, 1u << 30));
  };
  for (const Instruction& in : function.instructions) {
    for (const Operand& operand : in.operands) for_each_symbol(operand, place);
  }
  for (const Variable* variable : dynamic) out.offsets[variable->name] = round_up(out.static_bytes, 16);
  return out;
}

class Lowering {
 public:
  Lowering(const LoweringInput& input, LinkedKernel linked)
      : input_(input),
        linked_(std::move(linked)),
        function_(linked_.function != nullptr ? *linked_.function : *input.function),
        parameters_(parameter_layout(*input.function)) {}

  Result<Program> run() {
    program_.linked = linked_.function;
    program_.function = &function_;
    program_.blocks = find_blocks(function_);
    lay_out_memory();
    slots_.lay_out_registers();
    for (std::uint32_t b = 0; b < program_.blocks.size(); ++b) ROOFWALK_TRY_STATUS(lower_block(b));
    slots_.finish();
    program_.lockstep = make_lockstep_code(program_);
    return std::move(program_);
  }

 private:
  void lay_out_memory() {
    shared_ = shared_layout(*input_.module, function_);
    program_.static_shared_bytes = shared_.static_bytes;
    for (const auto& [name, offset] : shared_.offsets) program_.shared_variables.emplace(offset, name);
    program_.shared_bytes = shared_.static_bytes;
    if (input_.dynamic_shared_bytes != 0) {
      const std::uint64_t wanted = std::uint64_t{round_up(shared_.static_bytes, 16)} + input_.dynamic_shared_bytes;
      program_.shared_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, ~0u));
    }
    // Parameters of calls first, which recursive calls keep aside together; the variables of recursive functions lie
    // on a stack, from the start of its frame.
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

  void place_local(const Variable& variable, std::uint32_t& at) {
    at = round_up(at, static_cast<std::uint32_t>(std::max(variable.align_bytes, 8)));
    const auto bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(variable.size_bytes, 1u << 24));
    program_.locals[variable.name] = {at, bytes};
    at = std::min(at + bytes, 1u << 24);
  }

  // The bytes so far of the frame that a local variable of a recursive function lies in; nullptr for others, such as
  // its parameters, which a call keeps aside.
  std::uint32_t* frame_of(const std::string& name) {
    const std::size_t mark = name.rfind('@');
    if (mark == std::string::npos) return nullptr;
    const auto part = static_cast<std::size_t>(std::atoi(name.c_str() + mark + 1));
    if (part >= linked_.parts.size() || !linked_.parts[part].recursive) return nullptr;
    const Variable* const variable = find(function_.variables, name);
    if (variable == nullptr || variable->space != Space::local) return nullptr;
    return &frame_bytes_[part];
  }

  // The number that a symbol stands for: an offset in its window, or an address.
  std::uint64_t symbol_value(const std::string& name) const {
    if (const auto it = shared_.offsets.find(name); it != shared_.offsets.end()) return it->second;
    if (const auto it = program_.locals.find(name); it != program_.locals.end()) return it->second.first;
    return input_.address_of(name);
  }

  // The slot of a source operand whose lanes have `bytes` (0: a predicate). kNoSlot: not supported.
  Slot source(const Operand& operand, std::uint32_t bytes) {
    switch (operand.kind) {
      case Operand::Kind::reg:
        return slots_.of_register(operand.index);
      case Operand::Kind::immediate:
        // A predicate's 32 lanes are one word: all ones or none.
        return bytes == 0 ? slots_.constant(operand.bits != 0 ? kAllLanes : 0u, 4)
                          : slots_.constant(operand.bits, bytes);
      case Operand::Kind::special:
        return slots_.special(operand);
      case Operand::Kind::variable:
      case Operand::Kind::function:
        return slots_.constant(symbol_value(operand.symbol) + static_cast<std::uint64_t>(operand.offset), bytes);
      default:
        return kNoSlot;
    }
  }

  Slot result(const Operand& operand) const {
    return operand.kind == Operand::Kind::reg ? slots_.of_register(operand.index) : kNoSlot;
  }

  std::uint32_t register_bytes(const Operand& operand, Type fallback) const {
    if (operand.kind == Operand::Kind::reg) {
      return static_cast<std::uint32_t>(ptx::size_bytes(function_.registers[operand.index].type));
    }
    return static_cast<std::uint32_t>(std::max(ptx::size_bytes(fallback), 2));
  }

  Error unsupported(const Instruction& in, std::string_view what = {}) const {
    return Error{.message =
                     fmt::format("PTX line {}: `{}{}`{}{} is not supported by the virtual GPU yet", in.ptx_line,
                                 ptx::info(in.opcode).mnemonic, in.type == Type::none ? "" : ptx::type_name(in.type),
                                 what.empty() ? "" : " ", what)};
  }

  Op base_op(const Instruction& in, std::uint32_t pc, std::uint32_t block) {
    Op op;
    op.instruction = &in;
    op.pc = pc;
    op.block = block;
    if (is_memory(in)) op.memory = next_memory_++;
    return op;
  }

  void emit(Op op, Handler handler) {
    op.run = handler;
    const Instruction& in = *op.instruction;
    if (in.guard >= 0) {
      op.guard = slots_.of_register(in.guard);
      op.guard_negated = in.guard_negated;
      const Form form = ptx::info(in.opcode).form;
      const bool steers = form == Form::branch || form == Form::indexed_branch || form == Form::leave;
      if (!steers && !calls_linked(in)) op.guarded = handler, op.run = op_guard;
    }
    program_.ops.push_back(op);
  }

  Status lower_block(std::uint32_t index) {
    BasicBlock& block = program_.blocks[index];
    block.first_op = static_cast<std::uint32_t>(program_.ops.size());
    Op entry;
    entry.run = op_enter_block;
    entry.pc = block.first < function_.instructions.size() ? block.first : 0;
    entry.block = index;
    entry.count = block.count;
    entry.memory = static_cast<std::uint32_t>(block.memory.size());
    next_memory_ = 0;
    program_.ops.push_back(entry);
    for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
      const Instruction& in = function_.instructions[pc];
      if (const Status status = lower_instruction(in, pc, index); !status) {
        Error error = status.error();
        error.line = input_.module->line_in(in, input_.source_name);
        return error;
      }
    }
    Op fall;
    fall.run = op_fall_through;
    fall.pc = entry.pc;
    fall.block = index;
    fall.next_block = index + 1 < program_.blocks.size() ? index + 1 : kExitBlock;
    program_.ops.push_back(fall);
    return kOk;
  }

  std::uint32_t block_at(std::uint32_t pc) const {
    const auto it = std::lower_bound(program_.blocks.begin(), program_.blocks.end(), pc,
                                     [](const BasicBlock& b, std::uint32_t at) { return b.first < at; });
    if (it == program_.blocks.end() || it->first != pc || it->count == 0) return kExitBlock;
    return static_cast<std::uint32_t>(it - program_.blocks.begin());
  }

  Status lower_instruction(const Instruction& in, std::uint32_t pc, std::uint32_t block) {
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
      case Form::cache_policy:  // policies are all alike: caches here have one way to replace
        op.s[0] = result(in.operands[0]);
        op.s[1] = slots_.constant(0, 8);
        return emit_ok(op, move_handler(8));
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
      case Form::branch: {
        const auto target = static_cast<std::uint32_t>(in.operands[0].index);
        op.target = block_at(target);
        op.next_block = block + 1 < program_.blocks.size() ? block + 1 : kExitBlock;
        op.meet = program_.blocks[block].reconvergence;
        op.back_edge = target <= pc;
        return emit_ok(op, op_branch);
      }
      case Form::indexed_branch: {
        std::vector<std::uint32_t>& table = program_.branch_tables.emplace_back();
        for (const Operand& label : in.operands[1].elements)
          table.push_back(block_at(static_cast<std::uint32_t>(label.index)));
        op.s[0] = source(in.operands[0], 4);
        op.offset = static_cast<std::int64_t>(program_.branch_tables.size()) - 1;
        op.next_block = block + 1 < program_.blocks.size() ? block + 1 : kExitBlock;
        op.meet = program_.blocks[block].reconvergence;
        return emit_ok(op, op_indexed_branch);
      }
      case Form::leave:
        return emit_ok(op, in.opcode == Opcode::Ret && is_called(pc) ? op_return : op_exit);
      case Form::warp_reduce:
      case Form::warp_match:
        return lower_exchange(in, op);
      case Form::space_query:
        op.s[0] = result(in.operands[0]);
        op.s[1] = source(in.operands[1], 8);
        if (op.s[0] == kNoSlot || op.s[1] == kNoSlot) return unsupported(in, "with this operand");
        return emit_ok(op, space_query_handler(in));
      case Form::sleep:
        return emit_ok(op, op_sleep);
      case Form::mbarrier:
        return lower_mbarrier(in, op);
      case Form::trap:
        return emit_ok(op, op_trap);
      case Form::fence:
      case Form::prefetch:
        return emit_ok(op, op_nothing);
      case Form::call:
        return lower_call(in, op, block);
    }
    return unsupported(in);
  }

  // Whether an instruction stands in a function that is called.
  bool is_called(std::uint32_t pc) const { return !linked_.parts.empty() && pc >= linked_.parts[0].count; }

  Status lower_call(const Instruction& in, Op op, std::uint32_t block) {
    if (!calls_linked(in)) return lower_extern_call(in, op);
    op.next_block = block + 1 < program_.blocks.size() ? block + 1 : kExitBlock;
    if (calls_through_pointer(in)) return lower_pointer_call(in, op);
    const LinkedPart& part = part_at(in.operands[0]);
    op.offset = static_cast<std::int64_t>(program_.calls.size());
    op.target = block_at(part.first);
    ROOFWALK_TRY_STATUS(add_call_site(in, part));
    return emit_ok(op, op_call);
  }

  Status lower_pointer_call(const Instruction& in, Op op) {
    if (program_.function_names.empty()) {
      for (const Function& function : input_.module->functions) {
        if (function.is_entry || function.is_extern) continue;
        program_.function_names[input_.address_of(function.name)] = function.name;
      }
    }
    std::vector<CallTarget> targets;
    for (const Operand& label : in.operands[1].elements) {
      const LinkedPart& part = part_at(label);
      targets.push_back({input_.address_of(part.function->name), block_at(part.first),
                         static_cast<std::uint32_t>(program_.calls.size())});
      ROOFWALK_TRY_STATUS(add_call_site(in, part));
    }
    op.s[0] = source(in.operands[0], 8);
    op.offset = static_cast<std::int64_t>(program_.call_targets.size());
    program_.call_targets.push_back(std::move(targets));
    return emit_ok(op, op_call_pointer);
  }

  // The function that begins at a label.
  const LinkedPart& part_at(const Operand& label) const {
    const auto first = static_cast<std::uint32_t>(label.index);
    return *std::find_if(linked_.parts.begin(), linked_.parts.end(),
                         [&](const LinkedPart& p) { return p.first == first && p.count != 0; });
  }

  // What a call hands over to a function that it may call.
  Status add_call_site(const Instruction& in, const LinkedPart& part) {
    CallSite site;
    site.recursive = part.recursive;
    if (site.recursive) {
      // What ptxas puts into a frame besides is not known; a return address and what the caller keeps is the least.
      constexpr std::uint32_t kLeastFrame = 16;
      const auto number = static_cast<std::size_t>(&part - linked_.parts.data());
      site.frame_bytes = round_up(frame_bytes_[number], 16) + kLeastFrame;
    }
    const auto has_place = [&](const Operand& operand) {
      return operand.kind != Operand::Kind::variable || program_.locals.contains(operand.symbol);
    };
    if (!std::all_of(in.call_arguments.begin(), in.call_arguments.end(), has_place) ||
        !std::all_of(in.call_results.begin(), in.call_results.end(), has_place))
      return unsupported(in, "with a parameter of the kernel itself");
    for (std::size_t i = 0; i < part.parameters.size(); ++i)
      site.arguments.emplace_back(place(in.call_arguments[i]), place(part.parameters[i]));
    for (std::size_t i = 0; i < part.results.size(); ++i)
      site.results.emplace_back(place(part.results[i]), place(in.call_results[i]));
    // A number has the width of what it is handed to.
    for (auto& [from, to] : site.arguments) from.bytes = from.bytes == 0 ? to.bytes : from.bytes;
    for (std::size_t i = 0; i < part.parameters.size(); ++i) {
      auto& [from, to] = site.arguments[i];
      if (in.call_arguments[i].kind == Operand::Kind::immediate)
        from.slot = slots_.constant(in.call_arguments[i].bits, to.bytes);
    }
    program_.calls.push_back(std::move(site));
    return kOk;
  }

  // Whether an instruction stands in the kernel or in what it calls without pointers.
  bool is_called_by_name(std::uint32_t pc) const {
    if (!is_called(pc)) return true;
    const auto behind = std::upper_bound(linked_.parts.begin(), linked_.parts.end(), pc,
                                         [](std::uint32_t at, const LinkedPart& part) { return at < part.first; });
    return std::prev(behind)->by_name;
  }

  CallSite::Place place(const Operand& operand) const {
    if (operand.kind == Operand::Kind::reg) {
      const int bytes = ptx::size_bytes(function_.registers[static_cast<std::size_t>(operand.index)].type);
      return {slots_.of_register(static_cast<std::size_t>(operand.index)), 0, static_cast<std::uint32_t>(bytes)};
    }
    const auto at = program_.locals.find(operand.symbol);
    if (at == program_.locals.end()) return {};
    return {kNoSlot, at->second.first, at->second.second};
  }

  Status lower_extern_call(const Instruction& in, const Op& op) {
    if (input_.may_call_externs) return emit_ok(op, op_call_extern);
    const std::string& name = in.operands[0].symbol;
    if (name == "vprintf") return emit_ok(op, op_print);
    if (name == "__assertfail") return emit_ok(op, op_assertion_failed);
    // Of a function that a pointer might lead to, such as the destructor that a table of virtual functions names beside
    // the others: it may well never run.
    if (!is_called_by_name(op.pc)) return emit_ok(op, op_call_missing);
    Error error = missing_function(name);
    error.message = fmt::format("PTX line {}: {}", in.ptx_line, error.message);
    return error;
  }

  Status lower_exchange(const Instruction& in, Op op) {
    const bool match = ptx::info(in.opcode).form == Form::warp_match;
    const std::size_t results = match ? 2 : 1;
    for (std::size_t i = 0; i < results; ++i) op.s[i] = result(in.operands[i]);
    op.s[results] = source(in.operands[results], static_cast<std::uint32_t>(ptx::size_bytes(in.type)));
    op.s[results + 1] = source(in.operands[results + 1], 4);
    if (op.s[results] == kNoSlot || op.s[results + 1] == kNoSlot) return unsupported(in, "with this operand");
    return emit_ok(op, match ? warp_match_handler(in) : warp_reduce_handler(in));
  }

  Status lower_mbarrier(const Instruction& in, Op op) {
    using ptx::MbarrierMode;
    const bool no_result = in.mbarrier == MbarrierMode::init || in.mbarrier == MbarrierMode::inval;
    std::size_t next = 0;
    if (!no_result) op.s[0] = result(in.operands[next++]);
    if (in.mbarrier != MbarrierMode::pending_count && !set_address(in.operands[next++], op)) return unsupported(in);
    if (next < in.operands.size()) {
      const bool state = in.mbarrier == MbarrierMode::pending_count || in.mbarrier == MbarrierMode::test_wait ||
                         in.mbarrier == MbarrierMode::try_wait;
      op.s[1] = source(in.operands[next], state && !in.parity ? 8 : 4);
      if (op.s[1] == kNoSlot) return unsupported(in, "with this operand");
    }
    return emit_ok(op, mbarrier_handler(in));
  }

  Status emit_ok(const Op& op, Handler handler) {
    emit(op, handler);
    return kOk;
  }

  Status lower_alu(const Instruction& in, Op op) {
    const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
    const int sources = static_cast<int>(in.operands.size()) - 1;
    op.s[0] = result(in.operands[0]);
    for (int i = 0; i < sources; ++i) {
      const bool count = ((in.opcode == Opcode::Shl || in.opcode == Opcode::Shr) && i == 1) ||
                         (in.opcode == Opcode::Bfe && i >= 1) || (in.opcode == Opcode::Bfi && i >= 2);
      const bool wide = in.mul == ptx::MulMode::wide && i == 2;
      const Operand& operand = in.operands[1 + i];
      op.s[1 + i] = source(operand, count ? 4 : wide ? 2 * bytes : bytes);
      if (op.s[1 + i] == kNoSlot) return unsupported(in, "with this operand");
      if (in.type == Type::pred && operand.negated) op.offset |= std::int64_t{1} << i;
    }
    const Handler handler = alu_handler(in);
    if (handler == nullptr || op.s[0] == kNoSlot) return unsupported(in);
    emit(op, handler);
    return kOk;
  }

  Status lower_carry(const Instruction& in, Op op) {
    const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
    op.s[0] = result(in.operands[0]);
    op.s[1] = result(in.operands[1]);
    const std::size_t sources = in.operands.size() - 2 - (in.carry_in ? 1 : 0);
    for (std::size_t i = 0; i < sources; ++i) {
      op.s[2 + i] = source(in.operands[2 + i], bytes);
      if (op.s[2 + i] == kNoSlot) return unsupported(in, "with this operand");
    }
    if (in.carry_in) op.s[5] = source(in.operands.back(), 0);
    return emit_ok(op, carry_handler(in));
  }

  Status lower_convert(const Instruction& in, Op op) {
    const std::uint32_t from = register_bytes(in.operands[1], in.source_type);
    op.s[0] = result(in.operands[0]);
    op.s[1] = source(in.operands[1], from);
    if (in.operands.size() > 2) {
      op.s[2] = source(in.operands[2], from);
      if (op.s[2] == kNoSlot || register_bytes(in.operands[2], in.source_type) != from) {
        return unsupported(in, "with these operands");
      }
    }
    const Handler handler =
        convert_handler(in, static_cast<int>(register_bytes(in.operands[0], in.type)), static_cast<int>(from));
    if (handler == nullptr || op.s[0] == kNoSlot || op.s[1] == kNoSlot) {
      return unsupported(in, fmt::format("from .{}", ptx::type_name(in.source_type)));
    }
    emit(op, handler);
    return kOk;
  }

  Status lower_move(const Instruction& in, Op op) {
    const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
    const Operand& to = in.operands[0];
    const Operand& from = in.operands[1];
    Handler handler = nullptr;
    if (to.kind == Operand::Kind::vector) {
      const int parts = static_cast<int>(to.elements.size());
      for (int i = 0; i < parts; ++i) op.s[i] = result(to.elements[i]);
      op.s[parts] = source(from, bytes);
      handler = unpack_handler(parts, static_cast<int>(bytes) / parts);
    } else if (from.kind == Operand::Kind::vector) {
      const int parts = static_cast<int>(from.elements.size());
      op.s[0] = result(to);
      for (int i = 0; i < parts; ++i) {
        op.s[1 + i] = source(from.elements[i], bytes / static_cast<std::uint32_t>(parts));
        if (op.s[1 + i] == kNoSlot) return unsupported(in, "with this operand");
      }
      handler = pack_handler(parts, static_cast<int>(bytes) / parts);
    } else {
      op.s[0] = result(to);
      const Handler clock =
          from.kind == Operand::Kind::special ? clock_handler(from.special, static_cast<int>(bytes)) : nullptr;
      if (clock != nullptr) {
        handler = clock;
      } else {
        op.s[1] = source(from, bytes);
        handler = op.s[1] == kNoSlot ? nullptr : move_handler(static_cast<int>(bytes));
        if (from.kind == Operand::Kind::variable && program_.locals.contains(from.symbol)) {
          return lower_local_address(in, op, from);
        }
      }
    }
    if (handler == nullptr) return unsupported(in, "with this operand");
    emit(op, handler);
    return kOk;
  }

  // `mov.u64 %rd, __local_depot0` gives an offset within local memory, as nvcc expects.
  Status lower_local_address(const Instruction& in, Op op, const Operand& from) {
    const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
    if (frame_of(from.symbol) != nullptr) {
      op.offset = static_cast<std::int64_t>(symbol_value(from.symbol)) + from.offset;
      op.count = bytes;
      return emit_ok(op, op_frame_address);
    }
    op.s[1] = slots_.constant(symbol_value(from.symbol) + static_cast<std::uint64_t>(from.offset), bytes);
    emit(op, move_handler(static_cast<int>(bytes)));
    return kOk;
  }

  Status lower_cvta(const Instruction& in, Op op) {
    const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
    std::uint64_t window = 0;
    if (in.space == Space::shared) window = kSharedWindow;
    if (in.space == Space::local) window = kLocalWindow;
    op.s[0] = result(in.operands[0]);
    op.s[1] = source(in.operands[1], bytes);
    op.offset = in.to ? -static_cast<std::int64_t>(window) : static_cast<std::int64_t>(window);
    const Handler handler =
        window == 0 ? move_handler(static_cast<int>(bytes)) : add_offset_handler(static_cast<int>(bytes));
    if (handler == nullptr || op.s[1] == kNoSlot || (window != 0 && bytes != 8)) return unsupported(in);
    emit(op, handler);
    return kOk;
  }

  Status lower_select(const Instruction& in, Op op) {
    const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
    op.s[0] = result(in.operands[0]);
    op.s[1] = source(in.operands[1], bytes);
    op.s[2] = source(in.operands[2], bytes);
    op.s[3] = source(in.operands[3], 0);
    if (in.operands[3].negated) std::swap(op.s[1], op.s[2]);
    const Handler handler = select_handler(static_cast<int>(bytes));
    if (handler == nullptr || op.s[3] == kNoSlot) return unsupported(in, "with this operand");
    emit(op, handler);
    return kOk;
  }

  Status lower_compare(const Instruction& in, Op op) {
    const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
    op.s[0] = result(in.operands[0]);
    op.s[1] = result(in.operands[1]);
    op.s[2] = source(in.operands[2], bytes);
    op.s[3] = source(in.operands[3], bytes);
    if (in.bool_op != ptx::BoolOp::none) {
      op.s[4] = source(in.operands[4], 0);
      if (op.s[4] == kNoSlot) return unsupported(in, "with this operand");
      op.offset = in.operands[4].negated ? 1 : 0;
    }
    const Handler handler = compare_handler(in);
    if (handler == nullptr || op.s[2] == kNoSlot || op.s[3] == kNoSlot) return unsupported(in, "with this comparison");
    emit(op, handler);
    return kOk;
  }

  Status lower_set(const Instruction& in, Op op) {
    const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.source_type));
    op.s[0] = result(in.operands[0]);
    op.s[1] = source(in.operands[1], bytes);
    op.s[2] = source(in.operands[2], bytes);
    op.offset = true_bits(in.type);
    const Handler handler = set_handler(in);
    if (handler == nullptr || op.s[0] == kNoSlot || op.s[1] == kNoSlot || op.s[2] == kNoSlot) return unsupported(in);
    emit(op, handler);
    return kOk;
  }

  // What `set` writes where its comparison holds: 1 as a float, all ones as an integer.
  static std::int64_t true_bits(Type type) {
    switch (type) {
      case Type::f32:
        return 0x3f80'0000;
      case Type::f16:
        return Half::kOne;
      case Type::f16x2:
        return Half::kOne << 16 | Half::kOne;
      case Type::bf16:
        return BFloat::kOne;
      case Type::bf16x2:
        return BFloat::kOne << 16 | BFloat::kOne;
      default:
        return -1;
    }
  }

  // Fills s[4], offset and count (the width of the address register) from [base + offset].
  bool set_address(const Operand& address, Op& op) {
    op.offset = address.offset;
    op.count = 8;
    op.s[4] = kNoSlot;
    if (address.index >= 0) {
      op.s[4] = slots_.of_register(address.index);
      op.count = static_cast<std::uint32_t>(ptx::size_bytes(function_.registers[address.index].type));
    } else if (!address.symbol.empty()) {
      if (frame_of(address.symbol) != nullptr) return set_frame_address(address, op);
      op.offset += static_cast<std::int64_t>(symbol_value(address.symbol));
      if (op.instruction->space == Space::generic && address.space == Space::shared) op.offset += kSharedWindow;
      if (op.instruction->space == Space::generic && address.space == Space::local) op.offset += kLocalWindow;
    }
    return op.count == 4 || op.count == 8;
  }

  // By name, in a frame of the stack: its address goes through a register.
  bool set_frame_address(const Operand& address, Op& op) {
    Op make = op;
    make.s.fill(kNoSlot);
    make.s[0] = slots_.new_register(8);
    make.offset = static_cast<std::int64_t>(symbol_value(address.symbol));
    if (op.instruction->space == Space::generic) make.offset += kLocalWindow;
    // Without the instruction's guard, which would count twice whom it leaves out.
    make.run = op_frame_address;
    program_.ops.push_back(make);
    op.s[4] = make.s[0];
    return true;
  }

  bool is_kernel_parameter(const Operand& address) const {
    return address.index < 0 && find(function_.parameters, address.symbol) != nullptr;
  }

  Status lower_memory(const Instruction& in, Op op) {
    const bool store = in.opcode == Opcode::St;
    const Operand& address = in.operands[store ? 0 : 1];
    const Operand& data = in.operands[store ? 1 : 0];
    const std::vector<Operand> one{data};
    const std::vector<Operand>& parts = data.kind == Operand::Kind::vector ? data.elements : one;
    if (in.space == Space::param && is_kernel_parameter(address)) return lower_parameter(in, op, address, parts);
    if (in.space == Space::param && address.index >= 0) return unsupported(in, "through a register");
    std::uint32_t bytes = static_cast<std::uint32_t>(std::max(ptx::size_bytes(in.type), 2));
    for (const Operand& part : parts) {
      if (part.kind == Operand::Kind::reg) bytes = register_bytes(part, in.type);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      op.s[i] = store ? source(parts[i], bytes) : result(parts[i]);
      if (store && op.s[i] == kNoSlot) return unsupported(in, "with this operand");
    }
    const Handler handler =
        store ? store_handler(in, static_cast<int>(bytes)) : load_handler(in, static_cast<int>(bytes));
    if (!set_address(address, op) || handler == nullptr) return unsupported(in);
    emit(op, handler);
    return kOk;
  }

  // Kernel parameters are known at launch: a load is a move of a constant.
  Status lower_parameter(const Instruction& in, const Op& op, const Operand& address,
                         const std::vector<Operand>& parts) {
    const auto& list = function_.parameters;
    const auto index = static_cast<std::size_t>(find(list, address.symbol) - list.data());
    const auto width = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::int64_t at =
          static_cast<std::int64_t>(parameters_.offsets[index]) + address.offset + static_cast<std::int64_t>(i * width);
      if (at < 0 || static_cast<std::uint64_t>(at) + width > input_.arguments.size()) {
        return Error{.message = fmt::format("PTX line {}: reads past the kernel's parameters", in.ptx_line)};
      }
      std::uint64_t bits = 0;
      std::memcpy(&bits, input_.arguments.data() + at, width);
      const std::uint32_t reg = register_bytes(parts[i], in.type);
      if (ptx::is_signed(in.type) && width < 8 && (bits >> (8 * width - 1) & 1u) != 0) bits |= ~0ull << (8 * width);
      Op move = op;
      move.s[0] = result(parts[i]);
      move.s[1] = slots_.constant(reg == 8 ? bits : bits & ((1ull << (8 * reg)) - 1), reg);
      if (move.s[0] != kNoSlot) emit(move, move_handler(static_cast<int>(reg)));
    }
    return kOk;
  }

  Status lower_matrix_load(const Instruction& in, Op op) {
    const std::vector<Operand>& parts = in.operands[0].elements;
    for (std::size_t i = 0; i < parts.size(); ++i) op.s[i] = result(parts[i]);
    if (!set_address(in.operands[1], op)) return unsupported(in);
    return emit_ok(op, matrix_load_handler(in));
  }

  Status lower_matrix_multiply(const Instruction& in, Op op) {
    op.offset = static_cast<std::int64_t>(program_.matrix_slots.size());
    for (std::size_t o = 0; o < in.operands.size(); ++o) {
      for (const Operand& element : in.operands[o].elements) {
        const Slot at = o == 0 ? result(element) : source(element, in.type == Type::f64 ? 8 : 4);
        if (o != 0 && at == kNoSlot) return unsupported(in, "with this operand");
        program_.matrix_slots.push_back(at);
      }
    }
    return emit_ok(op, matrix_multiply_handler(in));
  }

  Status lower_fragment(const Instruction& in, Op op) {
    const bool store = in.opcode == Opcode::WmmaStore;
    op.target = static_cast<std::uint32_t>(program_.matrix_slots.size());
    const auto bytes = static_cast<std::uint32_t>(std::max(ptx::size_bytes(in.type), 4));
    for (const Operand& element : in.operands[store ? 1 : 0].elements) {
      program_.matrix_slots.push_back(store ? source(element, bytes) : result(element));
      if (store && program_.matrix_slots.back() == kNoSlot) return unsupported(in, "with this operand");
    }
    if (in.operands.size() > 2) op.s[5] = source(in.operands[2], 4);
    if (!set_address(in.operands[store ? 0 : 1], op)) return unsupported(in);
    return emit_ok(op, fragment_handler(in));
  }

  Status lower_async_copy(const Instruction& in, Op op) {
    if (!set_address(in.operands[0], op)) return unsupported(in);
    const Slot to = op.s[4];
    const std::uint32_t width = op.count;
    const auto offset = static_cast<std::int32_t>(op.offset);
    if (offset != op.offset || !set_address(in.operands[1], op)) return unsupported(in, "with this address");
    op.s[5] = to;
    op.count = width;
    op.target = static_cast<std::uint32_t>(offset);
    if (in.operands.size() > (in.has_policy ? 4u : 3u)) {
      op.s[0] = source(in.operands[3], 4);
      if (op.s[0] == kNoSlot) return unsupported(in, "with this operand");
    }
    return emit_ok(op, async_copy_handler(in));
  }

  Status lower_atomic(const Instruction& in, Op op) {
    const bool reduction = in.opcode == Opcode::Red;
    const std::size_t first = reduction ? 0 : 1;
    const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
    if (!reduction) op.s[0] = result(in.operands[0]);
    op.s[1] = source(in.operands[first + 1], bytes);
    if (in.atomic == ptx::AtomicOp::cas) op.s[2] = source(in.operands[first + 2], bytes);
    const Handler handler = atomic_handler(in);
    if (!set_address(in.operands[first], op) || handler == nullptr || op.s[1] == kNoSlot) return unsupported(in);
    emit(op, handler);
    return kOk;
  }

  Status lower_barrier(const Instruction& in, Op op) {
    if (in.barrier == ptx::BarrierMode::warp_sync) {
      op.s[0] = source(in.operands[0], 4);
      return op.s[0] == kNoSlot ? unsupported(in, "with this operand") : emit_ok(op, op_meet_in_warp);
    }
    const bool reduces = result_count(in) != 0;
    std::size_t next = 0;
    if (reduces) op.s[3] = result(in.operands[next++]);
    const Operand& number = in.operands[next++];
    if (number.kind == Operand::Kind::immediate) {
      op.offset = static_cast<std::int64_t>(number.bits);
    } else {
      op.s[1] = source(number, 4);
    }
    if (next + (reduces ? 1 : 0) < in.operands.size()) op.s[0] = source(in.operands[next++], 4);
    if (reduces) {
      op.s[2] = source(in.operands[next], 0);
      op.count = in.operands[next].negated ? 1 : 0;
    }
    return emit_ok(op, op_barrier);
  }

  Status lower_async_group(const Instruction& in, Op op) {
    if (in.async == ptx::AsyncMode::mbarrier_arrive) {
      if (!set_address(in.operands[0], op)) return unsupported(in);
      return emit_ok(op, mbarrier_arrive_of_copies_handler());
    }
    if (in.async == ptx::AsyncMode::wait_group) op.offset = static_cast<std::int64_t>(in.operands.at(0).bits);
    return emit_ok(op, async_group_handler(in));
  }

  Status lower_shuffle(const Instruction& in, Op op) {
    op.s[0] = result(in.operands[0]);
    op.s[1] = result(in.operands[1]);
    for (int i = 0; i < 4; ++i) op.s[2 + i] = source(in.operands[2 + i], 4);
    emit(op, op_shuffle);
    return kOk;
  }

  Status lower_vote(const Instruction& in, Op op) {
    op.s[0] = result(in.operands[0]);
    op.s[1] = source(in.operands[1], 0);
    op.offset = in.operands[1].negated ? 1 : 0;
    op.s[2] = source(in.operands[2], 4);
    if (op.s[0] == kNoSlot || op.s[1] == kNoSlot) return unsupported(in, "with this operand");
    emit(op, op_vote);
    return kOk;
  }

  const LoweringInput& input_;
  LinkedKernel linked_;
  const Function& function_;  // with what it calls
  ParameterLayout parameters_;
  SharedLayout shared_;
  Program program_;
  Slots slots_{input_, program_};
  std::map<std::size_t, std::uint32_t> frame_bytes_;  // of the local variables of recursive parts
  std::uint32_t next_memory_ = 0;                     // of the basic block that is being lowered
};

}  // namespace

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

std::map<std::string, std::uint64_t> function_numbers(const ptx::Module& module) {
  std::map<std::string, std::uint64_t> out;
  for (const Function& function : module.functions) {
    if (!function.is_entry && !function.is_extern) out.emplace(function.name, 8 * (out.size() + 1));
  }
  return out;
}

std::uint32_t static_shared_bytes(const ptx::Module& module, const Function& function) {
  const auto linked = link_kernel(module, function);
  const bool calls = linked.ok() && linked->function != nullptr;
  return shared_layout(module, calls ? *linked->function : function).static_bytes;
}

Result<Program> lower(const LoweringInput& input) {
  ROOFWALK_TRY(LinkedKernel linked, link_kernel(*input.module, *input.function));
  return Lowering(input, std::move(linked)).run();
}

}  // namespace roofwalk::vgpu
