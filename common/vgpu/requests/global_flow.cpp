#include "common/vgpu/requests/global_flow.h"

#include <algorithm>
#include <bit>
#include <optional>

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
constexpr std::int64_t kCyclesOfATry = 256;  // of a loop that polls, beside its load: comparisons, votes, the branch

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

// Calls visit(word, bytes) for each word that has some of these bytes (Written::bytes).
template <class Visit>
void for_each_part_of(std::uint64_t low, std::uint64_t end, Visit&& visit) {
  for (std::uint64_t at = low; at < end;) {
    const std::uint64_t word = at / kWordBytes, behind = std::min(end, (word + 1) * kWordBytes);
    visit(word, Written::kWord >> (kWordBytes - (behind - at)) << at % kWordBytes);
    at = behind;
  }
}

// The same for what all active lanes access, once if they all access the same.
template <class Visit>
void for_each_part(const Access& access, Visit&& visit) {
  if (access.contiguous) return for_each_part_of(access.low, access.high + access.bytes, visit);
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const std::uint64_t first = access.of(std::countr_zero(left));
    for_each_part_of(first, first + access.bytes, visit);
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

std::uint32_t number_of(GridFlow& flow, const AwaitedWrite& write) {
  const auto [number, is_new] = flow.numbers.try_emplace(write, static_cast<std::uint32_t>(flow.awaited.size()));
  if (is_new) flow.awaited.push_back(write);
  return number->second;
}

// The same for a change of a word by an atomic, and for all that it follows, the first one first.
std::uint32_t number_of_link(GridFlow& flow, std::uint32_t link) {
  std::vector<std::uint32_t> without;
  for (; link != 0 && flow.writes.link(link).number == 0; link = flow.writes.link(link).before) without.push_back(link);
  std::uint32_t last = link == 0 ? AwaitedWrite::kNone : flow.writes.link(link).number - 1;
  for (; !without.empty(); without.pop_back()) {
    GridWrites::Link& next = flow.writes.link(without.back());
    last = number_of(flow, {next.by, last});
    next.number = last + 1;
  }
  return last;
}

// Records that an instruction of a traced warp waits for a write of another block.
void add_wait(Multiprocessor& sm, WarpTrace& trace, const BlockWait& wait) {
  std::vector<BlockWait>& waits = trace.block_waits;
  if (!waits.empty() && waits.back() == wait) return;
  waits.push_back(wait);
  sm.traced.bytes += sizeof wait;
}

// Makes an instruction wait for a write. `link`: see GridWrites::visit_latest(). Of a word that the own block changed
// last, it waits for the change before that by another block. Returns which write, or none.
std::optional<BlockWrite> wait_for_write(Launch& launch, const Warp& warp, const Op* op, BlockWrite by,
                                         std::uint32_t link) {
  GridFlow& flow = *launch.grid_flow;
  if (by.block == warp.block->linear_index) {
    link = link == 0 ? 0 : flow.writes.link(link).of_others;
    if (link == 0) return std::nullopt;
    by = flow.writes.link(link).by;
  }
  const auto outcome = static_cast<std::uint32_t>(warp.first_outcome + op->memory);
  if (launch.stores_wait) {
    launch.sm->grid_flow.read({warp.trace, outcome, by});
  } else {
    const std::uint32_t number = link == 0 ? number_of(flow, {by}) : number_of_link(flow, link);
    add_wait(*launch.sm, *warp.trace, {outcome, number});
  }
  return by;
}

// The same for all bytes of a load.
void note_grid_load(Launch& launch, const Warp& warp, const Op* op, const Access& access) {
  const GridWrites& writes = launch.grid_flow->writes;
  const std::uint64_t low = access.low, end = access.high + access.bytes;
  const bool may_be_own = launch.sm->grid_flow.may_hold(low, end);
  if (!may_be_own && !writes.may_hold(low, end)) return;
  const auto each_part = [&](std::uint64_t word, std::uint32_t bytes) {
    note_grid_read(launch, warp, op, word, bytes);
  };
  if (may_be_own || !access.contiguous) return for_each_part(access, each_part);
  for (std::uint64_t sector = low / kSectorBytes * kSectorBytes; sector < end; sector += kSectorBytes) {
    if (writes.may_hold_words(sector)) {
      for_each_part_of(std::max(low, sector), std::min(end, sector + kSectorBytes), each_part);
    } else if (const GridWrites::Write write = writes.of_sector(sector); write.order != 0) {
      if (wait_for_write(launch, warp, op, write.by, 0).has_value()) note_seen_write(launch, warp, op, write.by);
    }
  }
}

}  // namespace

void note_grid_read(Launch& launch, const Warp& warp, const Op* op, std::uint64_t word, std::uint32_t bytes) {
  const std::uint64_t address = word * kWordBytes;
  GridWrites::Write seen;  // the latest one
  const auto see = [&](const GridWrites::Write& write, std::uint32_t link) {
    const std::optional<BlockWrite> by = wait_for_write(launch, warp, op, write.by, link);
    if (by.has_value() && write.order > seen.order) seen = {*by, write.order};
  };
  if (GridFlowLog& log = launch.sm->grid_flow; log.may_hold(address, address + 1))
    bytes = log.own().visit_latest(word, bytes, see);
  launch.grid_flow->writes.visit_latest(word, bytes, see);
  if (seen.order != 0) note_seen_write(launch, warp, op, seen.by);
}

std::int64_t rest_of_block(const Launch& launch, const Op* op) {
  const std::vector<std::uint32_t>& rests = launch.program.rests;
  return rests.empty() ? 0 : rests[op->pc];
}

namespace {

BlockChain& chain_of(Launch& launch) { return launch.stores_wait ? launch.sm->chain : *launch.chain; }

// A change by an instruction.
BlockChain::Change change_by(const Launch& launch, const Warp& warp, const Op* op) {
  return {warp.path.now().of_grid - rest_of_block(launch, op), warp.block->linear_index};
}

void put_word(Launch& launch, std::uint64_t word, const BlockChain::Change& change, bool keeps, bool strongly) {
  const std::uint64_t low = word * kWordBytes, end = low + kWordBytes;
  if (!strongly && !launch.chain->may_be_looked_at(low, end)) return chain_of(launch).write_unseen(low, end, change);
  launch.charge(work::kTracedWord);
  chain_of(launch).write(word, change, keeps, strongly);
}

// Like note_chain_write(), for a store.
void note_chain_store(Launch& launch, const Warp& warp, const Op* op, const Access& access) {
  constexpr int kFew = 4;  // lanes that may store flags
  const std::uint64_t end = access.high + access.bytes;
  const bool strongly = op->instruction->is_volatile || std::popcount(access.mask) <= kFew;
  const BlockChain::Change change = change_by(launch, warp, op);
  const bool is_seen = strongly || launch.chain->may_be_looked_at(access.low, end);
  if (!is_seen && access.contiguous) return chain_of(launch).write_unseen(access.low, end, change);
  for_each_word(access,
                [&](std::uint64_t word) { put_word(launch, word, change, access.bytes < kWordBytes, strongly); });
}

}  // namespace

void note_chain_write(Launch& launch, const Warp& warp, const Op* op, std::uint64_t word, bool keeps) {
  put_word(launch, word, change_by(launch, warp, op), keeps, true);
}

void note_chain_look(Launch& launch, Warp& warp, const Op* op, std::uint64_t word) {
  const bool strongly = op->instruction->is_volatile || ptx::info(op->instruction->opcode).form == ptx::Form::atomic;
  const std::uint64_t low = word * kWordBytes;
  const bool is_known = strongly ? launch.chain->is_flag(word) : launch.chain->may_be_looked_at(low, low + kWordBytes);
  if (!is_known) {
    if (!launch.stores_wait) launch.chain->look(word, strongly);
    if (launch.stores_wait) strongly ? launch.sm->chain.look(word, true) : launch.sm->chain.note_look(word);
  }
  // A loop that only looks takes no longer than this from one look to the next.
  const std::int64_t a_try = launch.machine.l2_latency_cycles + kCyclesOfATry;
  PathSums& path = warp.path;
  WaitForBlock& wait = warp.wait_for_block;
  const std::int64_t rest = rest_of_block(launch, op), now = path.now().of_grid - rest;
  if (wait.op != op) wait.begin(op, now);
  wait.vain += std::min(now - wait.last, a_try + wait.slept);
  wait.last = now, wait.slept = 0;
  BlockChain::Change seen = launch.chain->latest(word);
  if (launch.stores_wait) {
    const BlockChain::Change own = launch.sm->chain.latest(word);
    if (own.order != 0) seen = own;
  }
  if (seen.order == 0) return wait.note_vain(word, warp.executed);
  launch.charge(work::kTracedWord);
  if (seen.of_several || seen.block != warp.block->linear_index) chain_of(launch).note_wait();
  if (seen.order <= wait.newest) {
    wait.note_vain(word, warp.executed);
    return path.wait_for_block(std::max(now, seen.clock) + rest);
  }
  // Tries in vain take no time of their own: how many there are depends on the order of turns. Those at other words do.
  const std::int64_t found_at = std::max(now - wait.vain_at(word), seen.clock);
  path.wait_for_block(found_at + rest);
  wait.find(seen.order, warp.executed, found_at);
}

void settle_grid_flow(GridFlow& flow, Multiprocessor& sm) {
  GridFlowLog& log = sm.grid_flow;
  for (const GridFlowLog::Read& read : log.reads())
    add_wait(sm, *read.trace, {read.outcome, number_of(flow, {read.by})});
  for (const auto& [what, by] : log.writes()) flow.writes.put(what, by);
  log.clear();
}

void note_global_store(Launch& launch, const Warp& warp, const Op* op, const Access& access) {
  ResidentBlock& block = *warp.block;
  if (block.global_stores == nullptr) block.global_stores = std::make_shared<GlobalStores>();
  GlobalStores& stores = *block.global_stores;
  const GlobalStore store{++block.sync_points, warp.index, static_cast<std::uint32_t>(warp.first_outcome + op->memory),
                          warp.path.now()};
  const std::uint64_t end = access.high + access.bytes;
  stores.low = std::min(stores.low, access.low);
  stores.end = std::max(stores.end, end);
  const bool follows_grid = launch.grid_flow != nullptr && warp.trace != nullptr;
  if (launch.chain != nullptr) note_chain_store(launch, warp, op, access);
  if (access.contiguous && access.low % kSectorBytes == 0 && end % kSectorBytes == 0) {
    const auto sectors = static_cast<std::uint32_t>((end - access.low) / kSectorBytes);
    if (follows_grid) note_grid_write(launch, warp, op, {.address = access.low, .sectors = sectors});
    for (std::uint64_t at = access.low; at < end; at += kSectorBytes)
      keep(launch, block, stores.by_sector, at / kSectorBytes, store);
    return;
  }
  if (follows_grid) {
    for_each_part(access, [&](std::uint64_t word, std::uint32_t bytes) {
      note_grid_write(launch, warp, op, {.address = word * kWordBytes, .bytes = bytes});
    });
  }
  // A store of a part of a word leaves the rest as stores and atomics before it made it.
  if (access.bytes >= kWordBytes)
    return for_each_word(access, [&](std::uint64_t word) { keep(launch, block, stores.by_word, word, store); });
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
    if (!atomic->second.keeps) last = nullptr;
  }
  if (last != nullptr) wait_for(launch, warp, op, *last);
}

void note_global_load(Launch& launch, Warp& warp, const Op* op, const Access& access) {
  if (launch.grid_flow != nullptr && warp.trace != nullptr) note_grid_load(launch, warp, op, access);
  if (launch.chain != nullptr && (op->spins || op->ends_loops))
    for_each_word(access, [&](std::uint64_t word) { note_chain_look(launch, warp, op, word); });
  // What a look finds that is made once is luck: it waits for no other warp.
  if (op->instruction->is_volatile && !op->spins && !op->decides) return;
  const ResidentBlock& block = *warp.block;
  const GlobalStores* const stores = block.global_stores.get();
  const bool meets_stores = stores != nullptr && access.low < stores->end && access.high + access.bytes > stores->low;
  if (!meets_stores && block.global_flags.empty()) return;
  for_each_word(access, [&](std::uint64_t word) { note_global_read(launch, warp, op, word); });
}

}  // namespace roofwalk::vgpu
