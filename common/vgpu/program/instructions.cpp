#include "common/vgpu/program/instructions.h"

#include <algorithm>

#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {

using ptx::Form;
using ptx::Instruction;
using ptx::Space;
using ptx::Type;

bool is_memory(const Instruction& instruction) {
  switch (ptx::info(instruction.opcode).form) {
    case Form::load:
    case Form::store:
    case Form::atomic:
    case Form::reduction:
      return instruction.space != ptx::Space::param && instruction.space != ptx::Space::constant;
    case Form::matrix_load:
    case Form::fragment_load:
    case Form::fragment_store:
      return true;
    case Form::async_copy:
      return instruction.async == ptx::AsyncMode::copy;
    case Form::mbarrier:
      return instruction.mbarrier != ptx::MbarrierMode::pending_count;
    default:
      return false;
  }
}

bool reads_clock(const Instruction& in) {
  using ptx::SpecialRegister;
  return std::any_of(in.operands.begin(), in.operands.end(), [](const ptx::Operand& operand) {
    if (operand.kind != ptx::Operand::Kind::special) return false;
    return operand.special == SpecialRegister::clock || operand.special == SpecialRegister::clock64 ||
           operand.special == SpecialRegister::clock_hi || operand.special == SpecialRegister::globaltimer ||
           operand.special == SpecialRegister::globaltimer_lo || operand.special == SpecialRegister::globaltimer_hi;
  });
}

bool passes_l1(const Instruction& in) {
  if (ptx::info(in.opcode).form != ptx::Form::load) return false;
  if (!reaches_global(in)) return false;
  return (in.is_volatile && !in.of_block) || in.no_allocate || in.cache == ptx::CacheHint::cg ||
         in.cache == ptx::CacheHint::cv;
}

bool empties_l1(const Instruction& in) {
  const bool is_fence = ptx::info(in.opcode).form == ptx::Form::fence;
  return (is_fence || (in.acquires && in.space != ptx::Space::shared)) && !in.of_block;
}

bool loads_constant(const Instruction& in) {
  return ptx::info(in.opcode).form == Form::load && in.space == ptx::Space::constant;
}

bool meets_by_value(const Instruction& in) {
  if (in.async == ptx::AsyncMode::mbarrier_arrive) return true;
  if (ptx::info(in.opcode).form != Form::barrier || in.barrier == ptx::BarrierMode::warp_sync) return false;
  if (in.guard >= 0 || (in.unaligned && in.barrier == ptx::BarrierMode::sync)) return true;
  // The operands that follow the results: barrier number, thread count (optional), predicate (reductions only).
  const bool reduces = result_count(in) != 0;
  const auto end = in.operands.end() - (reduces ? 1 : 0);
  return std::any_of(in.operands.begin() + static_cast<std::ptrdiff_t>(result_count(in)), end,
                     [](const ptx::Operand& operand) { return operand.kind == ptx::Operand::Kind::reg; });
}

namespace {

// By kind of write: whom it tells; `blocks` and plain stores for `others` in global memory only. Who stores plainly to
// shared memory what others look at races with them, and who is early at an mbarrier with those behind it: the race
// detector sees both. A compare-and-swap tells only what its own warp has just looked at.
struct Listeners {
  bool waiting = false, blocks = false, others = false;
};
constexpr Listeners kNobody{};
constexpr Listeners kPlainStore{.waiting = true, .others = true};
constexpr Listeners kStrongStore{.waiting = true, .blocks = true, .others = true};  // volatile, relaxed or release
constexpr Listeners kAtomic{.waiting = true, .blocks = true, .others = true};
constexpr Listeners kSwap{.waiting = true};
constexpr Listeners kMbarrier{.waiting = true};

Listeners listeners_of(const Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::store:
      if (in.space != Space::shared && !reaches_global(in)) return kNobody;
      return in.is_volatile ? kStrongStore : kPlainStore;
    case Form::atomic:
    case Form::reduction:
      return in.atomic == ptx::AtomicOp::cas ? kSwap : kAtomic;
    case Form::mbarrier: {
      const bool waits = in.mbarrier == ptx::MbarrierMode::test_wait || in.mbarrier == ptx::MbarrierMode::try_wait;
      return waits ? kNobody : kMbarrier;
    }
    default:
      return kNobody;
  }
}

}  // namespace

bool may_tell(const Instruction& in, Told whom) {
  const Listeners listeners = listeners_of(in);
  switch (whom) {
    case Told::waiting:
      return listeners.waiting;
    case Told::blocks:
      return listeners.blocks && reaches_global(in);
    case Told::others:
      return listeners.others && (reaches_global(in) || in.is_volatile || ptx::info(in.opcode).form != Form::store);
  }
  return false;
}

bool loads_indexed_constant(const Instruction& in) { return loads_constant(in) && in.operands[1].index >= 0; }

bool is_retried(const Instruction& in, bool shared) {
  using ptx::AtomicOp;
  const Form form = ptx::info(in.opcode).form;
  if (form != Form::atomic && form != Form::reduction) return false;
  const int bytes = ptx::size_bytes(in.type);
  switch (in.atomic) {
    case AtomicOp::exch:
      return false;
    case AtomicOp::cas:
      return bytes == 2;
    case AtomicOp::add:
      return in.type == Type::f16 || (shared && (ptx::is_float(in.type) || bytes == 8));
    default:
      return shared && bytes == 8;
  }
}

}  // namespace roofwalk::vgpu
