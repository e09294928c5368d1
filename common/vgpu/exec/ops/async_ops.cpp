// cp.async copies bytes from global to shared memory. The copy is made at once, so a kernel that does not wait for it
// still reads the copied data. The timing model adds the cost of the wait.
//
// Counts follow NVIDIA's profiler counters for LDGSTS: one instruction makes a request and sectors of global memory
// at L1 (..._mem_global_op_ldgsts_cache_access and _cache_bypass), and wavefronts and bank conflicts of shared memory
// (..._mem_shared_op_ldgsts).
// - The global side counts as a load of the same width: one request, its lines, its sectors. With .ca the sectors are
//   looked up in L1 and fill it; with .cg every sector is requested from L2, and L1 is neither read nor changed.
// - The shared side counts as a store of the same width, zero-filled bytes included.
// - Lanes that read no byte (a source size of 0, or a source that is ignored) do not count on the global side; if no
//   lane reads, there is no global request.
#include <bit>
#include <cstring>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/requests/coalescer.h"
#include "common/vgpu/requests/global_flow.h"
#include "common/vgpu/requests/shared_memory.h"
#include "common/vgpu/sanitizer/checked_access.h"

namespace roofwalk::vgpu {
namespace {

// The bytes that each lane reads, and their address. Lanes that read nothing need no address.
struct Source {
  std::uint32_t bytes[kWarpSize] = {};
  const std::uint8_t* at[kWarpSize] = {};
  std::uint32_t reading = 0;  // lanes that read at least one byte
  LaneBytes stored;           // buffer for bytes that were stored in this round
};

// Finds the sources of the lanes in `mask`. Each copies `bytes` bytes, of which it reads the first `read` from global
// memory. False if a fault was recorded.
bool resolve_source(Launch& launch, Warp& warp, const Op* op, std::uint32_t mask, std::uint32_t read,
                    std::uint32_t bytes, Source& out) {
  Access access;
  make_access(warp, mask, op->s[4], op->offset, true, read, access);
  access.align_bytes = bytes;
  Pointers at;
  if (!resolve(launch, warp, op, access, "reads", at)) return false;
  if (!check_defined(launch, warp, op, access, "reads")) return false;
  if (records_global_flow(launch, warp)) note_global_load(launch, warp, op, access);
  if (may_be_stored(launch, access)) overlay_stores(launch, access, at, out.stored);
  for (int l = 0; l < kWarpSize; ++l) {
    if ((mask >> l & 1u) == 0) continue;
    out.bytes[l] = read;
    out.at[l] = at.of(access, l);
  }
  out.reading |= mask;
  return true;
}

bool resolve_sources(Launch& launch, Warp& warp, const Op* op, std::uint32_t bytes, Source& out) {
  if (op->s[0] == kNoSlot) return resolve_source(launch, warp, op, warp.mask, bytes, bytes, out);
  if (op->instruction->may_ignore) {
    const std::uint32_t ignored = warp.predicate(op->s[0]) ^ (op->instruction->operands[3].negated ? kAllLanes : 0u);
    const std::uint32_t reading = warp.mask & ~ignored;
    return reading == 0 || resolve_source(launch, warp, op, reading, bytes, bytes, out);
  }
  const std::uint32_t* wanted = warp.lanes<std::uint32_t>(op->s[0]);
  for (std::uint32_t left = warp.mask; left != 0;) {
    const int first = std::countr_zero(left);
    const std::uint32_t read = wanted[first];
    if (read > bytes) {
      launch.stop(warp, op, FaultKind::out_of_bounds, first,
                  fmt::format("out of bounds: copies {} bytes to shared memory, but is told to read {}", bytes, read));
      return false;
    }
    std::uint32_t same = 0;
    for (int l = first; l < kWarpSize; ++l) same |= (wanted[l] == read ? 1u << l : 0u) & left;
    left &= ~same;
    if (read != 0 && !resolve_source(launch, warp, op, same, read, bytes, out)) return false;
  }
  return true;
}

// Returns the executing lanes without those that copy the same bytes to the same place as a lower lane. Such lanes make
// one copy: in cooperative_groups::memcpy_async, spare lanes repeat the copy of the last element.
std::uint32_t without_repeats(const Access& from, const Access& to, const Source& source) {
  std::uint32_t out = to.mask;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if ((out >> lane & 1u) == 0) continue;
    for (int other = lane + 1; other < kWarpSize; ++other) {
      if ((out >> other & 1u) == 0 || to.of(lane) != to.of(other)) continue;
      const bool same_size = source.bytes[lane] == source.bytes[other];
      if (same_size && (source.bytes[lane] == 0 || from.of(lane) == from.of(other))) out &= ~(1u << other);
    }
  }
  return out;
}

template <std::uint32_t bytes, bool past_l1>
const Op* op_async_copy(Launch& launch, Warp& warp, const Op* op) {
  Source source;
  if (!resolve_sources(launch, warp, op, bytes, source)) return nullptr;
  Access to;
  make_access(warp, warp.mask, op->s[5], static_cast<std::int32_t>(op->target), op->count == 8, bytes, to);
  to.spell_out();
  Pointers shared;
  if (!resolve_shared(launch, warp, op, to, "writes", shared)) return nullptr;
  Access from;
  if (source.reading != 0) {
    make_access(warp, source.reading, op->s[4], op->offset, true, bytes, from);
    from.read_bytes = std::accumulate(std::begin(source.bytes), std::end(source.bytes), 0u);
    count_load(launch, warp, op, from, past_l1 || op->past_l1);
  }
  count_shared(launch, warp, op, to, SharedUse::store);
  if (is_watched(launch, warp)) to.mask = without_repeats(from, to, source);
  if (!check_shared(launch, warp, op, to, SharedTouch::copy)) return nullptr;
  for (int l = 0; l < kWarpSize; ++l) {
    if ((warp.mask >> l & 1u) == 0) continue;
    std::uint8_t* const d = shared.of(to, l);
    if (source.bytes[l] == bytes) {
      std::memcpy(d, source.at[l], bytes);
    } else {
      std::memset(d, 0, bytes);
      if (source.bytes[l] != 0) std::memcpy(d, source.at[l], source.bytes[l]);
    }
    if (is_watched(launch, warp) && launch.memory.holds_unset() && source.bytes[l] != 0)
      copy_unset_shared(launch, warp, from.of(l), to.of(l), source.bytes[l]);
  }
  return after_memory(launch, warp, op);
}

// The copies are already made. Closing groups and waiting for them only informs the sanitizer, and counts batches for
// the traces of mbarrier waits.
const Op* op_commit_copies(Launch&, Warp& warp, const Op* op) {
  ++warp.copy_batches;
  if (warp.block->shadow != nullptr) warp.block->shadow->commit_copies(warp.index, warp.mask);
  return op + 1;
}

const Op* op_wait_for_copies(Launch&, Warp& warp, const Op* op) {
  if (warp.block->shadow != nullptr) {
    warp.block->shadow->wait_for_copies(warp.index, warp.mask, static_cast<std::uint32_t>(op->offset));
  }
  return op + 1;
}

const Op* op_wait_for_all_copies(Launch&, Warp& warp, const Op* op) {
  if (warp.block->shadow != nullptr) warp.block->shadow->wait_for_all_copies(warp.index, warp.mask);
  return op + 1;
}

}  // namespace

Handler async_group_handler(const ptx::Instruction& in) {
  switch (in.async) {
    case ptx::AsyncMode::commit_group:
      return op_commit_copies;
    case ptx::AsyncMode::wait_group:
      return op_wait_for_copies;
    case ptx::AsyncMode::wait_all:
      return op_wait_for_all_copies;
    default:
      return nullptr;
  }
}

Handler async_copy_handler(const ptx::Instruction& in) {
  if (in.cache == ptx::CacheHint::cg) return op_async_copy<16, true>;
  switch (in.operands[2].bits) {
    case 4:
      return op_async_copy<4, false>;
    case 8:
      return op_async_copy<8, false>;
    default:
      return op_async_copy<16, false>;
  }
}

}  // namespace roofwalk::vgpu
