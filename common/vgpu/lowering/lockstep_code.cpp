#include "common/vgpu/exec/lockstep/lockstep.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <utility>

#include "common/base/check.h"
#include "common/vgpu/lowering/analysis/affine.h"
#include "common/vgpu/lowering/lockstep_code.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

// A set of registers.
class Registers {
 public:
  explicit Registers(std::size_t count) : words_((count + kBits - 1) / kBits) {}
  bool contains(std::size_t r) const { return (words_[r / kBits] >> r % kBits & 1u) != 0; }
  void add(std::size_t r) { words_[r / kBits] |= std::uint64_t{1} << r % kBits; }
  void remove(std::size_t r) { words_[r / kBits] &= ~(std::uint64_t{1} << r % kBits); }
  void add(const Registers& others) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= others.words_[i];
  }
  bool operator==(const Registers&) const = default;
  // Visits the registers in ascending order.
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1)
        f(i * kBits + static_cast<std::size_t>(std::countr_zero(left)));
    }
  }

 private:
  static constexpr std::size_t kBits = 64;
  std::vector<std::uint64_t> words_;
};

// By register: the instructions that read it or write it unconditionally, in order.
class Uses {
 public:
  explicit Uses(const Program& program) : first_(program.function->registers.size() + 1) {
    for_each(program, [&](std::size_t r, Use) { ++first_[r + 1]; });
    for (std::size_t r = 0; r + 1 < first_.size(); ++r) first_[r + 1] += first_[r];
    uses_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for_each(program, [&](std::size_t r, Use use) { uses_[next[r]++] = use; });
  }

  // Whether the first use of a register between two instructions is a read; nullopt if there is no use.
  std::optional<bool> is_read_next(std::size_t r, std::uint32_t after, std::uint32_t before) const {
    const auto first = uses_.begin() + static_cast<std::ptrdiff_t>(first_[r]);
    const auto end = uses_.begin() + static_cast<std::ptrdiff_t>(first_[r + 1]);
    const auto next = std::upper_bound(first, end, after, [](std::uint32_t pc, const Use& use) { return pc < use.pc; });
    if (next == end || next->pc >= before) return std::nullopt;
    return next->reads;
  }

 private:
  struct Use {
    std::uint32_t pc = 0;
    bool reads = false;
  };

  // Visits the reads of an instruction before its writes.
  template <class Visit>
  static void for_each(const Program& program, Visit&& visit) {
    const auto& code = program.function->instructions;
    for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
      for_each_source(code[pc], [&](int reg) {
        const auto r = static_cast<std::size_t>(reg);
        if (!program.fixed_registers[r]) visit(r, Use{pc, true});
      });
      if (code[pc].guard >= 0) continue;
      for_each_result(code[pc], [&](int reg) { visit(static_cast<std::size_t>(reg), Use{pc, false}); });
    }
  }

  std::vector<std::size_t> first_;  // by register: index of its first use in uses_
  std::vector<Use> uses_;
};

// Limits of the analysis: beyond them it would cost more than lockstep code saves.
constexpr std::size_t kMostBlockRegisters = std::size_t{1} << 20, kMostFilledAtChecks = std::size_t{1} << 20;

class LockstepBuilder {
 public:
  explicit LockstepBuilder(const Program& program)
      : program_(program),
        function_(*program.function),
        analysis_(program),
        uses_(program),
        kept_(function_.registers.size()) {
    for (std::size_t r = 0; r < function_.registers.size(); ++r) {
      if (program.fixed_registers[r]) kept_.add(r);
    }
  }

  LockstepCode build() {
    keep_what_others_read();
    find_live_registers();
    out_.lane_offsets = analysis_.lane_offsets();
    out_.first_op.resize(program_.blocks.size());
    out_.leaving.resize(program_.blocks.size());
    out_.entering.resize(program_.blocks.size());
    out_.only_lane_0.resize(function_.registers.size());
    for (std::size_t r = 0; r < function_.registers.size(); ++r) {
      if (lanes_are_missing(r)) out_.only_lane_0[r] = 1 + analysis_.shape(static_cast<int>(r)).lane_offsets;
    }
    for (std::uint32_t b = 0; b < program_.blocks.size(); ++b) {
      emit_block(b);
      if (filled_at_checks_ > kMostFilledAtChecks) return {};
    }
    return std::move(out_);
  }

 private:
  enum class Way {
    whole,   // handlers as in Program::ops
    lane_0,  // on lane 0 only
    memory   // a load or store whose address is kept as one number
  };

  Way way_of(const Op& op, const Effect& effect) const {
    const Instruction& in = *op.instruction;
    const Form form = ptx::info(in.opcode).form;
    if (form == Form::load || form == Form::store) {
      if (form == Form::load && is_kernel_parameter(op)) return results_are_numbers(in) ? Way::lane_0 : Way::whole;
      const bool known = in.space == Space::global || (in.space == Space::shared && !in.is_volatile);
      return known && analysis_.address_shape(op).is_one_number() ? Way::memory : Way::whole;
    }
    if (effect.on_lane_0 == nullptr || !effect.shape.is_one_number()) return Way::whole;
    if (form == Form::compare) return Way::lane_0;
    return results_are_numbers(in) ? Way::lane_0 : Way::whole;
  }

  bool results_are_numbers(const Instruction& in) const {
    bool all = true;
    for_each_result(in, [&](int reg) { all &= analysis_.shape(reg).is_one_number(); });
    return all;
  }

  bool is_predicate(int reg) const {
    return function_.registers[static_cast<std::size_t>(reg)].type == ptx::Type::pred;
  }
  bool is_number(int reg) const { return !is_predicate(reg) && analysis_.shape(reg).is_one_number(); }

  // Marks registers that some operation reads lane by lane: they must store all their lanes.
  void keep_what_others_read() {
    for (const Op& op : program_.ops) {
      if (op.instruction == nullptr) continue;
      const Instruction& in = *op.instruction;
      const Way way = way_of(op, analysis_.effect_of(op));
      if (way == Way::lane_0) continue;
      const bool load = ptx::info(in.opcode).form == Form::load;
      const Operand* address = way == Way::memory ? &in.operands[load ? 1 : 0] : nullptr;
      for (std::size_t i = 0; i < in.operands.size(); ++i) {
        if (i < result_count(in) || &in.operands[i] == address) continue;
        for_each_register(in.operands[i], [&](int reg) { kept_.add(static_cast<std::size_t>(reg)); });
      }
    }
  }

  // Fills in live_in_. Propagates the liveness of each register backwards from the blocks that read it before they
  // write it. Each block is visited once per register that is live in it.
  void find_live_registers() {
    const std::size_t blocks = program_.blocks.size();
    live_in_.assign(blocks, Registers(function_.registers.size()));
    std::vector<Registers> written(blocks, Registers(function_.registers.size()));
    std::vector<std::vector<std::uint32_t>> from(blocks);
    std::vector<std::pair<std::uint32_t, std::size_t>> ahead;  // blocks and registers
    for (std::uint32_t b = 0; b < blocks; ++b) {
      const BasicBlock& block = program_.blocks[b];
      for (std::uint32_t pc = block.first + block.count; pc-- > block.first;) {
        step_back(pc, live_in_[b]);
        const Instruction& in = function_.instructions[pc];
        if (in.guard < 0) for_each_result(in, [&](int reg) { written[b].add(static_cast<std::size_t>(reg)); });
      }
      live_in_[b].for_each([&](std::size_t r) { ahead.emplace_back(b, r); });
      for (const std::uint32_t to : block.successors) {
        if (to != kExitBlock) from[to].push_back(b);
      }
    }
    while (!ahead.empty()) {
      const auto [block, r] = ahead.back();
      ahead.pop_back();
      for (const std::uint32_t b : from[block]) {
        if (written[b].contains(r) || live_in_[b].contains(r)) continue;
        live_in_[b].add(r);
        ahead.emplace_back(b, r);
      }
    }
  }

  Registers live_out_of(std::size_t block) const {
    Registers live(function_.registers.size());
    for (const std::uint32_t to : program_.blocks[block].successors) {
      if (to != kExitBlock) live.add(live_in_[to]);
    }
    return live;
  }

  // Turns the registers live after an instruction into those live before it.
  void step_back(std::uint32_t pc, Registers& live) const {
    const Instruction& in = function_.instructions[pc];
    if (in.guard < 0) for_each_result(in, [&](int reg) { live.remove(static_cast<std::size_t>(reg)); });
    for_each_source(in, [&](int reg) {
      if (!program_.fixed_registers[static_cast<std::size_t>(reg)]) live.add(static_cast<std::size_t>(reg));
    });
  }

  LockstepRegister lockstep_register(std::size_t r) const {
    return {program_.register_slots[r], static_cast<std::uint32_t>(ptx::size_bytes(function_.registers[r].type)),
            analysis_.shape(static_cast<int>(r)).lane_offsets};
  }

  bool lanes_are_missing(std::size_t r) const { return !kept_.contains(r) && is_number(static_cast<int>(r)); }

  // Returns the live registers of which only lane 0 is stored.
  std::vector<LockstepRegister> to_fill(const Registers& live) const {
    std::vector<LockstepRegister> out;
    live.for_each([&](std::size_t r) {
      if (lanes_are_missing(r)) out.push_back(lockstep_register(r));
    });
    return out;
  }

  void emit_block(std::uint32_t b) {
    const BasicBlock& block = program_.blocks[b];
    const Registers live_out = live_out_of(b);
    out_.first_op[b] = static_cast<std::uint32_t>(out_.ops.size());
    out_.leaving[b] = to_fill(live_out);
    live_in_[b].for_each([&](std::size_t r) {
      if (analysis_.shape(static_cast<int>(r)).is_one_number()) out_.entering[b].push_back(lockstep_register(r));
    });
    const std::size_t end = b + 1 < program_.blocks.size() ? program_.blocks[b + 1].first_op : program_.ops.size();
    for (std::size_t i = block.first_op; i < end; ++i) emit(static_cast<std::uint32_t>(i));
    finish_checks(b, live_out);
    fuse(std::span(out_.ops).subspan(out_.first_op[b]), out_, [&](std::uint32_t pc, std::span<const int> registers) {
      return std::any_of(registers.begin(), registers.end(), [&](int reg) {
        const auto r = static_cast<std::size_t>(reg);
        return uses_.is_read_next(r, pc, block.first + block.count).value_or(live_out.contains(r));
      });
    });
  }

  void emit(std::uint32_t index) {
    const Op& op = program_.ops[index];
    if (op.instruction == nullptr) return out_.ops.push_back(op);
    const Effect effect = analysis_.effect_of(op);
    switch (way_of(op, effect)) {
      case Way::whole:
        return out_.ops.push_back(op);
      case Way::lane_0:
        return emit_on_lane_0(index, effect);
      case Way::memory:
        return emit_memory(op);
    }
  }

  void set_handler(Op& op, Handler handler) const { (op.guarded != nullptr ? op.guarded : op.run) = handler; }

  void emit_on_lane_0(std::uint32_t index, const Effect& effect) {
    Op op = program_.ops[index];
    const Instruction& in = *op.instruction;
    bool kept = false, sources_kept = true;
    for_each_result(in, [&](int reg) { kept |= kept_.contains(static_cast<std::size_t>(reg)); });
    for_each_source(
        in, [&](int reg) { sources_kept &= is_predicate(reg) || kept_.contains(static_cast<std::size_t>(reg)); });
    // The check is needed even if all lanes are computed, because readers use lane 0's value plus offsets.
    if (effect.checked >= 0 && effect.checked_offsets != 0) emit_check(index, effect);
    // If all lanes are needed and the sources store all of theirs, the plain vector operation computes them.
    if (kept && sources_kept && ptx::info(in.opcode).form != Form::compare) return out_.ops.push_back(op);
    set_handler(op, effect.on_lane_0);
    out_.ops.push_back(op);
    if (!kept) return;
    for_each_result(in, [&](int reg) {
      const auto r = static_cast<std::size_t>(reg);
      if (!is_number(reg) || !kept_.contains(r) || program_.register_slots[r] != op.s[0]) return;
      const LockstepRegister filled = lockstep_register(r);
      Op fill = op;
      fill.guarded = nullptr;
      fill.guard = kNoSlot;
      fill.lane_offsets = filled.lane_offsets;
      fill.run = fill_handler(filled.bytes, filled.lane_offsets);
      out_.ops.push_back(fill);
    });
  }

  void emit_check(std::uint32_t index, const Effect& effect) {
    const Op& op = program_.ops[index];
    Op check = op;
    check.guarded = nullptr;
    check.guard = kNoSlot;
    check.s[1] = op.s[static_cast<std::size_t>(effect.checked)];
    check.lane_offsets = effect.checked_offsets;
    check.target = index;
    check.offset = static_cast<std::int64_t>(out_.at_checks.size());
    check.run = check_handler(effect.checked_signed);
    checks_.emplace_back(op.pc, out_.at_checks.size());
    out_.at_checks.emplace_back();
    out_.ops.push_back(check);
  }

  // Finds, in one backward walk, the registers that each check of the block fills in if it fails.
  void finish_checks(std::uint32_t b, const Registers& live_out) {
    if (checks_.empty()) return;
    std::set<std::size_t> missing;  // live registers of which only lane 0 is stored
    live_out.for_each([&](std::size_t r) {
      if (lanes_are_missing(r)) missing.insert(r);
    });
    std::uint32_t pc = program_.blocks[b].first + program_.blocks[b].count;
    for (auto check = checks_.rbegin(); check != checks_.rend(); ++check) {
      while (pc > check->first) {
        const Instruction& in = function_.instructions[--pc];
        if (in.guard < 0) for_each_result(in, [&](int reg) { missing.erase(static_cast<std::size_t>(reg)); });
        for_each_source(in, [&](int reg) {
          if (const auto r = static_cast<std::size_t>(reg); lanes_are_missing(r)) missing.insert(r);
        });
      }
      filled_at_checks_ += missing.size();
      if (filled_at_checks_ > kMostFilledAtChecks) break;
      for (const std::size_t r : missing) out_.at_checks[check->second].push_back(lockstep_register(r));
    }
    checks_.clear();
  }

  void emit_memory(Op op) {
    const Instruction& in = *op.instruction;
    const bool load = ptx::info(in.opcode).form == Form::load;
    const Operand& data = in.operands[load ? 0 : 1];
    bool all_lanes = in.guard >= 0;
    int bytes = std::max(ptx::size_bytes(in.type), 2);
    for_each_register(data, [&](int reg) {
      bytes = ptx::size_bytes(function_.registers[static_cast<std::size_t>(reg)].type);
      all_lanes |= kept_.contains(static_cast<std::size_t>(reg)) || !is_number(reg);
    });
    op.lane_offsets = analysis_.address_shape(op).lane_offsets;
    const LaneOffsets& offsets = out_.lane_offsets[op.lane_offsets];
    const Handler handler =
        load ? lockstep_load_handler(op, bytes, offsets, all_lanes) : lockstep_store_handler(in, bytes);
    ROOFWALK_CHECK(handler != nullptr);  // lowering found one for the same instruction
    set_handler(op, handler);
    out_.ops.push_back(op);
  }

  const Program& program_;
  const ptx::Function& function_;
  AffineAnalysis analysis_;
  Uses uses_;
  Registers kept_;                  // registers that store all their lanes
  std::vector<Registers> live_in_;  // by basic block
  // Checks of the block that is being emitted: instruction, index in at_checks.
  std::vector<std::pair<std::uint32_t, std::size_t>> checks_;
  std::size_t filled_at_checks_ = 0;  // number of registers, summed over all checks
  LockstepCode out_;
};

}  // namespace

LockstepCode make_lockstep_code(const Program& program) {
  const ptx::Function& function = *program.function;
  if (function.registers.size() * program.blocks.size() > kMostBlockRegisters) return {};
  for (const Instruction& in : function.instructions) {
    if (ptx::info(in.opcode).form == Form::call) return {};
  }
  return LockstepBuilder(program).build();
}

}  // namespace roofwalk::vgpu
