#include "common/vgpu/near_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "common/vgpu/global_flow.h"
#include "common/vgpu/handlers.h"
#include "common/vgpu/shared_shadow.h"

namespace roofwalk::vgpu {
namespace {

constexpr int kBanks = 32;

bool active(const Access& access, int lane) { return (access.mask >> lane & 1u) != 0; }

// The most lanes' words that meet in one bank, among lanes [first, last). Same words count once unless `each`.
int bank_turns(const Access& access, int first, int last, bool each) {
  int turns[kBanks] = {};
  int most = 0;
  std::uint64_t words[kWarpSize * 4];
  int count = 0;
  const std::uint64_t parts = std::max<std::uint64_t>(access.bytes / 4, 1);
  for (int l = first; l < last; ++l) {
    if (!active(access, l)) continue;
    for (std::uint64_t part = 0; part < parts; ++part) {
      const std::uint64_t word = access.address[l] / 4 + part;
      if (!each) {
        if (std::find(words, words + count, word) != words + count) continue;
        words[count++] = word;
      }
      most = std::max(most, ++turns[word % kBanks]);
    }
  }
  return most;
}

// The same where each lane's word, of at most 4 bytes, takes a turn of its own.
int turns_one_by_one(const Access& access) {
  std::uint32_t turns[kBanks] = {};
  std::uint32_t most = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    std::uint32_t& of_bank = turns[access.address[l] / 4 % kBanks];
    of_bank += access.mask >> l & 1u;
    most = std::max(most, of_bank);
  }
  return static_cast<int>(most);
}

struct Turns {
  std::uint16_t wavefronts, conflicts;
};

// Whether each active lane reads what the lane beside it (`step` 1), or the one after that (2), reads.
bool in_pairs(const Access& access, int step) {
  for (int l = 0; l < kWarpSize; ++l) {
    if (active(access, l) && active(access, l ^ step) && access.address[l] != access.address[l ^ step]) return false;
  }
  return true;
}

Turns turns_of(const Access& access, SharedUse use) {
  if (use == SharedUse::atomic && access.bytes <= 4) {
    const int turns = turns_one_by_one(access);
    return {static_cast<std::uint16_t>(turns), static_cast<std::uint16_t>(turns - 1)};
  }
  int lanes = access.bytes <= 4 ? 32 : access.bytes == 8 ? 16 : 8;  // a phase
  if (lanes < 32 && use == SharedUse::load && (in_pairs(access, 1) || in_pairs(access, 2))) lanes *= 2;
  const bool each = use == SharedUse::atomic;
  int wavefronts = 0, phases = 0;
  for (int first = 0; first < kWarpSize; first += lanes) {
    const int turns = bank_turns(access, first, first + lanes, each);
    wavefronts += turns;
    phases += turns != 0;
  }
  return {static_cast<std::uint16_t>(wavefronts), static_cast<std::uint16_t>(wavefronts - phases)};
}

}  // namespace

void Launch::count_steps() {
  for (std::size_t i = 0; i < product_runs.size(); ++i) {
    const std::uint64_t times = std::exchange(product_runs[i].times, 0);
    const ProductRun& run = program.lockstep.product_runs[i];
    for (const auto* side : {&run.left, &run.right}) {
      for (const ProductRun::Load& load : side->loads) shared_memos[load.pc].steps_requests += times;
    }
  }
  for (std::size_t i = 0; i < sites.size(); ++i) {
    SharedMemo& memo = shared_memos[i];
    sites[i].requests += memo.steps_requests;
    sites[i].bytes += memo.steps_requests * memo.steps_bytes;
    sites[i].wavefronts += memo.steps_requests * memo.steps_wavefronts;
    sites[i].conflicts += memo.steps_requests * memo.steps_conflicts;
    memo.steps_requests = 0;
  }
}

bool resolve_shared(Launch& launch, const Warp& warp, const Op* op, Access& access, const char* verb, Pointers& out) {
  if (access.low >= kSharedWindow) {
    for (std::uint64_t& address : access.address) address -= kSharedWindow;
    access.low -= kSharedWindow;
    access.high -= kSharedWindow;
  }
  const std::uint64_t extent = launch.program.shared_bytes;
  // Compared so that no address wraps around: 64-bit ones may lie at the very end.
  const auto inside = [&](std::uint64_t address) { return address < extent && access.bytes <= extent - address; };
  for (int l = 0; l < kWarpSize; ++l) {
    if (inside(access.high)) break;
    if (!active(access, l) || inside(access.address[l])) continue;
    launch.stop(warp, op, FaultKind::out_of_bounds, l,
                fmt::format("out of bounds: {} {}, which is outside: the block has {} bytes of shared memory", verb,
                            shared_place(launch.program, *op->instruction, access.address[l]), extent));
    launch.fault->buffer = "shared memory";
    launch.fault->index = static_cast<std::int64_t>(access.address[l]);
    launch.fault->extent = extent;
    return false;
  }
  std::uint64_t bits = 0;
  for (const std::uint64_t address : access.address) bits |= address;
  if ((bits & (access.bytes - 1)) != 0) {
    for (int l = 0; l < kWarpSize; ++l) {
      if (!active(access, l) || access.address[l] % access.bytes == 0) continue;
      launch.stop(warp, op, FaultKind::misaligned, l,
                  fmt::format("misaligned: {} {} bytes at byte {} of shared memory, which is not a multiple of {}",
                              verb, access.bytes, access.address[l], access.bytes));
      launch.fault->buffer = "shared memory";
      return false;
    }
  }
  out.base = warp.block->shared.data();
  out.low_address = 0;
  return true;
}

void count_shared(Launch& launch, const Warp& warp, const Op* op, const Access& access, SharedUse use) {
  if (!launch.counts) return;
  const std::uint32_t bytes = static_cast<std::uint32_t>(std::popcount(access.mask)) * access.bytes;
  if (use == SharedUse::atomic) {
    const Turns turns = turns_of(access, use);
    return add_shared_turns(launch, warp, op, bytes, turns.wavefronts, turns.conflicts);
  }
  // Moving all addresses together turns the banks but changes no conflict, so the last pattern usually still holds.
  SharedMemo& memo = launch.shared_memos[op->pc];
  const std::uint64_t first = access.address[0];
  std::uint32_t differs = memo.mask ^ access.mask;
  for (int l = 0; l < kWarpSize; ++l)
    differs |= memo.relative[l] ^ static_cast<std::uint32_t>(access.address[l] - first);
  // Accesses under 4 bytes share words, so their place within a word matters as well.
  if (differs != 0 || access.bytes < 4 || memo.mask == 0) {
    const Turns turns = turns_of(access, use);
    memo.mask = access.mask;
    memo.wavefronts = turns.wavefronts;
    memo.conflicts = turns.conflicts;
    for (int l = 0; l < kWarpSize; ++l) memo.relative[l] = static_cast<std::uint32_t>(access.address[l] - first);
  }
  add_shared_turns(launch, warp, op, bytes, memo.wavefronts, memo.conflicts);
}

void count_swaps(Launch& launch, Warp& warp, const Op* op, const Access& access, bool shared) {
  if (!launch.counts) return;
  constexpr std::size_t kWordHashes = 1u << 16;
  std::vector<std::uint32_t>& counts = shared ? warp.block->swaps : launch.sm->swaps;
  if (counts.empty()) counts.resize(shared ? launch.program.shared_bytes / 4 + 1 : kWordHashes);
  std::uint64_t words[kWarpSize];
  int count = 0;
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1)
    words[count++] = access.of(std::countr_zero(left)) / std::max<std::uint32_t>(access.bytes, 4);
  std::sort(words, words + count);
  const auto outcome = static_cast<std::uint32_t>(warp.first_outcome + op->memory);
  for (int first = 0, last = 0; first < count; first = last) {
    while (last < count && words[last] == words[first]) ++last;
    const auto lanes = static_cast<std::uint8_t>(last - first);
    const auto hash = static_cast<std::uint32_t>(mix(words[first]));
    std::uint32_t& of_word = counts[shared ? words[first] : hash % kWordHashes];
    of_word += lanes;
    if (shared) warp.block->most_swaps = std::max(warp.block->most_swaps, of_word);
    if (warp.trace == nullptr) continue;
    warp.trace->swaps.push_back({outcome, hash, lanes, shared});
    launch.sm->traced.bytes += sizeof(Swaps);
  }
}

void note_meeting(Launch& launch, const Warp& warp, const Op* op, std::uint32_t number, Meeting::Kind kind) {
  std::vector<Meeting>& all = warp.trace->meetings;
  const Meeting meeting{static_cast<std::uint32_t>(warp.first_outcome + op->memory), number, kind};
  for (auto at = all.rbegin(); at != all.rend() && at->outcome == meeting.outcome; ++at) {
    if (*at == meeting) return;
  }
  all.push_back(meeting);
  launch.sm->traced.bytes += sizeof meeting;
}

namespace {

// One instruction's reads and writes of flags.
class FlagNotes {
 public:
  FlagNotes(Launch& launch, const Warp& warp, const Op* op, FlagUse use)
      : launch_(launch), warp_(warp), op_(op), use_(use), own_(use.writes ? ++warp.block->meetings : 0) {
    if (use.writes && !use.global && warp.block->flags.empty())
      warp.block->flags.resize(launch.program.shared_bytes / kWordBytes + 1);
  }

  void touch(std::uint64_t byte, std::uint32_t bytes) {
    constexpr std::uint32_t kMostFollowed = 1u << 16;  // of a block; beyond, one an instruction: flags are single words
    ResidentBlock& block = *warp_.block;
    for (std::uint64_t word = byte / kWordBytes; word * kWordBytes < byte + bytes; ++word) {
      if (use_.reads && use_.global) note_global_read(launch_, warp_, op_, word);
      std::uint32_t* const write = last_write(block, word);
      const std::uint32_t last = write != nullptr ? *write : 0;
      if (use_.writes && write != nullptr) *write = own_;
      if (last == 0 || last == own_) continue;
      if (use_.reads && !use_.global) {
        note_meeting(launch_, warp_, op_, last, Meeting::Kind::waits);
      } else if (!use_.reads && use_.atomic && use_.writes && (!follows_ || block.followed < kMostFollowed)) {
        note_meeting(launch_, warp_, op_, last, Meeting::Kind::follows);
        follows_ = true;
        ++block.followed;
      }
    }
  }

  void finish() {
    if (use_.writes) note_meeting(launch_, warp_, op_, own_, Meeting::Kind::arrives);
  }

 private:
  static constexpr std::uint64_t kWordBytes = 4;

  // Where the number of a word's last write is kept; nullptr: nowhere.
  std::uint32_t* last_write(ResidentBlock& block, std::uint64_t word) const {
    if (!use_.global) return word < block.flags.size() ? &block.flags[word] : nullptr;
    const std::uint64_t key = global_flag_key(launch_, block, word);
    if (use_.writes) {
      const auto [at, is_new] = block.global_flags.try_emplace(key, 0);
      if (is_new) add_beside(launch_, block);
      return &at->second;
    }
    const auto found = block.global_flags.find(key);
    if (found == block.global_flags.end()) return nullptr;
    return &found->second;
  }

  Launch& launch_;
  const Warp& warp_;
  const Op* op_;
  FlagUse use_;
  std::uint32_t own_;
  bool follows_ = false;
};

}  // namespace

void note_flags(Launch& launch, const Warp& warp, const Op* op, const Access& access, FlagUse use) {
  FlagNotes notes(launch, warp, op, use);
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1)
    notes.touch(access.of(std::countr_zero(left)), access.bytes);
  notes.finish();
}

void note_flag_write(Launch& launch, Warp& warp, const Op* op, std::uint64_t byte, std::uint32_t bytes) {
  // Lanes change the same bytes one after the other: one write.
  const auto& flags = warp.block->flags;
  const auto& all = warp.trace->meetings;
  const std::uint64_t word = byte / sizeof(std::uint32_t);
  const std::uint32_t last = word < flags.size() ? flags[word] : 0;
  for (auto at = all.rbegin(); last != 0 && at != all.rend() && at->outcome == warp.first_outcome + op->memory; ++at) {
    if (at->kind == Meeting::Kind::arrives && at->number == last) return;
  }
  FlagNotes notes(launch, warp, op, {.writes = true, .atomic = true});
  notes.touch(byte, bytes);
  notes.finish();
}

bool check_local(Launch& launch, const Warp& warp, const Op* op, Access& access, const char* verb) {
  if (access.low >= kLocalWindow) {
    for (std::uint64_t& address : access.address) address -= kLocalWindow;
  }
  for (int l = 0; l < kWarpSize; ++l) {
    if (!active(access, l)) {
      access.address[l] = access.address[std::countr_zero(access.mask)];
      continue;
    }
    const std::uint64_t extent = launch.program.local_bytes;
    const bool inside = access.address[l] < extent && access.bytes <= extent - access.address[l];
    if (inside && access.address[l] % access.bytes == 0) continue;
    launch.stop(warp, op, inside ? FaultKind::misaligned : FaultKind::out_of_bounds, l,
                fmt::format("{}: {} {} bytes at byte {} of the thread's local memory, which has {} bytes",
                            inside ? "misaligned" : "out of bounds", verb, access.bytes, access.address[l],
                            launch.program.local_bytes));
    launch.fault->buffer = "local memory";
    return false;
  }
  return true;
}

void forget_local(const Launch& launch, Warp& warp, std::uint32_t first, std::uint32_t bytes) {
  if (!launch.sanitized || launch.program.local_bytes == 0) return;
  warp.local_written.resize(launch.program.local_bytes);
  std::fill_n(warp.local_written.begin() + first, bytes, 0u);
}

// Only what was not written in any of its bytes: a whole structure may be moved of which some members were never set.
bool check_local_defined(Launch& launch, const Warp& warp, const Op* op, const Access& access) {
  if (!launch.sanitized) return true;
  std::uint32_t written = ~access.mask;
  for (int l = 0; l < kWarpSize; ++l) {
    if (!active(access, l)) continue;
    for (std::uint32_t b = 0; b < access.bytes; ++b) written |= warp.local_written[access.address[l] + b] & 1u << l;
  }
  if (written == kAllLanes) return true;
  const int lane = std::countr_one(written);
  launch.stop(
      warp, op, FaultKind::uninitialized, lane,
      fmt::format("uninitialized: reads {} bytes of a local array (byte {} of the thread's local memory) that the "
                  "thread has not written: give it a value first",
                  access.bytes, access.address[lane]));
  launch.fault->buffer = "local memory";
  return false;
}

void define_local(const Launch& launch, Warp& warp, const Access& access) {
  if (!launch.sanitized) return;
  for (int l = 0; l < kWarpSize; ++l) {
    if (!active(access, l)) continue;
    for (std::uint32_t b = 0; b < access.bytes; ++b) warp.local_written[access.address[l] + b] |= 1u << l;
  }
}

void count_local(Launch& launch, const Warp& warp, const Op* op, const Access& access, bool store) {
  if (!launch.counts) return;
  const std::uint64_t words = (launch.program.local_bytes + 3) / 4;
  const std::uint64_t base =
      kLocalPhysical + (static_cast<std::uint64_t>(launch.sm->index) << 36) + warp.slot * words * 4 * kWarpSize;
  const std::uint32_t piece = std::min<std::uint32_t>(access.bytes, 4);
  for (std::uint32_t at = 0; at < access.bytes; at += piece) {
    alignas(64) std::uint64_t words_of[kWarpSize];
    for (int l = 0; l < kWarpSize; ++l) {
      const std::uint64_t offset = access.address[l] + at;
      const int lane = active(access, l) ? l : std::countr_zero(access.mask);
      words_of[l] = base + offset / 4 * 4 * kWarpSize + static_cast<std::uint64_t>(lane) * 4 + offset % 4;
    }
    Access words_access;
    make_access(words_of, access.mask, piece, words_access);
    store ? count_store(launch, warp, op, words_access) : count_load(launch, warp, op, words_access);
  }
}

void gather_local(const Warp& warp, const Access& access, std::uint8_t (&bytes)[kWarpSize][16]) {
  for (int l = 0; l < kWarpSize; ++l) {
    for (std::uint32_t i = 0; i < access.bytes; ++i) {
      const std::uint64_t offset = access.address[l] + i;
      bytes[l][i] = warp.local[(offset / 4 * kWarpSize + static_cast<std::uint64_t>(l)) * 4 + offset % 4];
    }
  }
}

void scatter_local(const Warp& warp, const Access& access, const std::uint8_t (&bytes)[kWarpSize][16]) {
  for (int l = 0; l < kWarpSize; ++l) {
    if (!active(access, l)) continue;
    for (std::uint32_t i = 0; i < access.bytes; ++i) {
      const std::uint64_t offset = access.address[l] + i;
      warp.local[(offset / 4 * kWarpSize + static_cast<std::uint64_t>(l)) * 4 + offset % 4] = bytes[l][i];
    }
  }
}

}  // namespace roofwalk::vgpu
