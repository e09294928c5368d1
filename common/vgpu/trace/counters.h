// Counters of one instruction of a launch.
#pragma once

#include <cstdint>

namespace roofwalk::vgpu {

struct InstructionCounters {
  std::uint64_t requests = 0, sectors = 0, lines = 0, hit_sectors = 0;
  // The sectors of its requests if no two lanes shared a byte and the lanes' bytes were adjacent; where lanes share
  // bytes, no more than the actual sectors.
  std::uint64_t ideal_sectors = 0;
  // The part of both, of loads and atomics, by requests that touch more sectors than they need.
  std::uint64_t uncoalesced_sectors = 0, uncoalesced_ideal_sectors = 0;
  std::uint64_t l2_read_sectors = 0, l2_write_sectors = 0, l2_hit_sectors = 0;
  // Requests of loads and atomics, by the farthest level that served a part of them.
  std::uint64_t served_by_l1 = 0, served_by_l2 = 0, served_by_dram = 0;
  // Of accesses to shared memory. But for loads of constant memory, `wavefronts` counts passes, and `conflicts` counts
  // passes that missed the first cache.
  std::uint64_t bytes = 0, wavefronts = 0, conflicts = 0;
  std::uint64_t shared_requests = 0;  // of `requests` by generic addresses: those to shared memory
  std::uint64_t predicated_off = 0;   // thread instructions skipped by a guard
  std::uint64_t divergent = 0;        // branches and calls that split a warp

  // Counts the sectors of a request, and how few it could do with. `reads`: it is a load or an atomic.
  void add_sectors(std::uint64_t touched, std::uint64_t ideal, bool reads) {
    sectors += touched;
    ideal_sectors += ideal;
    if (!reads || ideal == touched) return;
    uncoalesced_sectors += touched;
    uncoalesced_ideal_sectors += ideal;
  }

  void add(const InstructionCounters& other);
};

}  // namespace roofwalk::vgpu
