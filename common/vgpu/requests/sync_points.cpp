#include "common/vgpu/requests/sync_points.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "common/vgpu/requests/global_flow.h"

namespace roofwalk::vgpu {

namespace {

// Drops the sleeps since the warp last executed anything with an outcome but this instruction and sleeps.
void drop_sleeps_between_tries(const Launch& launch, const Warp& warp, const Op* op) {
  const auto& code = launch.program.function->instructions;
  const auto is_try = [&](std::uint32_t pc) { return &code[pc] == op->instruction || sleeps(code[pc]); };
  WarpTrace& trace = *warp.trace;
  std::size_t first = warp.first_outcome, entry = trace.blocks.size() - 1;
  while (!trace.sleeps.empty()) {
    const std::vector<std::uint32_t>& memory = launch.program.blocks[trace.blocks[entry]].memory;
    if (!std::all_of(memory.begin(), memory.end(), is_try)) return;
    while (!trace.sleeps.empty() && trace.sleeps.back().outcome >= first) trace.sleeps.pop_back();
    if (entry == 0) return;
    first -= launch.program.blocks[trace.blocks[--entry]].memory.size();
  }
}

}  // namespace

void note_sync_point(Launch& launch, const Warp& warp, const Op* op, std::uint32_t number, SyncPoint::Kind kind) {
  std::vector<SyncPoint>& all = warp.trace->sync_points;
  const SyncPoint point{static_cast<std::uint32_t>(warp.first_outcome + op->memory), number, kind};
  for (auto at = all.rbegin(); at != all.rend() && at->outcome == point.outcome; ++at) {
    if (*at == point) return;
  }
  if (kind == SyncPoint::Kind::waits && !warp.trace->sleeps.empty()) {
    const auto last = std::find_if(all.rbegin(), all.rend(),
                                   [](const SyncPoint& past) { return past.kind == SyncPoint::Kind::waits; });
    if (last == all.rend() || last->number < number) drop_sleeps_between_tries(launch, warp, op);
  }
  all.push_back(point);
  launch.sm->traced.bytes += sizeof point;
}

namespace {

// Records which flags one instruction reads and writes.
class FlagNotes {
 public:
  FlagNotes(Launch& launch, const Warp& warp, const Op* op, FlagUse use)
      : launch_(launch), warp_(warp), op_(op), use_(use), own_(use.writes ? ++warp.block->sync_points : 0) {
    if (use.writes && !use.global && warp.block->flags.empty())
      warp.block->flags.resize(launch.program.shared_bytes / kWordBytes + 1);
  }

  void touch(std::uint64_t byte, std::uint32_t bytes) {
    // Limit on the number of `follows` points per block. Beyond it, each instruction records only one. That suffices
    // for flags, which are single words.
    constexpr std::uint32_t kMostFollowed = 1u << 16;
    ResidentBlock& block = *warp_.block;
    for (std::uint64_t word = byte / kWordBytes; word * kWordBytes < byte + bytes; ++word) {
      if (use_.reads && use_.global) note_global_read(launch_, warp_, op_, word);
      if (use_.global && launch_.grid_flow != nullptr) {
        if (op_->spins) note_grid_read(launch_, warp_, op_, word);
        if (use_.writes) note_grid_write(launch_, warp_, op_, word);
      }
      std::uint32_t* const write = last_write(block, word);
      const std::uint32_t last = write != nullptr ? *write : 0;
      if (use_.writes && write != nullptr) *write = own_;
      if (last == 0 || last == own_) continue;
      if (use_.reads && !use_.global) {
        note_sync_point(launch_, warp_, op_, last, SyncPoint::Kind::waits);
      } else if (!use_.reads && use_.atomic && use_.writes && (!follows_ || block.followed < kMostFollowed)) {
        note_sync_point(launch_, warp_, op_, last, SyncPoint::Kind::follows);
        follows_ = true;
        ++block.followed;
      }
    }
  }

  void finish() {
    if (use_.writes) note_sync_point(launch_, warp_, op_, own_, SyncPoint::Kind::arrives);
  }

 private:
  static constexpr std::uint64_t kWordBytes = 4;

  // Returns a pointer to the number of a word's last write; nullptr if it is not recorded.
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

void note_arrival(Launch& launch, Warp& warp, const Op* op, std::uint64_t byte, std::uint32_t bytes) {
  // Several lanes of one instruction that change the same bytes, one after another, count as one write.
  const auto& flags = warp.block->flags;
  const auto& all = warp.trace->sync_points;
  const std::uint64_t word = byte / sizeof(std::uint32_t);
  const std::uint32_t last = word < flags.size() ? flags[word] : 0;
  for (auto at = all.rbegin(); last != 0 && at != all.rend() && at->outcome == warp.first_outcome + op->memory; ++at) {
    if (at->kind == SyncPoint::Kind::arrives && at->number == last) return;
  }
  FlagNotes notes(launch, warp, op, {.reads = op->decides, .writes = true, .atomic = true});
  notes.touch(byte, bytes);
  notes.finish();
}

}  // namespace roofwalk::vgpu
