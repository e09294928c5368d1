#include "common/vgpu/exec/follow_unset.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "common/vgpu/exec/lockstep/lockstep.h"
#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/unset_step.h"
#include "common/vgpu/requests/unset_loads.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Operand;

// One instruction of a warp that holds values that nobody has written.
class Step : public UnsetStep {
 public:
  using UnsetStep::UnsetStep;

  // Moves the marks of registers as the instruction will move their values. False, with a fault recorded, if it uses a
  // value that nobody has written.
  bool prepare() {
    warp.unset->stored.clear();
    if (in.guard >= 0 && !uses(in.guard, warp.mask)) return false;
    const Form form = ptx::info(in.opcode).form;
    if (is_any_marked(0)) launch.charge(form == Form::matrix_multiply ? work::kMarkedProduct : work::kMarked);
    switch (form) {
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
        if (!uses(in.operands[1])) return false;
        put({});
        return true;
      case Form::store:
        return store();
      case Form::fragment_store:  // its handler looks at the matrix itself
        return std::all_of(in.operands.begin(), in.operands.end(),
                           [&](const Operand& operand) { return &operand == &in.operands[1] || uses(operand); });
      case Form::shuffle:
      case Form::vote:
      case Form::warp_reduce:
      case Form::warp_match:
      case Form::matrix_multiply:
        return exchange_.emplace().prepare(*this);
      default:
        return use_all();
    }
  }
  // After the instruction has been executed.
  void finish() {
    if (exchange_) exchange_->finish(*this);
  }

 private:
  bool use_all() {
    bool is_fine = true;
    for_each_source(in, [&](std::size_t reg) { is_fine = is_fine && uses(static_cast<int>(reg), lanes); });
    put({});
    return is_fine;
  }

  void compute() {
    const std::size_t first = result_count(in);
    UnsetRegister out;
    if (is_any_marked(first)) {
      std::vector<UnsetSource> sources(in.operands.size() - first);
      for_lanes_of(lanes, [&](int lane) {
        for (std::size_t i = 0; i < sources.size(); ++i) sources[i] = source(in.operands[first + i], lane);
        if (const std::uint64_t bits = unset_result(in, sources); bits != 0) out.put(lane, bits, origin(first, lane));
      });
    }
    put(out);
  }

  // Copies a register, packs several into one, or the other way round.
  void move() {
    const Operand &to = in.operands[0], &from = in.operands[1];
    const bool is_wide = in.type == ptx::Type::b128;  // of which the bits are not told apart
    const auto width = [&](const Operand& operand) {
      return operand.elements.empty()
                 ? 0
                 : 8 * static_cast<std::size_t>(ptx::size_bytes(in.type)) / operand.elements.size();
    };
    UnsetRegister out;
    if (is_marked(from)) {
      for_lanes_of(lanes, [&](int lane) {
        std::uint64_t bits = source(from, lane).bits;
        for (std::size_t i = 0; i < from.elements.size(); ++i) {
          const std::uint64_t own = source(from.elements[i], lane).bits;
          bits |= is_wide ? (own != 0 ? ~0ull : 0) : own << i * width(from);
        }
        if (bits != 0) out.put(lane, bits, origin(1, lane));
      });
    }
    put_in(to, out);
    for (std::size_t i = 0; i < to.elements.size(); ++i) {
      UnsetRegister part;
      for_lanes_of(out.lanes() & lanes, [&](int lane) {
        part.put(lane, is_wide ? ~0ull : out.bits(lane) >> i * width(to), out.from(lane));
      });
      put_in(to.elements[i], part);
    }
  }

  void select() {
    UnsetRegister out;
    if (is_any_marked(1)) {
      for_lanes_of(lanes, [&](int lane) {
        const UnsetSource by = source(in.operands[3], lane);
        const Operand& picked = in.operands[by.value != 0 ? 1 : 2];
        const std::uint64_t bits = by.bits != 0 ? ~0ull : source(picked, lane).bits;
        if (bits != 0) out.put(lane, bits, origin(1, lane));
      });
    }
    put(out);
  }

  bool store() {
    if (!uses(in.operands[0])) return false;
    const Operand& data = in.operands[1];
    if (!is_marked(data)) return true;
    warp.unset->stored.resize(part_count(in));
    for (std::size_t part = 0; part < part_count(in); ++part) {
      const int reg = data.kind == Operand::Kind::vector ? data.elements[part].index : data.index;
      const UnsetRegister* const mark = reg < 0 ? nullptr : find(reg);
      if (mark != nullptr) warp.unset->stored[part] = *mark;
    }
    return true;
  }

  std::optional<UnsetExchange> exchange_;
};

// At the start of a basic block: forgets marks of values that the warp's lanes want no more, so that the warp need not
// be followed any longer. Not in kernels with calls, which would need to know what the callers want.
void forget_unwanted(Launch& launch, Warp& warp, std::uint32_t block) {
  if (!launch.program.calls.empty()) return;
  if (launch.uses == nullptr)
    launch.uses = std::make_shared<const BlockUses>(*launch.program.function, launch.program.blocks);
  if (!launch.uses->is_known()) return;
  auto& registers = warp.unset->registers;
  for (auto at = registers.begin(); at != registers.end();) {
    UnsetRegister& mark = at->second;
    if (!launch.uses->is_wanted_in(static_cast<std::size_t>(at->first), block))
      for_lanes_of(mark.lanes() & warp.mask, [&](int lane) { mark.put(lane, 0, {}); });
    at = mark.lanes() == 0 ? registers.erase(at) : std::next(at);
  }
}

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
    std::optional<Step> step;
    if (op->instruction == nullptr) {
      if (op == first_op_of(launch.program, warp.in_lockstep, op->block)) forget_unwanted(launch, warp, op->block);
      if (warp.unset->registers.empty() && warp.unset->kept == 0) warp.unset.reset();
    } else if (op->instruction != last && begins_instruction(op)) {
      if (!step.emplace(launch, warp, op).prepare()) return nullptr;
    }
    last = op->instruction;
    launch.charge(work::kFollowed);
    const Op* const next = own_handler(*op)(launch, warp, op);
    const bool has_detour = warp.unset != nullptr && next == &warp.unset->detour;
    if (step && (has_detour ? warp.unset->next : next) == op + 1) step->finish();
    op = next;
  }
  return op;
}

const Op* op_follow_unset(Launch& launch, Warp& warp, const Op*) {
  return follow_unset(launch, warp, warp.unset->next);
}

}  // namespace roofwalk::vgpu
