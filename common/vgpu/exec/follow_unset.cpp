#include "common/vgpu/exec/follow_unset.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/unset_bits.h"
#include "common/vgpu/program/operands.h"
#include "common/vgpu/requests/local_memory.h"
#include "common/vgpu/sanitizer/checked_access.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;

template <class Visit>
void for_lanes_of(std::uint32_t lanes, Visit&& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(std::countr_zero(lanes));
}

// One instruction of a warp that holds values that nobody has written.
class Step {
 public:
  Step(Launch& launch, Warp& warp, const Op* op)
      : launch_(launch), warp_(warp), in_(*op->instruction), lanes_(warp.mask & guard_mask(warp, op)) {}

  // Moves the marks of registers as the instruction will move their values. False, with a fault recorded, if it uses a
  // value that nobody has written.
  bool prepare() {
    warp_.unset->stored.clear();
    if (in_.guard >= 0 && !uses(in_.guard, warp_.mask)) return false;
    switch (ptx::info(in_.opcode).form) {
      case Form::alu:
      case Form::convert:
      case Form::cvta:
      case Form::compare:
      case Form::set:
      case Form::number_test:
      case Form::carry:
        compute();
        return true;
      case Form::move:
        move();
        return true;
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
    return at == warp_.unset->registers.end() ? nullptr : &at->second;
  }
  ptx::Type type_of(int reg) const { return launch_.program.function->registers[static_cast<std::size_t>(reg)].type; }

  // False, with a fault recorded, if one of these lanes has an unset value in the register.
  bool uses(int reg, std::uint32_t lanes) {
    const UnsetRegister* const mark = find(reg);
    if (mark == nullptr || (mark->lanes() & lanes) == 0) return true;
    const UnsetOrigin& from = mark->from(std::countr_zero(mark->lanes() & lanes));
    if (from.where == UnsetOrigin::Where::local) {
      report_unset_local(launch_, warp_, from.load, from.lane, from.offset, from.bytes);
    } else {
      report_unset_shared(launch_, warp_, from.load, from.lane, from.offset, "reads");
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

  // The value of a register in a lane, if it has at most 64 bits.
  std::optional<std::uint64_t> value_of(int reg, int lane) const {
    const auto r = static_cast<std::size_t>(reg);
    const Slot slot = launch_.program.register_slots[r];
    if (slot == kNoSlot) return std::nullopt;
    // Code in lockstep may store lane 0 only.
    const LockstepCode& lockstep = launch_.program.lockstep;
    const std::uint32_t offsets = warp_.in_lockstep && !lockstep.only_lane_0.empty() ? lockstep.only_lane_0[r] : 0;
    const int stored = offsets != 0 ? 0 : lane;
    const std::uint64_t more =
        offsets != 0 ? lockstep.lane_offsets[offsets - 1].of_lane[static_cast<std::size_t>(lane)] : 0;
    switch (ptx::size_bytes(type_of(reg))) {
      case 0:
        return warp_.predicate(slot) >> lane & 1u;
      case 2:
        return static_cast<std::uint16_t>(warp_.lanes<std::uint16_t>(slot)[stored] + more);
      case 4:
        return static_cast<std::uint32_t>(warp_.lanes<std::uint32_t>(slot)[stored] + more);
      case 8:
        return warp_.lanes<std::uint64_t>(slot)[stored] + more;
      default:
        return std::nullopt;
    }
  }

  UnsetSource source(const Operand& operand, int lane) const {
    if (operand.kind == Operand::Kind::immediate) return {.value = operand.bits, .is_known = true};
    if (operand.kind != Operand::Kind::reg) return {};
    const UnsetRegister* const mark = find(operand.index);
    const auto value = value_of(operand.index, lane);
    return {.bits = mark == nullptr ? 0 : mark->bits(lane),
            .value = operand.negated ? ~value.value_or(0) & 1 : value.value_or(0),
            .is_known = value.has_value()};
  }

  bool is_marked(const Operand& operand) const {
    bool any = false;
    for_each_register(operand, [&](int reg) {
      const UnsetRegister* const mark = find(reg);
      any = any || (mark != nullptr && (mark->lanes() & lanes_) != 0);
    });
    return any;
  }
  bool is_any_marked(std::size_t first) const {
    return std::any_of(in_.operands.begin() + static_cast<std::ptrdiff_t>(first), in_.operands.end(),
                       [&](const Operand& operand) { return is_marked(operand); });
  }

  // Where the unset bits of one of these operands come from; they have some in this lane.
  const UnsetOrigin& origin(std::size_t first, int lane) const {
    const UnsetRegister* found = nullptr;
    for (std::size_t i = first; i < in_.operands.size(); ++i) {
      for_each_register(in_.operands[i], [&](int reg) {
        const UnsetRegister* const mark = find(reg);
        if (found == nullptr && mark != nullptr && (mark->lanes() >> lane & 1u) != 0) found = mark;
      });
    }
    return found->from(lane);
  }

  void put_in(int reg, const UnsetRegister& mark) {
    const auto at = warp_.unset->registers.find(reg);
    if (at == warp_.unset->registers.end() && (mark.lanes() & lanes_) == 0) return;
    UnsetRegister& to = at == warp_.unset->registers.end() ? warp_.unset->registers[reg] : at->second;
    for_lanes_of(lanes_,
                 [&](int lane) { to.put(lane, mark.bits(lane) & bits_of_type(type_of(reg)), mark.from(lane)); });
    if (to.lanes() == 0) warp_.unset->registers.erase(reg);
  }
  void put(const UnsetRegister& mark) {
    for_each_result(in_, [&](int reg) { put_in(reg, mark); });
  }

  void compute() {
    const std::size_t first = result_count(in_);
    UnsetRegister out;
    if (is_any_marked(first)) {
      std::vector<UnsetSource> sources(in_.operands.size() - first);
      for_lanes_of(lanes_, [&](int lane) {
        for (std::size_t i = 0; i < sources.size(); ++i) sources[i] = source(in_.operands[first + i], lane);
        if (const std::uint64_t bits = unset_result(in_, sources); bits != 0) out.put(lane, bits, origin(first, lane));
      });
    }
    put(out);
  }

  // Copies a register, packs several into one, or the other way round.
  void move() {
    const Operand &to = in_.operands[0], &from = in_.operands[1];
    const bool is_wide = in_.type == ptx::Type::b128;  // of which the bits are not told apart
    const auto width = [&](const Operand& operand) {
      return operand.elements.empty()
                 ? 0
                 : 8 * static_cast<std::size_t>(ptx::size_bytes(in_.type)) / operand.elements.size();
    };
    UnsetRegister out;
    if (is_marked(from)) {
      for_lanes_of(lanes_, [&](int lane) {
        std::uint64_t bits = source(from, lane).bits;
        for (std::size_t i = 0; i < from.elements.size(); ++i) {
          const std::uint64_t own = source(from.elements[i], lane).bits;
          bits |= is_wide ? (own != 0 ? ~0ull : 0) : own << i * width(from);
        }
        if (bits != 0) out.put(lane, bits, origin(1, lane));
      });
    }
    put_in_any(to, out);
    for (std::size_t i = 0; i < to.elements.size(); ++i) {
      UnsetRegister part;
      for_lanes_of(out.lanes() & lanes_, [&](int lane) {
        part.put(lane, is_wide ? ~0ull : out.bits(lane) >> i * width(to), out.from(lane));
      });
      put_in_any(to.elements[i], part);
    }
  }
  void put_in_any(const Operand& operand, const UnsetRegister& mark) {
    if (operand.kind == Operand::Kind::reg) put_in(operand.index, mark);
  }

  void select() {
    UnsetRegister out;
    if (is_any_marked(1)) {
      for_lanes_of(lanes_, [&](int lane) {
        const UnsetSource by = source(in_.operands[3], lane);
        const Operand& picked = in_.operands[by.value != 0 ? 1 : 2];
        const std::uint64_t bits = by.bits != 0 ? ~0ull : source(picked, lane).bits;
        if (bits != 0) out.put(lane, bits, origin(1, lane));
      });
    }
    put(out);
  }

  // Whether a store through a generic pointer goes to global memory.
  bool reaches_global() const {
    if (in_.space != ptx::Space::generic) return in_.space == ptx::Space::global;
    const Operand& to = in_.operands[0];
    if (to.index < 0) return true;
    const std::uint64_t at = *value_of(to.index, std::countr_zero(lanes_)) + static_cast<std::uint64_t>(to.offset);
    return at - kSharedWindow >= kWindowBytes && at - kLocalWindow >= kWindowBytes;
  }

  bool store() {
    if (!uses(in_.operands[0])) return false;
    const Operand& data = in_.operands[1];
    if (lanes_ == 0 || !is_marked(data)) return true;
    if (in_.is_volatile || reaches_global()) return uses(data);
    warp_.unset->stored.resize(part_count(in_));
    for (std::size_t part = 0; part < part_count(in_); ++part) {
      const int reg = data.kind == Operand::Kind::vector ? data.elements[part].index : data.index;
      const UnsetRegister* const mark = reg < 0 ? nullptr : find(reg);
      if (mark != nullptr) warp_.unset->stored[part] = *mark;
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
  const ptx::Instruction* last = nullptr;  // the marks have moved for it
  while (op != nullptr && warp.unset != nullptr) {
    if (op == &warp.unset->detour) {
      op = warp.unset->next;
      continue;
    }
    if (op->instruction == nullptr) {
      if (warp.unset->registers.empty()) warp.unset.reset();
    } else if (op->instruction != last && begins_instruction(op) && !Step(launch, warp, op).prepare()) {
      return nullptr;
    }
    last = op->instruction;
    launch.charge(work::kFollowed);
    op = own_handler(*op)(launch, warp, op);
  }
  return op;
}

const Op* op_follow_unset(Launch& launch, Warp& warp, const Op*) {
  return follow_unset(launch, warp, warp.unset->next);
}

}  // namespace roofwalk::vgpu
