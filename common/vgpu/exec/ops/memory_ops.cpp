// Handlers of loads, stores and atomics.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "common/vgpu/exec/lockstep/load_fast_path.h"
#include "common/vgpu/exec/ops/half.h"
#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/ops/math.h"
#include "common/vgpu/requests/atomic_turns.h"
#include "common/vgpu/requests/coalescer.h"
#include "common/vgpu/requests/lanes.h"
#include "common/vgpu/requests/local_memory.h"
#include "common/vgpu/requests/memory_moves.h"
#include "common/vgpu/requests/shared_memory.h"
#include "common/vgpu/requests/sync_points.h"
#include "common/vgpu/sanitizer/checked_access.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Instruction;
using ptx::Space;
using ptx::Type;

// The memory that an instruction's generic addresses point to. `mixed`: more than one.
enum class Where { global, shared, local, mixed };
Where window_of(std::uint64_t address) {
  if (address - kSharedWindow < kWindowBytes) return Where::shared;
  if (address - kLocalWindow < kWindowBytes) return Where::local;
  return Where::global;
}
Where window_of(const Access& access) {
  const Where where = window_of(access.low);
  return window_of(access.high) == where ? where : Where::mixed;
}

// Executes an instruction whose generic addresses point to several memories: one after the other, each for its lanes
// only, as a request of its own. `run()` executes it for the lanes of `warp.mask`.
template <class Run>
[[gnu::noinline]] const Op* visit_each_memory(const Launch& launch, Warp& warp, const Op* op, Access& access,
                                              Run&& run) {
  access.spell_out();
  const std::uint32_t all = warp.mask;
  bool ends_turn = false;
  for (const Where where : {Where::local, Where::shared, Where::global}) {
    warp.mask = all & lane_bits([&](int l) { return window_of(access.address[l]) == where; });
    if (warp.mask == 0) continue;
    ends_turn |= run() == nullptr;
    if (launch.fault) break;
  }
  warp.mask = all;
  return detour_if_unset(warp, ends_turn ? nullptr : op + 1);
}

// Counts a request to shared memory by generic addresses apart from those to other memories.
void note_shared(Launch& launch, const Op* op) {
  if (launch.counts) ++launch.sites[op->pc].shared_requests;
}

const Op* no_atomics_there(Launch& launch, const Warp& warp, const Op* op) {
  return launch.stop(warp, op, FaultKind::unsupported, -1,
                     "an atomic on a variable of the thread's own: PTX has atomics on shared and global memory only");
}

// Executes one load or store: finds its memory, checks and counts the access, and calls `mover` to move the data.
template <bool store, Space space>
[[gnu::noinline, gnu::noclone]] const Op* access_memory(Launch& launch, Warp& warp, const Op* op, std::uint32_t bytes,
                                                        Mover mover) {
  const auto move = [&](const Access& to, const Pointers& pointers) { mover(warp, op, to, pointers); };
  constexpr bool kNear = space == Space::shared || space == Space::local || space == Space::param;
  constexpr const char* kVerb = store ? "writes" : "reads";
  Access access;
  make_access(warp, op, !kNear || op->count == 8, bytes, access);
  if constexpr (kNear) access.spell_out();
  Where where = space == Space::shared ? Where::shared : kNear ? Where::local : Where::global;
  if constexpr (space == Space::generic) {
    where = window_of(access);
    if (where == Where::mixed) {
      return visit_each_memory(launch, warp, op, access,
                               [&] { return access_memory<store, space>(launch, warp, op, bytes, mover); });
    }
    if (where != Where::global) access.spell_out();
  }
  Pointers at;
  switch (where) {
    case Where::global:
      if constexpr (store) {
        pass_by_store(launch, warp, op, access);
        return store_global(launch, warp, op, access, move);
      } else {
        LaneBytes data;
        pass_by_load(launch, warp, op, access);
        if (!begin_load(launch, warp, op, access, at, data)) return nullptr;
        move(access, at);
      }
      return detour_if_unset(warp, after_memory(launch, warp, op));
    case Where::shared:
      if (!resolve_shared(launch, warp, op, access, kVerb, at)) return nullptr;
      count_shared(launch, warp, op, access, store ? SharedUse::store : SharedUse::load);
      if constexpr (space == Space::generic) note_shared(launch, op);
      if (warp.block->follows_flags && op->instruction->is_volatile)
        note_flags(launch, warp, op, access, {.reads = !store, .writes = store});
      if (warp.block->shadow != nullptr) return move_checked<store>(launch, warp, op, access, at, mover);
      break;
    default:
      return access_local<store>(launch, warp, op, access, space != Space::param, [&](const Pointers& p) {
        access.contiguous = access.uniform = false;
        move(access, p);
      });
  }
  move(access, at);
  return op + 1;
}

// Fast path for adjacent words: lane l's word is at lane 0's address + l * 4. Any lanes may be active. Returns false,
// having done nothing, if the load does not qualify.
inline bool load_row(Launch& launch, const Warp& warp, const Op* op) {
  if (op->s[4] == kNoSlot || op->s[0] == kNoSlot || op->past_l1) return false;
  const std::uint32_t mask = warp.mask;
  const auto* const addresses = warp.lanes<std::uint64_t>(op->s[4]);
  const std::uint64_t first = addresses[0] + static_cast<std::uint64_t>(op->offset);
  const std::uint64_t low = first + 4 * static_cast<std::uint64_t>(std::countr_zero(mask));
  const std::uint64_t end = first + 4 * static_cast<std::uint64_t>(kWarpSize - std::countl_zero(mask));
  if (first > low || !has_even_steps<false>(addresses, mask, addresses[0], 4) ||
      !is_usual(launch, warp, op, low, end, first, 4)) {
    return false;
  }
  if (launch.counts) {
    const std::uint32_t touched = sectors_of_row(first, mask);
    const std::uint64_t line = first / kLineBytes;
    std::uint64_t missed = 0, lines = 0;
    if (const unsigned lower = touched & 0xfu; lower != 0) missed += read_line(*launch.sm, line, lower), ++lines;
    if (const unsigned upper = touched >> 4; upper != 0) missed += read_line(*launch.sm, line + 1, upper), ++lines;
    const auto bytes = 4 * static_cast<std::uint64_t>(std::popcount(mask));
    add_load(launch, op, lines, static_cast<std::uint64_t>(std::popcount(touched)), bytes, 1, missed);
  }
  const BufferMemo& memo = launch.buffer_memos[op->pc];
  move_row_in(warp.lanes<std::uint32_t>(op->s[0]), mask, memo.data + (first - memo.low));
  return true;
}

template <class R, class M, int vector>
[[gnu::noinline]] const Op* load_from_anywhere(Launch& launch, Warp& warp, const Op* op) {
  Access access;
  Pointers at;
  LaneBytes data;
  if (op->tells) {
    make_access(warp, op, true, sizeof(M) * vector, access);
    pass_by_load(launch, warp, op, access);
  }
  if (!load_global(launch, warp, op, sizeof(M) * vector, access, at, data)) return nullptr;
  move_in<R, M, vector>(warp, op, access, at);
  return detour_if_unset(warp, after_memory(launch, warp, op));
}

template <class R, class M, int vector>
const Op* op_load_constant(Launch& launch, Warp& warp, const Op* op) {
  Access access;
  make_access(warp, op, op->count == 8, sizeof(M) * vector, access);
  Pointers at;
  if (!resolve(launch, warp, op, access, "reads", at)) return nullptr;
  count_constants(launch, warp, op, access);
  move_in<R, M, vector>(warp, op, access, at);
  return after_memory(launch, warp, op);
}

template <class R, class M, int vector, Space space>
const Op* op_load(Launch& launch, Warp& warp, const Op* op) {
  if constexpr (space == Space::global) {
    if constexpr (vector == 1 && sizeof(R) == 4 && sizeof(M) == 4) {
      if (load_row(launch, warp, op)) return after_memory(launch, warp, op);
    }
    return load_from_anywhere<R, M, vector>(launch, warp, op);
  } else {
    return access_memory<false, space>(launch, warp, op, sizeof(M) * vector, move_in<R, M, vector>);
  }
}

template <class R, class M, int vector, Space space>
const Op* op_store(Launch& launch, Warp& warp, const Op* op) {
  return access_memory<true, space>(launch, warp, op, sizeof(M) * vector, move_out<R, M, vector>);
}

// Selects the handler of a load or store by its space.
template <class R, class M, int vector>
struct Loads {
  static Handler in(Space space) {
    switch (space) {
      case Space::global:
        return op_load<R, M, vector, Space::global>;
      case Space::constant:
        return op_load_constant<R, M, vector>;
      case Space::shared:
        return op_load<R, M, vector, Space::shared>;
      case Space::local:
        return op_load<R, M, vector, Space::local>;
      case Space::param:
        return op_load<R, M, vector, Space::param>;
      case Space::generic:
        return op_load<R, M, vector, Space::generic>;
    }
    return nullptr;
  }
};
template <class R, class M, int vector>
struct Stores {
  static Handler in(Space space) {
    switch (space) {
      case Space::global:
        return op_store<R, M, vector, Space::global>;
      case Space::shared:
        return op_store<R, M, vector, Space::shared>;
      case Space::local:
        return op_store<R, M, vector, Space::local>;
      case Space::param:
        return op_store<R, M, vector, Space::param>;
      case Space::generic:
        return op_store<R, M, vector, Space::generic>;
      case Space::constant:
        return nullptr;
    }
    return nullptr;
  }
};

struct HalfPair {
  Half low, high;
};

// The only scalar atomic that the ISA has for floats is add. Sums of .f32 flush subnormal numbers in global memory, not
// in shared memory.
float atomic_sum(float old, float b, bool flushes) {
  const float sum = flushes ? flush(flush(old) + flush(b)) : old + b;
  return sum != sum ? canonical_nan() : sum;
}
double atomic_sum(double old, double b, bool) {
  const double sum = old + b;
  return sum != sum ? std::numeric_limits<double>::quiet_NaN() : sum;
}
Half atomic_sum(Half old, Half b, bool) { return narrow<Half>(widen(old) + widen(b)); }
HalfPair atomic_sum(HalfPair old, HalfPair b, bool) {
  return {atomic_sum(old.low, b.low, false), atomic_sum(old.high, b.high, false)};
}

template <class T>
T atomic_result(ptx::AtomicOp operation, T old, T b, T c, bool flushes) {
  if constexpr (!std::is_integral_v<T>) {
    return atomic_sum(old, b, flushes);
  } else {
    using Wide = std::conditional_t<sizeof(T) == 2, std::uint32_t, std::make_unsigned_t<T>>;
    switch (operation) {
      case ptx::AtomicOp::add:
        return static_cast<T>(static_cast<Wide>(old) + static_cast<Wide>(b));
      case ptx::AtomicOp::min:
        return std::min(old, b);
      case ptx::AtomicOp::max:
        return std::max(old, b);
      case ptx::AtomicOp::exch:
        return b;
      case ptx::AtomicOp::cas:
        return old == b ? c : old;
      case ptx::AtomicOp::and_:
        return static_cast<T>(old & b);
      case ptx::AtomicOp::or_:
        return static_cast<T>(old | b);
      case ptx::AtomicOp::xor_:
        return static_cast<T>(old ^ b);
      case ptx::AtomicOp::inc:
        return old >= b ? T{0} : static_cast<T>(old + 1);
      case ptx::AtomicOp::dec:
        return old == 0 || old > b ? b : static_cast<T>(old - 1);
      default:
        return old;
    }
  }
}

// Executes an atomic lane by lane: the i-th is lane i ^ `order`, so that results repeat. `known`: the operation, if it
// is a compile-time constant. Returns, if it `notes` them, the lanes that stored another value than they had found.
template <class T, ptx::AtomicOp known, bool notes = false>
std::uint32_t update_lanes(const Warp& warp, const Op* op, const Access& access, const Pointers& at, bool flushes,
                           int order) {
  const ptx::AtomicOp operation = known != ptx::AtomicOp::none ? known : op->instruction->atomic;
  const T* const b = warp.lanes<T>(op->s[1]);
  const T* const c = op->s[2] == kNoSlot ? b : warp.lanes<T>(op->s[2]);
  T unwanted[kWarpSize];
  T* const d = op->s[0] == kNoSlot ? unwanted : warp.lanes<T>(op->s[0]);
  std::uint32_t changing = 0;
  const auto update = [&](std::uint8_t* place, int l) {
    T old;
    std::memcpy(&old, place, sizeof old);
    const T value = atomic_result(operation, old, b[l], c[l], flushes);
    std::memcpy(place, &value, sizeof value);
    if constexpr (notes) changing |= std::memcmp(&old, &value, sizeof value) != 0 ? 1u << l : 0u;
    d[l] = old;
  };
  if (warp.mask == kAllLanes && at.base != nullptr) {
    std::uint8_t* const base = at.base - at.low_address;
    for (int i = 0; i < kWarpSize; ++i) update(base + access.address[i ^ order], i ^ order);
    return changing;
  }
  for (int i = 0; i < kWarpSize; ++i) {
    const int l = i ^ order;
    if ((warp.mask >> l & 1u) != 0) update(at.of(access, l), l);
  }
  return changing;
}

template <class Visit>
void for_active_lanes(const Access& access, Visit&& visit) {
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) visit(std::countr_zero(left));
}

// Like update_lanes(), but also tells whether memory changed: a failed attempt to take a lock changes nothing.
struct Changes {
  bool any = false;         // behind all lanes
  std::uint32_t lanes = 0;  // that stored another value than they had found
};
template <class T, ptx::AtomicOp known>
Changes change_lanes(const Warp& warp, const Op* op, const Access& access, const Pointers& at, bool flushes,
                     int order) {
  LaneBytes before;
  for_active_lanes(access, [&](int l) { std::memcpy(before.lane(l, sizeof(T)), at.of(access, l), sizeof(T)); });
  Changes out;
  out.lanes = update_lanes<T, known, true>(warp, op, access, at, flushes, order);
  for_active_lanes(access, [&](int l) {
    out.any = out.any || std::memcmp(before.lane(l, sizeof(T)), at.of(access, l), sizeof(T)) != 0;
  });
  return out;
}

template <class T, ptx::AtomicOp known>
const Op* op_atomic(Launch& launch, Warp& warp, const Op* op) {
  const Instruction& in = *op->instruction;
  Access access;
  make_access(warp, op, op->count == 8, sizeof(T), access);
  access.spell_out();
  Pointers at;
  Where where = in.space == Space::shared ? Where::shared : Where::global;
  if (in.space == Space::generic) {
    where = window_of(access);
    if (where == Where::mixed)
      return visit_each_memory(launch, warp, op, access, [&] { return op_atomic<T, known>(launch, warp, op); });
    if (where == Where::local) return no_atomics_there(launch, warp, op);
  }
  const bool fetches = op->s[0] != kNoSlot;
  // In traces, an atomic whose result decides a way waits for the write whose value it read.
  const bool tells = fetches && op->decides;
  if (where == Where::shared) {
    if (!resolve_shared(launch, warp, op, access, "updates", at)) return nullptr;
    count_shared(launch, warp, op, access, SharedUse::atomic);
    if (in.space == Space::generic) note_shared(launch, op);
    if (is_retried(in, true)) count_swaps(launch, warp, op, access, true);
    if (warp.block->follows_flags || warp.block->shadow != nullptr) {
      const Changes changes = change_lanes<T, known>(warp, op, access, at, false, launch.lane_by_chance());
      if (warp.block->follows_flags)
        note_flags(launch, warp, op, access, {.reads = tells, .writes = changes.any, .atomic = true});
      if (warp.block->shadow != nullptr && !check_atomic(launch, warp, op, access, changes.lanes)) return nullptr;
      return after_memory(launch, warp, op);
    }
  } else {
    if (!resolve(launch, warp, op, access, "updates", at)) return nullptr;
    if ((in.atomic != ptx::AtomicOp::exch || fetches) && !check_defined(launch, warp, op, access, "updates"))
      return nullptr;
    if (launch.program.has_block_atomics && launch.sanitized && !check_block_scope(launch, warp, op, access))
      return nullptr;
    define(launch, op, access);
    launch.sm->wrote_global = true;
    count_atomic(launch, warp, op, access);
    if (launch.counts && empties_l1(in)) launch.sm->l1.empty();
    is_retried(in, false) ? count_swaps(launch, warp, op, access, false) : count_updates(launch, warp, op, access);
    const bool may_order = is_watched(launch, warp) && (launch.program.has_fences || in.releases || op->tells);
    if (warp.block->follows_flags || may_order) {
      const Changes changes = change_lanes<T, known>(warp, op, access, at, true, launch.lane_by_chance());
      if (warp.block->follows_flags)
        note_flags(launch, warp, op, access, {.reads = tells, .writes = changes.any, .atomic = true, .global = true});
      if (may_order) pass_by_atomic(launch, warp, op, access, changes.lanes);
      return after_memory(launch, warp, op);
    }
  }
  update_lanes<T, known>(warp, op, access, at, where == Where::global, launch.lane_by_chance());
  return after_memory(launch, warp, op);
}

// Additions have their own handler, because they are by far the most frequent.
template <class T>
Handler atomic_of(const Instruction& in) {
  using ptx::AtomicOp;
  return in.atomic == AtomicOp::add ? op_atomic<T, AtomicOp::add> : op_atomic<T, AtomicOp::none>;
}

}  // namespace

const Op* op_pick(Launch& launch, Warp& warp, const Op* op) {
  if (op->target >= warp.held_loads.size()) return op + 1;
  HeldLoad& held = warp.held_loads[op->target];
  if (held.op == nullptr) return op + 1;
  const std::uint32_t predicate = warp.predicate(op->s[0]);
  for (std::size_t way = 0; way < held.lanes.size(); ++way) {
    if ((op->count >> way & 1u) != 0) held.lanes[way] &= predicate;
    if ((op->next_block >> way & 1u) != 0) held.lanes[way] &= ~predicate;
  }
  if (!op->speculative) return op + 1;
  std::uint32_t wanted = 0;
  for (const std::uint32_t lanes : held.lanes) wanted |= lanes;
  const bool is_fine = check_held(launch, warp, held, wanted);
  held.op = nullptr;
  return is_fine ? op + 1 : nullptr;
}

const Op* op_take_up(Launch& launch, Warp& warp, const Op* op) {
  const std::size_t here = op->count;
  if (here < warp.held_loads.size()) warp.held_loads[here].op = nullptr;
  if (op->target >= warp.held_loads.size()) return op + 1;
  const std::uint32_t lanes = warp.held_loads[op->target].lanes[0] & warp.mask;
  if (lanes == 0) return op + 1;
  HeldLoad& held = warp.held_loads[here];  // smaller than `target`
  held = warp.held_loads[op->target];
  held.number_before = op->target;
  if (op->next_block != 0) {
    for (std::size_t way = 0; way < held.lanes.size(); ++way)
      held.lanes[way] = (op->next_block >> way & 1u) != 0 ? lanes : 0;
    return op + 1;
  }
  const bool is_fine = check_held(launch, warp, held, lanes);
  held.op = nullptr;
  return is_fine ? op + 1 : nullptr;
}

Handler load_handler(const Instruction& in, int register_bytes) { return by_form<Loads>(in, register_bytes); }
Handler store_handler(const Instruction& in, int register_bytes) { return by_size<Stores>(in, register_bytes); }

Handler atomic_handler(const Instruction& in) {
  if (in.space != Space::global && in.space != Space::shared && in.space != Space::generic) return nullptr;
  switch (in.type) {
    case Type::b16:
      return atomic_of<std::uint16_t>(in);
    case Type::f16:
      return atomic_of<Half>(in);
    case Type::f16x2:
      return atomic_of<HalfPair>(in);
    case Type::b32:
    case Type::u32:
      return atomic_of<std::uint32_t>(in);
    case Type::s32:
      return atomic_of<std::int32_t>(in);
    case Type::b64:
    case Type::u64:
      return atomic_of<std::uint64_t>(in);
    case Type::s64:
      return atomic_of<std::int64_t>(in);
    case Type::f32:
      return atomic_of<float>(in);
    case Type::f64:
      return atomic_of<double>(in);
    default:
      return nullptr;
  }
}

}  // namespace roofwalk::vgpu
