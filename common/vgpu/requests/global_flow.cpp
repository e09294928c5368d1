#include "common/vgpu/requests/global_flow.h"

#include <algorithm>
#include <bit>

#include "common/base/mix.h"
#include "common/vgpu/requests/sync_points.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::uint64_t kWordBytes = 4, kWordsOfSector = kSectorBytes / kWordBytes;
// Limits on the number of entries of a map (of sectors, of words, or of words changed by atomics): kMostKept in one
// block, kMostOfAll over all running blocks, or kMostOfUntraced where blocks without a trace, whose memory no other
// limit counts, have entries, too. Beyond these limits, keys share kShared entries, so a load may wait for a store
// other than the one whose value it read.
constexpr std::size_t kMostKept = 1u << 18, kMostOfAll = 1u << 22, kMostOfUntraced = 1u << 20, kShared = 1u << 10;
constexpr std::uint64_t kSharedKeys = 1ull << 63;

// The key, beside those of words, of a byte that a store of less than a word wrote.
std::uint64_t byte_key(std::uint64_t address) { return address | 1ull << 62; }

std::size_t most_kept(const Launch& launch) {
  const std::size_t running = launch.sm->blocks.size() * static_cast<std::size_t>(launch.machine.sms);
  const std::size_t most = launch.follows_global_flags ? kMostOfUntraced : kMostOfAll;
  return std::clamp(most / running, kShared, kMostKept);
}

template <class Map>
std::uint64_t key_in(const Launch& launch, const Map& map, std::uint64_t key) {
  return map.size() < most_kept(launch) || map.contains(key) ? key : kSharedKeys | mix(key) % kShared;
}

// Calls visit(word) for the words (address / 4) of all active lanes, once if they all access the same.
template <class Visit>
void for_each_word(const Access& access, Visit&& visit) {
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const std::uint64_t first = access.of(std::countr_zero(left));
    for (std::uint64_t at = first; at < first + access.bytes; at += kWordBytes) visit(at / kWordBytes);
    if (access.uniform) return;
  }
}

using Stores = std::pmr::unordered_map<std::uint64_t, GlobalStore>;

void keep(Launch& launch, const ResidentBlock& block, Stores& stores, std::uint64_t key, const GlobalStore& store) {
  launch.charge(work::kTracedWord);
  if (stores.insert_or_assign(key_in(launch, stores, key), store).second) add_beside(launch, block);
}

const GlobalStore* find(const Launch& launch, const Stores& stores, std::uint64_t key) {
  if (stores.empty()) return nullptr;
  const auto found = stores.find(key_in(launch, stores, key));
  return found == stores.end() ? nullptr : &found->second;
}

// Makes the load wait for the store. The first wait for a store also adds a sync point, the store's arrival, to the
// trace of the storing warp.
void wait_for(Launch& launch, Warp& warp, const Op* op, const GlobalStore& store) {
  if (store.warp == warp.index) return;
  warp.path.wait_until(store.clock);
  if (warp.trace == nullptr) return;
  ResidentBlock& block = *warp.block;
  note_sync_point(launch, warp, op, store.number, SyncPoint::Kind::waits);
  if (!block.global_stores->awaited.insert(store.number).second) return;
  block.trace->warps[store.warp].sync_points.push_back({store.outcome, store.number, SyncPoint::Kind::arrives});
  launch.sm->traced.bytes += sizeof(SyncPoint);
}

}  // namespace

void add_beside(Launch& launch, const ResidentBlock& block) {
  constexpr std::uint64_t kEntryBytes = 64;  // bytes of a map entry, with its node and its share of the buckets
  if (block.trace == nullptr) return;
  block.trace->beside_bytes += kEntryBytes;
  launch.sm->traced.bytes += kEntryBytes;
}

std::uint64_t global_flag_key(const Launch& launch, const ResidentBlock& block, std::uint64_t word) {
  return key_in(launch, block.global_flags, word);
}

void note_grid_write(Launch& launch, const Warp& warp, const Op* op, const Written& what) {
  const BlockWrite by{warp.block->linear_index, warp.index,
                      static_cast<std::uint32_t>(warp.first_outcome + op->memory)};
  launch.stores_wait ? launch.sm->grid_flow.write(what, by) : launch.grid_flow->writes.put(what, by);
}

namespace {

// Records that an instruction of a traced warp waits for a write of another block.
void add_wait(GridFlow& flow, Multiprocessor& sm, WarpTrace& trace, std::uint32_t outcome, const BlockWrite& by) {
  std::vector<BlockWait>& waits = trace.block_waits;
  if (!waits.empty() && waits.back().outcome == outcome && flow.awaited[waits.back().write] == by) return;
  const auto [number, is_new] = flow.numbers.try_emplace(by, static_cast<std::uint32_t>(flow.awaited.size()));
  if (is_new) flow.awaited.push_back(by);
  waits.push_back({outcome, number->second});
  sm.traced.bytes += sizeof waits[0];
}

void read_write(Launch& launch, const Warp& warp, const Op* op, const GridWrites::Write& write) {
  if (write.order == 0 || write.by.block == warp.block->linear_index) return;
  note_seen_write(launch, warp, op, write.by);
  const auto outcome = static_cast<std::uint32_t>(warp.first_outcome + op->memory);
  if (launch.stores_wait) return launch.sm->grid_flow.read({warp.trace, outcome, write.by});
  add_wait(*launch.grid_flow, *launch.sm, *warp.trace, outcome, write.by);
}

// The same for all words of a load.
void note_grid_load(Launch& launch, const Warp& warp, const Op* op, const Access& access) {
  const GridWrites& writes = launch.grid_flow->writes;
  const std::uint64_t low = access.low, end = access.high + access.bytes;
  const bool may_be_own = launch.sm->grid_flow.may_hold(low, end);
  if (!may_be_own && !writes.may_hold(low, end)) return;
  const auto each_word = [&](std::uint64_t word) { note_grid_read(launch, warp, op, word); };
  if (may_be_own || !access.contiguous) return for_each_word(access, each_word);
  for (std::uint64_t sector = low / kSectorBytes * kSectorBytes; sector < end; sector += kSectorBytes) {
    if (!writes.may_hold_words(sector)) {
      read_write(launch, warp, op, writes.of_sector(sector));
      continue;
    }
    const std::uint64_t first = std::max(low, sector), behind = std::min(end, sector + kSectorBytes);
    for (std::uint64_t at = first; at < behind; at += kWordBytes) each_word(at / kWordBytes);
  }
}

}  // namespace

void note_grid_read(Launch& launch, const Warp& warp, const Op* op, std::uint64_t word) {
  const std::uint64_t address = word * kWordBytes;
  GridWrites::Write write;
  if (GridFlowLog& log = launch.sm->grid_flow; log.may_hold(address, address + 1)) write = log.of_word(address);
  if (write.order == 0) write = launch.grid_flow->writes.of_word(address);
  read_write(launch, warp, op, write);
}

void settle_grid_flow(GridFlow& flow, Multiprocessor& sm) {
  GridFlowLog& log = sm.grid_flow;
  for (const GridFlowLog::Read& read : log.reads()) add_wait(flow, sm, *read.trace, read.outcome, read.by);
  for (const auto& [what, by] : log.writes()) flow.writes.put(what, by);
  log.clear();
}

void note_global_store(Launch& launch, const Warp& warp, const Op* op, const Access& access) {
  ResidentBlock& block = *warp.block;
  if (block.global_stores == nullptr) block.global_stores = std::make_shared<GlobalStores>();
  GlobalStores& stores = *block.global_stores;
  const GlobalStore store{++block.sync_points, warp.index, static_cast<std::uint32_t>(warp.first_outcome + op->memory),
                          warp.path.clock()};
  const std::uint64_t end = access.high + access.bytes;
  stores.low = std::min(stores.low, access.low);
  stores.end = std::max(stores.end, end);
  const bool follows_grid = launch.grid_flow != nullptr && warp.trace != nullptr;
  if (access.contiguous && access.low % kSectorBytes == 0 && end % kSectorBytes == 0) {
    const auto sectors = static_cast<std::uint32_t>((end - access.low) / kSectorBytes);
    if (follows_grid) note_grid_write(launch, warp, op, {access.low, sectors});
    for (std::uint64_t at = access.low; at < end; at += kSectorBytes)
      keep(launch, block, stores.by_sector, at / kSectorBytes, store);
    return;
  }
  for_each_word(access, [&](std::uint64_t word) {
    keep(launch, block, stores.by_word, word, store);
    if (follows_grid) note_grid_write(launch, warp, op, {word * kWordBytes});
  });
  if (access.bytes >= kWordBytes) return;
  stores.has_bytes = true;
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const std::uint64_t first = access.of(std::countr_zero(left));
    for (std::uint64_t at = first; at < first + access.bytes; ++at)
      keep(launch, block, stores.by_word, byte_key(at), store);
  }
}

void note_global_read(Launch& launch, Warp& warp, const Op* op, std::uint64_t word) {
  launch.charge(work::kTracedWord);
  const ResidentBlock& block = *warp.block;
  const GlobalStore *last = nullptr, *of_word = nullptr;
  if (const GlobalStores* const stores = block.global_stores.get(); stores != nullptr) {
    last = find(launch, stores->by_sector, word / kWordsOfSector);
    of_word = find(launch, stores->by_word, word);
  }
  if (last == nullptr || (of_word != nullptr && of_word->number > last->number)) last = of_word;
  if (block.global_stores != nullptr && block.global_stores->has_bytes) {
    for (std::uint64_t at = word * kWordBytes; at < (word + 1) * kWordBytes; ++at) {
      const GlobalStore* const of_byte = find(launch, block.global_stores->by_word, byte_key(at));
      if (of_byte != nullptr) wait_for(launch, warp, op, *of_byte);
    }
  }
  const auto atomic = block.global_flags.find(global_flag_key(launch, block, word));
  if (atomic != block.global_flags.end() && (last == nullptr || atomic->second.number > last->number)) {
    warp.path.wait_until(atomic->second.clock);
    note_sync_point(launch, warp, op, atomic->second.number, SyncPoint::Kind::waits);
  } else if (last != nullptr) {
    wait_for(launch, warp, op, *last);
  }
}

void note_global_load(Launch& launch, Warp& warp, const Op* op, const Access& access) {
  if (launch.grid_flow != nullptr && warp.trace != nullptr) note_grid_load(launch, warp, op, access);
  const ResidentBlock& block = *warp.block;
  const GlobalStores* const stores = block.global_stores.get();
  const bool meets_stores = stores != nullptr && access.low < stores->end && access.high + access.bytes > stores->low;
  if (!meets_stores && block.global_flags.empty()) return;
  for_each_word(access, [&](std::uint64_t word) { note_global_read(launch, warp, op, word); });
}

}  // namespace roofwalk::vgpu
