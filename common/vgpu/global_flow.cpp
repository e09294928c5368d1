#include "common/vgpu/global_flow.h"

#include <algorithm>
#include <bit>

#include "common/vgpu/near_memory.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::uint64_t kWordBytes = 4, kWordsOfSector = kSectorBytes / kWordBytes;
// Of a block: sectors, words, and words of atomics. Of what comes later many share a place, so that a load may wait for
// another store than the one that it saw.
constexpr std::size_t kMostKept = 1u << 18, kMostFlags = 1u << 16, kShared = 1u << 10;
constexpr std::uint64_t kSharedKeys = 1ull << 63;

template <class Map>
std::uint64_t key_in(const Map& map, std::uint64_t key, std::size_t most) {
  return map.size() < most || map.contains(key) ? key : kSharedKeys | mix(key) % kShared;
}

using Stores = std::unordered_map<std::uint64_t, GlobalStore>;

void keep(Stores& stores, std::uint64_t key, const GlobalStore& store) {
  stores[key_in(stores, key, kMostKept)] = store;
}

const GlobalStore* find(const Stores& stores, std::uint64_t key) {
  const auto found = stores.find(key_in(stores, key, kMostKept));
  return found == stores.end() ? nullptr : &found->second;
}

// Whoever stored is told about once, where somebody waits for it.
void wait_for(Launch& launch, const Warp& warp, const Op* op, const GlobalStore& store) {
  if (store.warp == warp.index) return;
  ResidentBlock& block = *warp.block;
  note_meeting(launch, warp, op, store.number, Meeting::Kind::waits);
  if (!block.global_stores.awaited.insert(store.number).second) return;
  block.trace->warps[store.warp].meetings.push_back({store.outcome, store.number, Meeting::Kind::arrives});
  launch.sm->traced.bytes += sizeof(Meeting);
}

}  // namespace

std::uint64_t global_flag_key(const ResidentBlock& block, std::uint64_t word) {
  return key_in(block.global_flags, word, kMostFlags);
}

void note_global_store(const Warp& warp, const Op* op, const Access& access) {
  ResidentBlock& block = *warp.block;
  GlobalStores& stores = block.global_stores;
  const GlobalStore store{++block.meetings, warp.index, static_cast<std::uint32_t>(warp.first_outcome + op->memory)};
  const std::uint64_t end = access.high + access.bytes;
  stores.low = std::min(stores.low, access.low);
  stores.end = std::max(stores.end, end);
  if (access.contiguous && access.low % kSectorBytes == 0 && end % kSectorBytes == 0) {
    for (std::uint64_t at = access.low; at < end; at += kSectorBytes) keep(stores.by_sector, at / kSectorBytes, store);
    return;
  }
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const std::uint64_t first = access.of(std::countr_zero(left));
    for (std::uint64_t at = first; at < first + access.bytes; at += kWordBytes)
      keep(stores.by_word, at / kWordBytes, store);
  }
}

void note_global_read(Launch& launch, const Warp& warp, const Op* op, std::uint64_t word) {
  const ResidentBlock& block = *warp.block;
  const GlobalStore* last = find(block.global_stores.by_sector, word / kWordsOfSector);
  const GlobalStore* const of_word = find(block.global_stores.by_word, word);
  if (last == nullptr || (of_word != nullptr && of_word->number > last->number)) last = of_word;
  const auto atomic = block.global_flags.find(global_flag_key(block, word));
  if (atomic != block.global_flags.end() && (last == nullptr || atomic->second > last->number)) {
    note_meeting(launch, warp, op, atomic->second, Meeting::Kind::waits);
  } else if (last != nullptr) {
    wait_for(launch, warp, op, *last);
  }
}

void note_global_load(Launch& launch, const Warp& warp, const Op* op, const Access& access) {
  const ResidentBlock& block = *warp.block;
  const GlobalStores& stores = block.global_stores;
  const bool meets_stores = access.low < stores.end && access.high + access.bytes > stores.low;
  if (!meets_stores && block.global_flags.empty()) return;
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const std::uint64_t first = access.of(std::countr_zero(left));
    for (std::uint64_t at = first; at < first + access.bytes; at += kWordBytes)
      note_global_read(launch, warp, op, at / kWordBytes);
    if (access.uniform) return;
  }
}

}  // namespace roofwalk::vgpu
