// The messages for the sanitizer's findings: faults and warnings for races, missing waits and uninitialized reads.
#include <algorithm>
#include <bit>
#include <string>

#include <fmt/format.h>

#include "common/vgpu/sanitizer/checked_access.h"
#include "common/vgpu/state/launch.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

const char* verb_of(SharedTouch touch) {
  if (reads_only(touch)) return "reads";
  if (touch == SharedTouch::copy) return "copies into";
  return touch == SharedTouch::atomic || touch == SharedTouch::lock ? "updates" : "writes";
}

// Reports two threads that touch one word. False if a fault was recorded; true after a warning.
bool report_pair(Launch& launch, const Warp& warp, const Op* op, SharedTouch touch,
                 const RaceDetector::Finding& finding, const std::string& place) {
  const Dim3 other = launch.thread_of(finding.thread);
  const int line = launch.line_of ? launch.line_of(finding.pc) : 0;
  const std::string at = line > 0 ? fmt::format(" at line {}", line) : "";
  const std::string they = fmt::format("thread ({}, {}, {})", other.x, other.y, other.z);
  if (finding.kind == RaceDetector::Finding::Kind::missing_wait) {
    launch.stop(warp, op, FaultKind::missing_wait, finding.lane,
                fmt::format("missing wait: {} {}, where a copy that {} asked for{} may still be under way: wait {}",
                            verb_of(touch), place, they, at,
                            finding.arrives ? "at the mbarrier, cuda::barrier or cuda::pipeline at which it arrives"
                                            : "with __pipeline_wait_prior(), then __syncthreads()"));
    return false;
  }
  if (finding.kind == RaceDetector::Finding::Kind::same_value) {
    launch.warn(
        warp, op, finding.lane,
        fmt::format("race by luck: writes {}, which {} writes{} too, with the same value so far: let one thread "
                    "write, or put a __syncthreads() between the two",
                    place, they, at));
    return true;
  }
  if (finding.kind == RaceDetector::Finding::Kind::exchange) {
    launch.warn(
        warp, op, finding.lane,
        fmt::format("race by luck: {} {}, which {} {}{}, and only an exchange of the warp (a shuffle, vote, match, "
                    "reduction or matrix load) lies between, which orders no memory: put a __syncwarp() there",
                    verb_of(touch), place, they, verb_of(finding.touch), at));
    return true;
  }
  if (finding.kind == RaceDetector::Finding::Kind::glance) {
    launch.warn(warp, op, finding.lane,
                fmt::format("race by luck: {} {}, which {} {}{}, and volatile orders nothing, not even within a warp: "
                            "put a __syncwarp() between the two",
                            verb_of(touch), place, they, verb_of(finding.touch), at));
    return true;
  }
  if (finding.kind == RaceDetector::Finding::Kind::unfenced) {
    launch.warn(
        warp, op, finding.lane,
        fmt::format("race by luck: {} {}, which {} {}{}, and told of it by copies that arrive, or by a volatile store "
                    "or a relaxed atomic with no fence before it: put a __threadfence_block() between the two, or let "
                    "the thread arrive as well",
                    verb_of(touch), place, they, verb_of(finding.touch), at));
    return true;
  }
  if (finding.pc == op->pc && finding.touch == touch && !reads_only(touch)) {  // no barrier fits in between
    launch.stop(
        warp, op, FaultKind::race, finding.lane,
        fmt::format(
            "race: {} {}, and so does {}{}, with another value; which one stays is undefined: let one thread write",
            verb_of(touch), place, they, at));
    return false;
  }
  const bool glances = touch == SharedTouch::glance || finding.touch == SharedTouch::glance;
  launch.stop(warp, op, FaultKind::race, finding.lane,
              fmt::format("race: {} {}, which {} {}{}, and {}: put {} between them", verb_of(touch), place, they,
                          verb_of(finding.touch), at, glances ? "volatile orders nothing" : "nothing orders the two",
                          finding.thread / kWarpSize == warp.index ? "a __syncthreads(), or a __syncwarp(),"
                                                                   : "a __syncthreads()"));
  return false;
}

// Reports any finding. False if a fault was recorded; true after a warning.
bool report(Launch& launch, const Warp& warp, const Op* op, SharedTouch touch, const RaceDetector::Finding& finding) {
  if (finding.kind == RaceDetector::Finding::Kind::uninitialized) {
    const auto lane = static_cast<std::uint8_t>(finding.lane);
    report_unset(launch, warp,
                 {op, UnsetOrigin::Where::shared, warp.block->shadow->is_written(finding.byte), lane, 0, finding.byte},
                 verb_of(touch));
    return false;
  }
  // Libraries rely on what NVIDIA's hardware does beyond its rules, and learners cannot change them.
  const auto is_of_header = [&](std::uint32_t pc) { return launch.is_of_header && launch.is_of_header(pc); };
  if (finding.is_warning() && is_of_header(op->pc) && is_of_header(finding.pc)) return true;
  const std::string place = shared_place(launch.program, *op->instruction, finding.byte);
  if (finding.kind == RaceDetector::Finding::Kind::together) {
    launch.stop(warp, op, FaultKind::race, finding.lane,
                fmt::format("race: writes {}, and so does another thread of its warp in the same instruction, with "
                            "another value; which one stays is undefined: let one thread write",
                            place));
    return false;
  }
  return report_pair(launch, warp, op, touch, finding, place);
}

}  // namespace

std::uint64_t RaceDetector::unset_bits(std::uint64_t byte, std::size_t bytes) const {
  const std::size_t first = byte >> word_shift_, last = (byte + bytes - 1) >> word_shift_;
  const std::uint64_t whole = all_bits(std::size_t{1} << word_shift_);
  std::uint64_t out = 0;
  for (std::size_t i = first; i <= last; ++i)
    out |= (writes_[i] == 0 ? whole : unset_.bits(i)) << ((i - first) << word_shift_) * 8;
  return out;
}

void RaceDetector::leave_unset(std::uint64_t byte, std::size_t bytes, std::uint64_t bits) {
  const std::size_t first = byte >> word_shift_, last = (byte + bytes - 1) >> word_shift_;
  const std::uint64_t whole = all_bits(std::size_t{1} << word_shift_);
  for (std::size_t i = first; i <= last; ++i)
    unset_.add(i, static_cast<std::uint32_t>(bits >> ((i - first) << word_shift_) * 8 & whole));
}

void find_unset_shared(const Warp& warp, const Op* op, const Access& access, PartBits& unset) {
  const std::size_t parts = part_count(*op->instruction), bytes = access.bytes / parts;
  for (std::size_t part = 0; part < parts; ++part) {
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const bool active = (access.mask >> lane & 1u) != 0;
      std::uint64_t& bits = unset[part][static_cast<std::size_t>(lane)] = 0;
      if (!active) continue;
      const std::uint64_t first = access.of(lane) + part * bytes;
      bits = warp.block->shadow->unset_bits(first, bytes);
      const auto byte = static_cast<std::uint64_t>(bits == 0 ? 0 : std::countr_zero(bits) / 8);
      if (bits != 0 && warp.block->shadow->is_written(first + byte)) unset.copied |= 1u << lane;
    }
  }
}

const Op* mark_unset_shared(const Launch& launch, Warp& warp, const Op* op, const Access& access) {
  PartBits unset;
  find_unset_shared(warp, op, access, unset);
  return mark_unset(launch, warp, op, access, unset, UnsetOrigin::Where::shared, op + 1);
}

void hold_load(Warp& warp, const Op* op, const Access& access) {
  const std::size_t number = op->target;
  if (number >= warp.held_loads.size()) warp.held_loads.resize(number + 1);
  HeldLoad& held = warp.held_loads[number];
  if (op->next_block == 0) {  // other blocks take it up, maybe for lanes that loaded earlier
    held.op = op, held.bytes = access.bytes;
    held.lanes[0] |= access.mask;
    for (int l = 0; l < kWarpSize; ++l) {
      if ((access.mask >> l & 1u) != 0) held.address[static_cast<std::size_t>(l)] = access.of(l);
    }
    return;
  }
  held = {.op = op, .bytes = access.bytes};
  for (std::size_t l = 0; l < kWarpSize; ++l) held.address[l] = access.of(static_cast<int>(l));
  for (std::size_t way = 0; way < held.lanes.size(); ++way)
    held.lanes[way] = (op->next_block >> way & 1u) != 0 ? access.mask : 0;
}

bool check_held(Launch& launch, Warp& warp, const HeldLoad& held, std::uint32_t wanted) {
  if (wanted == 0) return true;
  if (held.number_before != HeldLoad::kNone) warp.held_loads[held.number_before].lanes[0] &= ~wanted;
  if (warp.block->shadow == nullptr) return true;
  alignas(64) std::uint64_t address[kWarpSize];
  std::copy(held.address.begin(), held.address.end(), address);
  Access access;
  make_access(address, wanted, held.bytes, access);
  access.spell_out();
  const bool is_fine = check_shared(launch, warp, held.op, access, plain_touch(held.op), {.carries = true});
  warp.block->shadow->take_unset();
  return is_fine;
}

void store_unset_shared(Launch& launch, const Warp& warp, const Op* op, const Access& access) {
  const std::size_t parts = part_count(*op->instruction), bytes = access.bytes / parts;
  for (std::size_t part = 0; part < warp.unset->stored.size(); ++part) {
    const UnsetRegister& stored = warp.unset->stored[part];
    for (std::uint32_t left = access.mask & stored.lanes(); left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      warp.block->shadow->leave_unset(access.of(lane) + part * bytes, bytes, stored.bits(lane));
      const UnsetOrigin& from = stored.from(lane);
      if (!launch.unset_shared) launch.unset_shared = unset_store(launch, warp, from);
      if (!has_shuffled(launch, from)) launch.unset_shared->is_shuffled = false;
    }
  }
}

void copy_unset_shared(const Launch& launch, const Warp& warp, std::uint64_t from, std::uint64_t byte,
                       std::size_t bytes) {
  for (std::size_t b = 0; b < bytes; b += 8) {
    const std::size_t count = std::min<std::size_t>(bytes - b, 8);
    const std::uint64_t bits = launch.memory.unset_bits(from + b, count);
    if (bits != 0) warp.block->shadow->leave_unset(byte + b, count, bits);
  }
}

bool check_mbarrier(Launch& launch, const Warp& warp, const Op* op, std::uint64_t byte, int lane, SharedTouch touch) {
  const auto finding = warp.block->shadow->use_mbarrier(byte, warp.index, lane);
  return !finding || report(launch, warp, op, touch, *finding);
}

bool check_shared(Launch& launch, const Warp& warp, const Op* op, const Access& access, SharedTouch touch,
                  const SharedWrites& writes) {
  if (warp.block->shadow == nullptr) return true;
  launch.charge(static_cast<std::uint64_t>(std::popcount(access.mask)) * work::kCheckedLane);
  SharedWrites by_live = writes;
  by_live.live = warp.live;
  const auto finding = warp.block->shadow->touch(warp.index, op->pc, access, touch, by_live);
  charge_for_clocks(launch, warp);
  return !finding || report(launch, warp, op, writes.fetches ? SharedTouch::atomic : touch, *finding);
}

}  // namespace roofwalk::vgpu
