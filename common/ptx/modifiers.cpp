#include "common/ptx/modifiers.h"

#include "common/ptx/modifier_reader.h"
#include "common/ptx/names.h"

namespace roofwalk::ptx {
namespace {

Reason read_barrier(ModifierReader& reader, Instruction& i) {
  if (has_trait(i, kMeetsInWarps) && reader.take(".warp")) {
    i.barrier = BarrierMode::warp_sync;
    return reader.take(".sync") ? reader.finish() : kUnsupported;
  }
  reader.take(".cta");
  if (reader.take(".sync")) {
    i.barrier = BarrierMode::sync;
  } else if (reader.take(".arrive")) {
    i.barrier = BarrierMode::arrive;
  } else if (reader.take(".red")) {
    if (reader.take(".popc"))
      i.barrier = BarrierMode::red_popc;
    else if (reader.take(".and"))
      i.barrier = BarrierMode::red_and;
    else if (reader.take(".or"))
      i.barrier = BarrierMode::red_or;
    else
      return kUnsupported;
  } else {
    return kUnsupported;
  }
  if (has_trait(i, kMayBeAligned)) i.unaligned = !reader.take(".aligned");
  if (i.barrier == BarrierMode::red_popc && !reader.take_type(kU32, i.type)) return kUnsupported;
  if ((i.barrier == BarrierMode::red_and || i.barrier == BarrierMode::red_or) && !reader.take_type(kPred, i.type)) {
    return kUnsupported;
  }
  return reader.finish();
}

Reason read_shuffle(ModifierReader& reader, Instruction& i) {
  if (!reader.take(".sync") || !reader.take(kShuffleModeNames, i.shuffle)) return kUnsupported;
  return reader.take_type(info(i.opcode).types, i.type) ? reader.finish() : kUnsupported;
}

Reason read_prefetch(ModifierReader& reader, Instruction& i) {
  if (reader.take(kSpaceNames, i.space) && i.space != Space::global && i.space != Space::local) return kUnsupported;
  if (i.space == Space::global && reader.take_any({".L2::evict_last", ".L2::evict_normal"})) return reader.finish();
  return reader.take_any({".L1", ".L2"}) ? reader.finish() : kUnsupported;
}

Reason read_vote(ModifierReader& reader, Instruction& i) {
  if (!reader.take(".sync") || !reader.take(kVoteModeNames, i.vote)) return kUnsupported;
  if (!reader.take_type(i.vote == VoteMode::ballot ? kB32 : kPred, i.type)) return kUnsupported;
  return reader.finish();
}

Reason read_warp_reduce(ModifierReader& reader, Instruction& i) {
  if (!reader.take(".sync") || !reader.take(kAtomicOpNames, i.atomic)) return kUnsupported;
  const bool orders = i.atomic == AtomicOp::add || i.atomic == AtomicOp::min || i.atomic == AtomicOp::max;
  const bool bits = i.atomic == AtomicOp::and_ || i.atomic == AtomicOp::or_ || i.atomic == AtomicOp::xor_;
  if (!reader.take_type(orders ? kU32 | kS32 : bits ? kB32 : 0, i.type)) return kUnsupported;
  return reader.finish();
}

Reason read_warp_match(ModifierReader& reader, Instruction& i) {
  if (!reader.take(kVoteModeNames, i.vote) || (i.vote != VoteMode::any && i.vote != VoteMode::all)) return kUnsupported;
  if (!reader.take(".sync") || !reader.take_type(info(i.opcode).types, i.type)) return kUnsupported;
  return reader.finish();
}

// Reads mbarrier operations. Later PTX versions spell out what the short forms imply: an arrival releases, a wait
// acquires, both within the block.
Reason read_mbarrier(ModifierReader& reader, Instruction& i) {
  if (!reader.take(kMbarrierModeNames, i.mbarrier)) return kUnsupported;
  const bool arrives = i.mbarrier == MbarrierMode::arrive || i.mbarrier == MbarrierMode::arrive_drop;
  const bool waits = i.mbarrier == MbarrierMode::test_wait || i.mbarrier == MbarrierMode::try_wait;
  if (arrives) i.needs_count = reader.take(".noComplete");
  i.parity = waits && reader.take(".parity");
  if ((arrives && reader.take(".release")) || (waits && reader.take(".acquire"))) {
    if (!reader.take(".cta")) return kUnsupported;
  }
  if (i.mbarrier != MbarrierMode::pending_count && take_shared(reader)) i.space = Space::shared;
  return reader.take_type(info(i.opcode).types, i.type) ? reader.finish() : kUnsupported;
}

Reason read_fence(ModifierReader& reader, Instruction& i) {
  if (has_trait(i, kNamesLevels)) {
    i.of_block = reader.take(".cta");
    return i.of_block || reader.take_any({".gl", ".sys"}) ? reader.finish() : kUnsupported;
  }
  reader.take_any({".sc", ".acq_rel"});
  return take_scope(reader, i) ? reader.finish() : kUnsupported;
}

}  // namespace

Reason read_modifiers(std::span<const std::string_view> words, Instruction& i) {
  ModifierReader reader(words);
  const OpcodeInfo& row = info(i.opcode);
  switch (row.form) {
    case Form::alu:
      return read_arithmetic(reader, i);
    case Form::carry:
      return read_carry(reader, i);
    case Form::convert:
      return read_convert(reader, i);
    case Form::compare:
      return read_compare(reader, i);
    case Form::set:
      return read_set(reader, i);
    case Form::number_test:
      return read_number_test(reader, i);
    case Form::load:
    case Form::store:
      return read_memory(reader, i);
    case Form::matrix_load:
      return read_matrix_load(reader, i);
    case Form::matrix_multiply:
      return has_trait(i, kOfFragments) ? read_fragment_multiply(reader, i) : read_matrix_multiply(reader, i);
    case Form::fragment_load:
    case Form::fragment_store:
      return read_fragment(reader, i);
    case Form::cache_policy:
      return read_cache_policy(reader, i);
    case Form::async_copy:
      return read_async_copy(reader, i);
    case Form::atomic:
    case Form::reduction:
      return read_atomic(reader, i);
    case Form::barrier:
      return read_barrier(reader, i);
    case Form::vote:
      return read_vote(reader, i);
    case Form::fence:
      return read_fence(reader, i);
    case Form::warp_reduce:
      return read_warp_reduce(reader, i);
    case Form::warp_match:
      return read_warp_match(reader, i);
    case Form::mbarrier:
      return read_mbarrier(reader, i);
    case Form::space_query:
      return reader.take(kSpaceNames, i.space) ? reader.finish() : kUnsupported;
    case Form::cvta:
      i.to = reader.take(".to");
      if (!reader.take(kSpaceNames, i.space)) return kUnsupported;
      return reader.take_type(row.types, i.type) ? reader.finish() : kUnsupported;
    case Form::move:
    case Form::select:
    case Form::active_mask:
    case Form::sleep:
      return reader.take_type(row.types, i.type) ? reader.finish() : kUnsupported;
    case Form::shuffle:
      return read_shuffle(reader, i);
    case Form::prefetch:
      return read_prefetch(reader, i);
    case Form::branch:
    case Form::indexed_branch:
    case Form::call:
    case Form::leave:
    case Form::trap:
      i.uni = has_trait(i, kMayBeUniform) && reader.take(".uni");
      return reader.finish();
  }
  return kUnsupported;
}

}  // namespace roofwalk::ptx
