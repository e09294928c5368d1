#include "common/vgpu/requests/sync_points.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "common/vgpu/requests/global_flow.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {

namespace {

// Whether an instruction of a loop that polls only looks, or lets time pass.
bool only_looks(const ptx::Instruction& in) {
  const ptx::Form form = ptx::info(in.opcode).form;
  return form == ptx::Form::load || form == ptx::Form::matrix_load || sleeps(in) ||
         in.mbarrier == ptx::MbarrierMode::test_wait || in.mbarrier == ptx::MbarrierMode::try_wait;
}

// Makes naps of the sleeps between the tries of an instruction that has just seen the flag: those after an earlier try,
// if the warp has only looked since. The other sleeps are final. The trace must have a sleep that is not final.
void note_naps(Launch& launch, const Warp& warp, const Op* op) {
  const auto& code = launch.program.function->instructions;
  const auto is_try = [&](std::uint32_t pc) { return &code[pc] == op->instruction; };
  WarpTrace& trace = *warp.trace;
  const auto outcome = static_cast<std::uint32_t>(warp.first_outcome + op->memory);
  std::size_t entry = trace.blocks.size() - 1, first = warp.first_outcome, earliest_try = outcome;
  const std::size_t oldest = trace.sleeps[trace.final_sleeps].outcome;
  while (entry > 0 && first > oldest) {
    const std::uint32_t entered = trace.blocks[--entry];
    const std::vector<std::uint32_t>& memory = launch.program.blocks[trace.block_of(entered)].memory;
    if (!std::all_of(memory.begin(), memory.end(),
                     [&](std::uint32_t pc) { return is_try(pc) || only_looks(code[pc]); }))
      break;
    first -= memory.size() - trace.before(entered);
    const auto tried = std::find_if(memory.begin() + trace.before(entered), memory.end(), is_try);
    if (tried != memory.end())
      earliest_try = first + static_cast<std::size_t>(tried - memory.begin()) - trace.before(entered);
  }
  const auto nap = std::find_if(trace.sleeps.begin() + static_cast<std::ptrdiff_t>(trace.final_sleeps),
                                trace.sleeps.end(), [&](const Sleep& each) { return each.outcome >= earliest_try; });
  for (auto each = nap; each != trace.sleeps.end(); ++each) trace.naps.push_back({outcome, each->cycles});
  trace.sleeps.erase(nap, trace.sleeps.end());
  trace.final_sleeps = trace.sleeps.size();
}

bool may_nap(const Warp& warp) { return warp.trace->sleeps.size() > warp.trace->final_sleeps; }

}  // namespace

void note_seen_write(Launch& launch, const Warp& warp, const Op* op, const BlockWrite& by) {
  WarpTrace& trace = *warp.trace;
  if (trace.last_seen == by) return;
  trace.last_seen = by;
  const bool has_naps = !trace.naps.empty() && trace.naps.back().outcome == warp.first_outcome + op->memory;
  if (op->spins && !has_naps && may_nap(warp)) note_naps(launch, warp, op);
}

void note_sync_point(Launch& launch, const Warp& warp, const Op* op, std::uint32_t number, SyncPoint::Kind kind) {
  if (warp.trace == nullptr) return;
  std::vector<SyncPoint>& all = warp.trace->sync_points;
  const SyncPoint point{static_cast<std::uint32_t>(warp.first_outcome + op->memory), number, kind};
  for (auto at = all.rbegin(); at != all.rend() && at->outcome == point.outcome; ++at) {
    if (*at == point) return;
  }
  if (kind == SyncPoint::Kind::waits && may_nap(warp)) {
    const auto last = std::find_if(all.rbegin(), all.rend(),
                                   [](const SyncPoint& past) { return past.kind == SyncPoint::Kind::waits; });
    if (last == all.rend() || last->number < number) note_naps(launch, warp, op);
  }
  all.push_back(point);
  launch.sm->traced.bytes += sizeof point;
}

namespace {

// Records which flags one instruction reads and writes.
class FlagNotes {
 public:
  FlagNotes(Launch& launch, Warp& warp, const Op* op, FlagUse use)
      : launch_(launch), warp_(warp), op_(op), use_(use), own_(use.writes ? ++warp.block->sync_points : 0) {
    if (use.writes && !use.global && warp.block->flags.empty())
      warp.block->flags.resize(launch.program.shared_bytes / kWordBytes + 1);
  }

  // `lane`: the one that touches these bytes, if it does so by an atomic on global memory.
  void touch(std::uint64_t byte, std::uint32_t bytes, int lane = 0) {
    ResidentBlock& block = *warp_.block;
    launch_.charge(work::kFlagWords * (1 + bytes / kWordBytes));
    for (std::uint64_t word = byte / kWordBytes; word * kWordBytes < byte + bytes; ++word) {
      if (use_.reads && use_.global) note_global_read(launch_, warp_, op_, word);
      const bool keeps = use_.atomic && op_->instruction->atomic != ptx::AtomicOp::exch;
      if (use_.global && launch_.chain != nullptr) {
        if (is_look(lane, bytes)) note_chain_look(launch_, warp_, op_, word);
        if (use_.writes) note_chain_write(launch_, warp_, op_, word, keeps);
      }
      if (use_.global && launch_.grid_flow != nullptr && warp_.trace != nullptr) {
        if (is_look(lane, bytes)) note_grid_read(launch_, warp_, op_, word, Written::kWord);
        if (use_.writes) note_grid_write(launch_, warp_, op_, {.address = word * kWordBytes, .keeps = keeps});
      }
      FlagWrite* const write = last_write(block, word);
      const FlagWrite last = write != nullptr ? *write : FlagWrite{};
      if (last.number != 0 && use_.reads) warp_.path.wait_until(last.clock);
      if (use_.writes && write != nullptr) {
        *write = {own_, warp_.path.now(), keeps};
        if (use_.atomic) write->clock.raise_to(last.clock);
      }
      if (last.number == 0 || last.number == own_) continue;
      if (use_.reads && !use_.global) {
        note_sync_point(launch_, warp_, op_, last.number, SyncPoint::Kind::waits);
      } else if (!use_.reads && use_.atomic && use_.writes && block.followed < kMostFollowed) {
        note_sync_point(launch_, warp_, op_, last.number, SyncPoint::Kind::follows);
        ++block.followed;
      }
    }
  }

  void finish() {
    ResidentBlock& block = *warp_.block;
    if (use_.writes && use_.atomic && block.followed >= kMostFollowed && block.last_flag_write != 0)
      note_sync_point(launch_, warp_, op_, block.last_flag_write, SyncPoint::Kind::follows);
    if (use_.writes) block.last_flag_write = own_;
    if (use_.writes) note_sync_point(launch_, warp_, op_, own_, SyncPoint::Kind::arrives);
  }

 private:
  static constexpr std::uint64_t kWordBytes = 4;
  // Limit on the number of `follows` points per block. Beyond it, each write of a flag follows the block's last one.
  static constexpr std::uint32_t kMostFollowed = 1u << 16;

  // Whether an atomic waits for other blocks. One that counts shares out work, and is no look unless it counts nothing:
  // it adds 0, or its limit is 0.
  bool is_look(int lane, std::uint32_t bytes) const {
    using ptx::AtomicOp;
    if (op_->spins || !op_->ends_loops || !use_.writes) return op_->spins || op_->ends_loops;
    const AtomicOp atomic = op_->instruction->atomic;
    if (atomic != AtomicOp::add && atomic != AtomicOp::inc && atomic != AtomicOp::dec) return true;
    const auto* const added = warp_.lanes<std::uint8_t>(op_->s[1]) + static_cast<std::size_t>(lane) * bytes;
    // The result may have been written over it.
    return op_->s[0] != op_->s[1] && std::all_of(added, added + bytes, [](std::uint8_t each) { return each == 0; });
  }

  // Returns a pointer to the last write of a word; nullptr if it is not recorded.
  FlagWrite* last_write(ResidentBlock& block, std::uint64_t word) const {
    if (!use_.global) return word < block.flags.size() ? &block.flags[word] : nullptr;
    const std::uint64_t key = global_flag_key(launch_, block, word);
    if (use_.writes) {
      const auto [at, is_new] = block.global_flags.try_emplace(key);
      if (is_new) add_beside(launch_, block);
      return &at->second;
    }
    const auto found = block.global_flags.find(key);
    if (found == block.global_flags.end()) return nullptr;
    return &found->second;
  }

  Launch& launch_;
  Warp& warp_;
  const Op* op_;
  FlagUse use_;
  std::uint32_t own_;
};

}  // namespace

void note_flags(Launch& launch, Warp& warp, const Op* op, const Access& access, FlagUse use) {
  // A write of a part of a word keeps the rest, as an atomic does.
  if (access.bytes < sizeof(std::uint32_t)) use.atomic = true;
  FlagNotes notes(launch, warp, op, use);
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    notes.touch(access.of(lane), access.bytes, lane);
  }
  notes.finish();
}

void note_flag_read(Launch& launch, Warp& warp, const Op* op, std::uint64_t byte, std::uint32_t bytes) {
  FlagNotes(launch, warp, op, {.reads = true}).touch(byte, bytes);
}

void note_arrival(Launch& launch, Warp& warp, const Op* op, std::uint64_t byte, std::uint32_t bytes) {
  // Several lanes of one instruction that change the same bytes, one after another, count as one write.
  if (warp.trace != nullptr) {
    const auto& flags = warp.block->flags;
    const auto& all = warp.trace->sync_points;
    const std::uint64_t word = byte / sizeof(std::uint32_t), outcome = warp.first_outcome + op->memory;
    const std::uint32_t last = word < flags.size() ? flags[word].number : 0;
    for (auto at = all.rbegin(); last != 0 && at != all.rend() && at->outcome == outcome; ++at) {
      if (at->kind == SyncPoint::Kind::arrives && at->number == last) return;
    }
  }
  FlagNotes notes(launch, warp, op, {.reads = op->decides, .writes = true, .atomic = true});
  notes.touch(byte, bytes);
  notes.finish();
}

}  // namespace roofwalk::vgpu
