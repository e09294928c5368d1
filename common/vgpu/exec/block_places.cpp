#include "common/vgpu/exec/block_places.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "common/base/mix.h"
#include "common/vgpu/exec/lockstep/lockstep.h"
#include "common/vgpu/exec/unset_bits.h"
#include "common/vgpu/program/operands.h"
#include "common/vgpu/program/place_numbers.h"
#include "common/vgpu/requests/local_memory.h"
#include "common/vgpu/requests/shared_memory.h"
#include "common/vgpu/requests/unset_loads.h"
#include "common/vgpu/sanitizer/race_detector.h"

namespace roofwalk::vgpu {
namespace {

void broadcast(Warp& warp, Slot at, std::uint32_t value) {
  if (at != kNoSlot) std::fill_n(warp.lanes<std::uint32_t>(at), kWarpSize, value);
}

std::size_t local_bytes_of_warp(const Program& program) {
  return (std::size_t{program.local_bytes} + 3) / 4 * 4 * kWarpSize;
}

// Fills the registers that the kernel may read unwritten, so that one which counts on a lucky zero is wrong, as it may
// be on hardware. The halves of each word are NaNs, of both formats with 16 bits, and so are floats and doubles made of
// them. As integers, they are odd and large. Minima and maxima ignore NaNs: if `or_numbers`, every other register holds
// the largest floats instead, or the least. All lanes hold the same, or else warps could not begin in lockstep.
void fill_unwritten(const Program& program, Warp& warp, std::uint64_t seed, bool or_numbers) {
  constexpr std::uint16_t kLargest = 0x7f7f, kLeast = 0xff7f;  // halves of words
  for (const Program::Unwritten& reg : program.unwritten) {
    const std::uint64_t chance = mix(seed ^ mix(reg.slot));
    if (reg.bytes == 0) {
      warp.predicate(reg.slot) = chance % 2 == 0 ? kAllLanes : 0;
      continue;
    }
    auto half = static_cast<std::uint16_t>(0x7ff1u | (chance & 0xeu));
    if (or_numbers && (chance >> 8) % 2 == 0) half = (chance >> 9) % 2 == 0 ? kLargest : kLeast;
    std::fill_n(warp.lanes<std::uint16_t>(reg.slot), reg.bytes / sizeof half, half);
  }
}

// By entry of Program::unwritten: the first operation of the code that reads the register. Empty if there are calls,
// which write registers of their callees and callers without an instruction that says so.
std::vector<const Op*> first_reads_of(const Program& program) {
  if (program.unwritten.empty() || !program.calls.empty()) return {};
  std::vector<const Op*> out(program.unwritten.size());
  for (const Op& op : program.ops) {
    if (op.instruction == nullptr) continue;
    for_each_source(*op.instruction, [&](int reg) {
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (program.unwritten[i].reg == reg && out[i] == nullptr) out[i] = &op;
      }
    });
  }
  return out;
}

// Marks what is in unwritten registers as values that nobody has set, which are followed to where they are used.
void mark_unwritten(const Launch& launch, const std::vector<const Op*>& first_reads, Warp& warp) {
  for (std::size_t i = 0; i < first_reads.size(); ++i) {
    if (first_reads[i] == nullptr) continue;
    const int reg = launch.program.unwritten[i].reg;
    const ptx::Type type = launch.program.function->registers[static_cast<std::size_t>(reg)].type;
    UnsetRegister& mark = unset_values(launch, warp).registers[reg];
    for (std::uint32_t left = warp.live; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      mark.put(lane, bits_of_type(type),
               {.load = first_reads[i],
                .where = UnsetOrigin::Where::unwritten_register,
                .lane = static_cast<std::uint8_t>(lane)});
    }
  }
}

}  // namespace

BlockPlaces::Bytes BlockPlaces::allocate_zeroed(std::size_t bytes) {
  const std::size_t rounded = (bytes + 63) / 64 * 64 + 64;
  auto* p = static_cast<std::uint8_t*>(std::aligned_alloc(64, rounded));
  if (p == nullptr) throw std::bad_alloc();
  std::memset(p, 0, rounded);
  return Bytes(p);
}

BlockPlaces::BlockPlaces(const Program& program, const GridShape& shape, const RunLimits& limits,
                         std::vector<Multiprocessor>& sms, int schedulers)
    : program_(program),
      grid_(shape.grid),
      block_(shape.block),
      watched_blocks_(limits.sanitized_blocks, limits.sanitized_seed, shape.grid.count()),
      seed_(limits.sanitized_seed),
      has_no_figures_(limits.sanitize && !limits.counts),
      lockstep_(limits.lockstep && !program.lockstep.ops.empty()),
      warps_per_block_(static_cast<std::uint32_t>((shape.block.count() + kWarpSize - 1) / kWarpSize)) {
  const std::uint64_t total = shape.grid.count();
  // More slots than the grid has blocks for would only cost memory.
  const std::uint64_t slots =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(shape.blocks_per_sm), (total + sms.size() - 1) / sms.size());
  const std::size_t warp_bytes = program_.register_bytes;
  const std::size_t local_bytes = local_bytes_of_warp(program_);
  warps_per_sm_ = slots * warps_per_block_;
  // A grid of few blocks gives one to each of the first SMs, and the others never get any.
  const auto used_sms = static_cast<std::size_t>(std::min<std::uint64_t>(total, sms.size()));
  const std::size_t warps = used_sms * warps_per_sm_;
  registers_ = allocate_zeroed(warp_bytes * warps);
  local_ = allocate_zeroed(local_bytes * warps);
  constants_ = allocate_zeroed(program_.constants.size());
  std::copy(program_.constants.begin(), program_.constants.end(), constants_.get());
  warp_constants_ = allocate_zeroed(program_.warp_constants.size());
  std::copy(program_.warp_constants.begin(), program_.warp_constants.end(), warp_constants_.get());
  if (limits.sanitize) first_reads_ = first_reads_of(program_);
  const std::uint32_t word_bytes = shared_word_bytes(*program_.function);
  const auto patterns = std::make_shared<TouchPatterns>(word_bytes);
  std::size_t next = 0;
  for (Multiprocessor& sm : sms) {
    sm.block_executions.assign(program_.blocks.size(), 0);
    if (static_cast<std::size_t>(&sm - sms.data()) >= used_sms) continue;
    sm.blocks.resize(slots);
    std::uint32_t slot_in_sm = 0;
    for (ResidentBlock& block : sm.blocks) {
      block.shared.assign(program_.shared_bytes + 16, 0);
      if (limits.sanitize && program_.shared_bytes != 0) {
        block.own_shadow = std::make_shared<RaceDetector>(program_.shared_bytes, word_bytes, warps_per_block_, patterns,
                                                          program_.reserved_shared_bytes);
      }
      block.warps.resize(warps_per_block_);
      block.busy.resize(static_cast<std::size_t>(std::max(schedulers, 1)));  // a plan runs without a machine
      for (std::uint32_t w = 0; w < warps_per_block_; ++w, ++next, ++slot_in_sm) {
        Warp& warp = block.warps[w];
        warp.index = w;
        warp.slot = slot_in_sm;
        warp.block = &block;
        warp.busy = &block.busy[w % block.busy.size()];  // as the timing model places warps (block_dispatch.h)
        warp.bases[0] = registers_.get() + next * warp_bytes;
        warp.bases[1] = constants_.get();
        warp.bases[2] = warp_constants_.get() + std::size_t{program_.warp_constant_bytes} * w;
        warp.local = local_.get() + next * local_bytes;
      }
    }
  }
}

namespace {

// Forgets what the slot's last block has done to flags, mbarriers and words that are swapped.
void forget_words(ResidentBlock& block) {
  block.mbarrier_copies.clear();
  block.mbarrier_phases.clear();
  block.flags.clear();
  // Assigns a new map: clear() would visit all buckets of a map that was once large, even if few are in use now.
  if (!block.global_flags.empty()) block.global_flags = {};
  block.global_stores.reset();
  block.swaps.clear();
  if (!block.swapped.empty()) block.swapped = {};
  block.most_swaps = 0;
}

}  // namespace

void BlockPlaces::begin(Launch& launch, Multiprocessor& sm, ResidentBlock& block, bool is_traced) {
  block.is_new = false;
  sm.open();
  ++sm.blocks_run;
  sm.warps_run += warps_per_block_;
  const std::uint64_t linear = block.linear_index;
  block.index = {static_cast<std::uint32_t>(linear % grid_.x), static_cast<std::uint32_t>(linear / grid_.x % grid_.y),
                 static_cast<std::uint32_t>(linear / grid_.x / grid_.y)};
  block.live_warps = warps_per_block_;
  block.memory_work = 0;
  std::fill(block.busy.begin(), block.busy.end(), UnitTimes{});
  std::fill(std::begin(block.arrived), std::end(block.arrived), 0u);
  std::fill(std::begin(block.expected), std::end(block.expected), 0u);
  std::fill(std::begin(block.counted), std::end(block.counted), 0u);
  std::fill(std::begin(block.asked), std::end(block.asked), 0u);
  std::fill(std::begin(block.came_at), std::end(block.came_at), PathClock{});
  block.ended_at = 0;
  block.follows_flags = is_traced || launch.follows_flags;
  forget_words(block);
  block.sync_points = block.followed = block.last_flag_write = 0;
  // Fills shared memory with NaNs, so that a read before any write shows up instead of finding a lucky zero.
  const std::uint32_t own_bytes = program_.shared_bytes - program_.reserved_shared_bytes;
  std::fill(block.shared.begin(), block.shared.end(), std::uint8_t{0xff});
  std::fill_n(block.shared.begin() + own_bytes, program_.reserved_shared_bytes, std::uint8_t{0});
  block.turns = 0, block.begun_at = launch.clock;
  block.worked = true, block.gave_way = false, block.phases = 0, block.held_until = 0;
  block.is_watched = watched_blocks_.hold(linear);
  block.shadow = block.is_watched ? block.own_shadow : nullptr;
  if (block.shadow != nullptr) block.shadow->begin_block();
  const std::uint64_t threads = block_.count();
  const std::uint32_t ctaid[] = {block.index.x, block.index.y, block.index.z};
  for (Warp& warp : block.warps) {
    const std::uint64_t left = threads - std::uint64_t{warp.index} * kWarpSize;
    warp.live = left >= kWarpSize ? kAllLanes : (1u << left) - 1;
    warp.mask = warp.live;
    warp.here = kAllLanes;
    warp.frames.clear();
    warp.standing.clear();
    warp.meeting.clear(), warp.left.clear();
    warp.let_in = warp.let_ahead = 0;
    warp.unmet = nullptr;
    warp.held_loads.clear();
    warp.frame = 0;
    warp.stack_top = program_.stack_start;
    warp.copy_batches = 0;
    warp.unset.reset();
    warp.local_unset.clear();
    // Local memory, too, begins as NaNs, or as large odd numbers, and not as what a former block has left.
    if (program_.local_bytes != 0) std::memset(warp.local, 0xff, local_bytes_of_warp(program_));
    forget_local(launch, warp, 0, program_.local_bytes);
    if (!program_.unwritten.empty())
      fill_unwritten(program_, warp, mix(seed_ ^ mix(linear)) + warp.index, has_no_figures_);
    if (block.is_watched) mark_unwritten(launch, first_reads_, warp);
    warp.executed = warp.swaps = warp.vain_turn = warp.vain_executed = 0;
    warp.vain_polls = warp.vain_phases = warp.vain_lanes = warp.looks = warp.ways_given = 0;
    warp.path = {.behind_cycles = block.starts_at}, warp.wait_for_block = {};
    warp.trace = is_traced ? &block.trace->warps[warp.index] : nullptr;
    warp.state = Warp::State::ready;
    warp.stack.assign(1, {warp.live, 0, kExitBlock});
    warp.in_lockstep = lockstep_ && warp.live == kAllLanes;
    warp.times_diverged = lockstep_ ? 0 : kMostPartings;
    warp.together_since = 0;
    warp.next = first_op_of(program_, warp.in_lockstep, 0);
    for (int d = 0; d < 3; ++d) broadcast(warp, program_.ctaid_slots[d], ctaid[d]);
    broadcast(warp, program_.smid_slot, number_of_sm(static_cast<std::uint32_t>(sm.index)));
  }
}

}  // namespace roofwalk::vgpu
