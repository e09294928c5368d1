// Modifiers of loads, stores, copies and atomics.
#include "common/ptx/modifier_reader.h"

namespace roofwalk::ptx {
namespace {

bool is_load(const Instruction& i) { return info(i.opcode).form == Form::load; }

// Reads .weak, .volatile, .relaxed.scope, .acquire.scope (loads) or .release.scope (stores), if present. False if a
// scope is missing.
bool read_semantics(ModifierReader& reader, Instruction& i) {
  if (reader.take(".weak")) return true;
  if (reader.take(".volatile")) {
    i.is_volatile = true;
    return true;
  }
  const bool ordered = reader.take(is_load(i) ? ".acquire" : ".release");
  if (ordered || reader.take(".relaxed")) {
    i.is_volatile = true;
    i.is_relaxed = !ordered;
    i.acquires = ordered && is_load(i);
    i.releases = ordered && !is_load(i);
    return take_scope(reader, i);
  }
  return true;
}

TypeSet atomic_types(AtomicOp op) {
  switch (op) {
    case AtomicOp::add:
      return kU32 | kS32 | kU64 | kF16 | kF16x2 | kF32 | kF64;
    case AtomicOp::min:
    case AtomicOp::max:
      return kU32 | kS32 | kU64 | kS64;
    case AtomicOp::inc:
    case AtomicOp::dec:
      return kU32;
    case AtomicOp::cas:
      return kBits;
    case AtomicOp::none:
      return 0;
    default:
      return kB32 | kB64;
  }
}

}  // namespace

Reason read_memory(ModifierReader& reader, Instruction& i) {
  const bool loads = is_load(i);
  if (!read_semantics(reader, i)) return kUnsupported;
  reader.take(kSpaceNames, i.space);
  const bool is_global = i.space == Space::global;
  const bool has_cache = reader.take(loads ? kLoadCacheNames : kStoreCacheNames, i.cache);
  i.non_coherent = loads && is_global && reader.take(".nc");
  i.no_allocate = reader.take(".L1::no_allocate");
  const bool has_hint = i.no_allocate || reader.take_any({".L1::evict_normal", ".L1::evict_unchanged",
                                                          ".L1::evict_first", ".L1::evict_last"});
  i.has_policy = reader.take(".L2::cache_hint");
  const bool has_prefetch = loads && reader.take_any({".L2::64B", ".L2::128B", ".L2::256B"});
  if (i.is_volatile && (has_cache || i.non_coherent)) return kUnsupported;
  if (i.is_volatile && i.space != Space::generic && !is_global && i.space != Space::shared) return kUnsupported;
  if (i.non_coherent && (i.cache == CacheHint::lu || i.cache == CacheHint::cv)) return kUnsupported;
  if ((has_hint || has_prefetch || i.has_policy) && !is_global && i.space != Space::generic) return kUnsupported;
  if (has_cache && has_hint) return kUnsupported;
  if (!loads && i.space == Space::constant) return "writes to constant memory";
  if (reader.take(".v2")) i.vector = 2;
  if (reader.take(".v4")) i.vector = 4;
  if (!reader.take_type(info(i.opcode).types, i.type)) return kUnsupported;
  if (i.vector * size_bytes(i.type) > 16) return "moves more than 16 bytes";
  return reader.finish();
}

// Reads createpolicy.fractional.L2::x{.L2::y}.b64.
Reason read_cache_policy(ModifierReader& reader, Instruction& i) {
  const auto first = {std::string_view(".L2::evict_last"), std::string_view(".L2::evict_normal"),
                      std::string_view(".L2::evict_first"), std::string_view(".L2::evict_unchanged")};
  if (!reader.take(".fractional") || !reader.take_any(first)) return kUnsupported;
  reader.take_any({".L2::evict_first", ".L2::evict_unchanged"});
  return reader.take_type(info(i.opcode).types, i.type) ? reader.finish() : kUnsupported;
}

Reason read_async_copy(ModifierReader& reader, Instruction& i) {
  if (!reader.take(".async")) return kUnsupported;
  if (reader.take(".commit_group")) {
    i.async = AsyncMode::commit_group;
  } else if (reader.take(".wait_group")) {
    i.async = AsyncMode::wait_group;
  } else if (reader.take(".wait_all")) {
    i.async = AsyncMode::wait_all;
  } else if (reader.take(".mbarrier")) {
    i.async = AsyncMode::mbarrier_arrive;
    if (!reader.take(".arrive")) return kUnsupported;
    i.no_increment = reader.take(".noinc");
    if (take_shared(reader)) i.space = Space::shared;
    if (!reader.take_type(kB64, i.type)) return kUnsupported;
  } else {
    i.async = AsyncMode::copy;
    i.space = Space::global;
    if (!reader.take(kLoadCacheNames, i.cache) || (i.cache != CacheHint::ca && i.cache != CacheHint::cg)) {
      return kUnsupported;
    }
    const bool from_global =
        reader.take_in_order(".shared", ".global") || reader.take_in_order(".shared::cta", ".global");
    if (!from_global) return kUnsupported;
    i.has_policy = reader.take(".L2::cache_hint");
    reader.take_any({".L2::64B", ".L2::128B", ".L2::256B"});
  }
  return reader.finish();
}

Reason read_atomic(ModifierReader& reader, Instruction& i) {
  const bool is_reduction = info(i.opcode).form == Form::reduction;
  // The machine executes warps in a fixed order, so memory orderings never change a result. But L1, the sanitizer and
  // the timing model depend on them.
  if (!reader.take(".relaxed")) {
    const bool both = !is_reduction && reader.take(".acq_rel");
    i.acquires = both || (!is_reduction && reader.take(".acquire"));
    i.releases = both || (!i.acquires && reader.take(".release"));
    i.is_volatile = i.acquires || i.releases;
  }
  take_scope(reader, i);
  if (reader.take(kSpaceNames, i.space) && i.space != Space::global && i.space != Space::shared) return kUnsupported;
  if (!reader.take(kAtomicOpNames, i.atomic)) return kUnsupported;
  if (is_reduction && (i.atomic == AtomicOp::exch || i.atomic == AtomicOp::cas)) return kUnsupported;
  const bool keeps_subnormals = reader.take(".noftz");
  i.has_policy = reader.take(".L2::cache_hint");
  if (!reader.take_type(info(i.opcode).types & atomic_types(i.atomic), i.type)) return kUnsupported;
  const bool half = (bit(i.type) & kHalf) != 0;
  if (half && !keeps_subnormals) return "needs .noftz";
  if (!half && keeps_subnormals) return kUnsupported;
  if (i.has_policy && (i.space == Space::shared || i.atomic == AtomicOp::cas)) return kUnsupported;
  return reader.finish();
}

}  // namespace roofwalk::ptx
