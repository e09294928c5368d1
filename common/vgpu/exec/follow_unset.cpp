#include "common/vgpu/exec/follow_unset.h"

#include <algorithm>
#include <bit>

#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/program/operands.h"
#include "common/vgpu/requests/local_memory.h"
#include "common/vgpu/sanitizer/checked_access.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;

// One instruction of a warp that holds values that nobody has written.
class Step {
 public:
  Step(Launch& launch, Warp& warp, const Op* op)
      : launch_(launch), warp_(warp), in_(*op->instruction), lanes_(warp.mask & guard_mask(warp, op)) {}

  // Moves the marks of registers as the instruction will move their values. False, with a fault recorded, if it uses a
  // value that nobody has written.
  bool prepare() {
    warp_.unset->stored = {};
    if (in_.guard >= 0 && !uses(in_.guard, warp_.mask)) return false;
    switch (ptx::info(in_.opcode).form) {
      case Form::alu:
      case Form::convert:
      case Form::cvta:
      case Form::compare:
      case Form::set:
        put(of_any(in_.operands, result_count(in_)));
        return true;
      case Form::move:
        return move();
      case Form::select:
        select();
        return true;
      case Form::load:
        if (!uses(in_.operands[1])) return false;
        put({});
        return true;
      case Form::store:
        return store();
      default:
        return use_all();
    }
  }

 private:
  const UnsetRegister* find(int reg) const {
    const auto at = warp_.unset->registers.find(reg);
    return at == warp_.unset->registers.end() || (at->second.lanes & lanes_) == 0 ? nullptr : &at->second;
  }

  // False, with a fault recorded, if one of these lanes has an unset value in the register.
  bool uses(int reg, std::uint32_t lanes) {
    const auto at = warp_.unset->registers.find(reg);
    if (at == warp_.unset->registers.end() || (at->second.lanes & lanes) == 0) return true;
    const UnsetRegister& mark = at->second;
    const int lane = std::countr_zero(mark.lanes & lanes);
    const std::uint64_t offset = mark.offset[static_cast<std::size_t>(lane)];
    if (mark.is_local) {
      report_unset_local(launch_, warp_, mark.load, lane, offset, mark.bytes);
    } else {
      report_unset_shared(launch_, warp_, mark.load, lane, offset, "reads");
    }
    return false;
  }
  bool uses(const Operand& operand) {
    bool is_fine = true;
    for_each_register(operand, [&](int reg) { is_fine = is_fine && uses(reg, lanes_); });
    return is_fine;
  }

  bool use_all() {
    bool is_fine = true;
    for_each_source(in_, [&](std::size_t reg) { is_fine = is_fine && uses(static_cast<int>(reg), lanes_); });
    put({});
    return is_fine;
  }

  void merge(int reg, std::uint32_t lanes, UnsetRegister& into) const {
    const UnsetRegister* const mark = find(reg);
    if (mark == nullptr || (mark->lanes & lanes) == 0) return;
    const std::uint32_t both = into.lanes | (mark->lanes & lanes);
    if (into.lanes == 0) into = *mark;
    into.lanes = both;
  }

  // The marks of a value that is computed from these operands.
  UnsetRegister of_any(const std::vector<Operand>& operands, std::size_t first) const {
    UnsetRegister out;
    for (std::size_t i = first; i < operands.size(); ++i)
      for_each_register(operands[i], [&](int reg) { merge(reg, lanes_, out); });
    return out;
  }

  void put_in(int reg, const UnsetRegister& mark) {
    const auto at = warp_.unset->registers.find(reg);
    const std::uint32_t kept = at == warp_.unset->registers.end() ? 0 : at->second.lanes & ~lanes_;
    const std::uint32_t lanes = kept | (mark.lanes & lanes_);
    if (lanes == 0) {
      if (at != warp_.unset->registers.end()) warp_.unset->registers.erase(at);
      return;
    }
    if ((mark.lanes & lanes_) != 0) {
      UnsetRegister both = mark;
      for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
        if ((kept >> lane & 1u) != 0) both.offset[lane] = at->second.offset[lane];
      }
      both.lanes = lanes;
      warp_.unset->registers.insert_or_assign(reg, both);
    } else {
      at->second.lanes = lanes;
    }
  }
  void put(const UnsetRegister& mark) {
    std::vector<int> results;
    for_each_result(in_, [&](std::size_t reg) { results.push_back(static_cast<int>(reg)); });
    for (const int reg : results) put_in(reg, mark);
  }

  // A register that is put together from several is unset if all of them are.
  bool move() {
    UnsetRegister mark = of_any(in_.operands, 1);
    for (const Operand& element : in_.operands[1].elements) {
      const UnsetRegister* const part = element.index < 0 ? nullptr : find(element.index);
      mark.lanes &= part == nullptr ? 0 : part->lanes;
    }
    put(mark);
    return true;
  }

  void select() {
    if (in_.opcode != ptx::Opcode::Selp || in_.operands[3].index < 0) return put(of_any(in_.operands, 1));
    const auto predicate = static_cast<std::size_t>(in_.operands[3].index);
    std::uint32_t first = warp_.predicate(launch_.program.register_slots[predicate]);
    if (in_.operands[3].negated) first = ~first;
    UnsetRegister mark;
    for_each_register(in_.operands[1], [&](int reg) { merge(reg, lanes_ & first, mark); });
    for_each_register(in_.operands[2], [&](int reg) { merge(reg, lanes_ & ~first, mark); });
    for_each_register(in_.operands[3], [&](int reg) { merge(reg, lanes_, mark); });
    put(mark);
  }

  // Whether a store through a generic pointer goes to global memory.
  bool reaches_global() const {
    if (in_.space != ptx::Space::generic) return in_.space == ptx::Space::global;
    const Operand& to = in_.operands[0];
    if (to.index < 0) return true;
    const Slot slot = launch_.program.register_slots[static_cast<std::size_t>(to.index)];
    // Code in lockstep may hold the address of lane 0 only.
    const int lane = warp_.in_lockstep ? 0 : std::countr_zero(lanes_);
    const std::uint64_t at = warp_.lanes<std::uint64_t>(slot)[lane] + static_cast<std::uint64_t>(to.offset);
    return at - kSharedWindow >= kWindowBytes && at - kLocalWindow >= kWindowBytes;
  }

  bool store() {
    if (!uses(in_.operands[0])) return false;
    const Operand& data = in_.operands[1];
    if (lanes_ == 0) return true;
    if (in_.is_volatile || reaches_global()) return uses(data);
    for (std::size_t part = 0; part < part_count(in_); ++part) {
      const int reg = data.kind == Operand::Kind::vector ? data.elements[part].index : data.index;
      const UnsetRegister* const mark = reg < 0 ? nullptr : find(reg);
      if (mark != nullptr) warp_.unset->stored[part] = mark->lanes & lanes_;
    }
    return true;
  }

  Launch& launch_;
  Warp& warp_;
  const Instruction& in_;
  std::uint32_t lanes_;  // that execute the instruction
};

// Whether this is the first of the operations that an instruction became.
bool begins_instruction(const Op* op) { return (op - 1)->instruction != op->instruction; }

// The handler of this operation alone, even if others are fused with it.
Handler own_handler(const Op& op) { return op.guarded != nullptr && op.guard == kNoSlot ? op.guarded : op.run; }

}  // namespace

const Op* follow_unset(Launch& launch, Warp& warp, const Op* op) {
  while (op != nullptr && warp.unset != nullptr) {
    if (op == &warp.unset->detour) {
      op = warp.unset->next;
      continue;
    }
    if (op->instruction == nullptr) {
      if (warp.unset->registers.empty()) warp.unset.reset();
    } else if (begins_instruction(op) && !Step(launch, warp, op).prepare()) {
      return nullptr;
    }
    launch.charge(work::kFollowed);
    op = own_handler(*op)(launch, warp, op);
  }
  return op;
}

const Op* op_follow_unset(Launch& launch, Warp& warp, const Op*) {
  return follow_unset(launch, warp, warp.unset->next);
}

}  // namespace roofwalk::vgpu
