// A block resident on an SM: its shared memory, warps and barriers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/record/dim3.h"
#include "common/vgpu/state/warp.h"

namespace roofwalk::vgpu {

class RaceDetector;

// Stack bytes per thread for recursion: CUDA's default (cudaLimitStackSize, CUDA runtime API); a plan cannot change it.
inline constexpr std::uint32_t kStackBytes = 1024;

inline constexpr int kBarriers = 16;
// For each warp: the last cp.async group that a phase of an mbarrier covers (0 = none).
struct MbarrierCopies {
  std::vector<std::uint32_t> arriving, arrived;  // current phase, previous phase
};

// Phase numbers of an mbarrier in traces: the current phase and the previous one (0 = none).
struct MbarrierPhases {
  std::uint32_t open = 0, over = 0;
  PathClock open_clock, over_clock;  // of the latest arrival at each
  std::uint32_t arrival = 0;         // number of the last arrival, as a flag write
};

// One of the latest global stores of a block (global_flow.h). `number` is from the same sequence as the numbers
// of flag writes; `warp` and `outcome` identify the store instruction.
struct GlobalStore {
  std::uint32_t number = 0, warp = 0;
  std::uint32_t outcome = 0;  // index in the warp's WarpTrace::outcomes
  PathClock clock;            // of the warp
};

// The last write of a flag.
struct FlagWrite {
  std::uint32_t number = 0;  // 0: none
  PathClock clock;           // of the warp; the latest, if writes keep what earlier ones wrote
  bool keeps = false;        // whether what is there depends on what was there before
};
struct GlobalStores {
  // Of the maps' many small nodes, which are all freed at once.
  std::pmr::monotonic_buffer_resource memory;
  // by_sector: stores of whole sectors; by_word: all other stores.
  std::pmr::unordered_map<std::uint64_t, GlobalStore> by_sector{&memory}, by_word{&memory};
  std::pmr::unordered_set<std::uint32_t> awaited{&memory};  // numbers of stores that some warp waits for
  std::uint64_t low = ~0ull, end = 0;                       // address range of all recorded stores
  bool has_bytes = false;                                   // whether some stores are of less than a word
};

// Turns of lanes at a word of shared memory, one after another without a pause (atomic_turns.h): when the first of them
// could begin at the earliest (PathClock::of_grid), and how long all of them take.
struct TurnsInARow {
  std::int64_t from = 0, cycles = 0;

  std::int64_t end() const { return from + cycles; }
};

struct ResidentBlock {
  bool active = false;
  bool is_new = false;   // not initialized yet
  bool is_held = false;  // gets no turn for now (sanitizer/held_blocks.h)
  Dim3 index{0, 0, 0};
  std::uint64_t linear_index = 0;  // within the grid
  std::uint64_t turns = 0;         // that its warps have had
  std::uint64_t begun_at = 0;      // Launch::clock
  std::int64_t starts_at = 0;      // PathClock::of_grid: when the block before it in its slot ended
  bool worked = false;             // whether a warp did more than poll in vain in the last turn
  std::uint32_t phases = 0;        // of its mbarriers that are over
  bool gave_way = false;           // whether lanes of a warp that polled in vain have let others go ahead
  std::uint64_t held_until = 0;    // before this turn, `holder` misses its turns, as it may hold a lock (exec/turns.h)
  std::uint32_t holder = 0;
  BlockTrace* trace = nullptr;    // trace of the block; nullptr if it is not sampled
  std::uint64_t memory_work = 0;  // BlockWork::memory
  std::vector<std::uint8_t> shared;
  bool is_watched = false;                   // in sanitized runs: by the race detector, and warps may miss turns
  std::shared_ptr<RaceDetector> own_shadow;  // if the run is sanitized and the kernel has shared memory
  std::shared_ptr<RaceDetector> shadow;      // own_shadow if this block is watched, else null
  std::map<std::uint64_t, MbarrierCopies> mbarrier_copies;  // by offset in shared memory
  std::map<std::uint64_t, MbarrierPhases> mbarrier_phases;  // by offset in shared memory, if follows_flags
  // Whether writes for which other warps of the block may wait are recorded: in traced blocks, and in all if
  // Launch::follows_flags.
  bool follows_flags = false;
  std::vector<FlagWrite> flags;                               // by word of shared memory
  std::unordered_map<std::uint64_t, FlagWrite> global_flags;  // by word of global memory that an atomic changed
  std::shared_ptr<GlobalStores> global_stores;                // null: none yet
  std::vector<std::uint32_t> swaps;  // by word of shared memory: number of lanes that have swapped it (is_retried())
  std::uint32_t most_swaps = 0;      // largest entry of `swaps`
  // By word, where blocks may wait for each other: in order of time.
  std::unordered_map<std::uint64_t, std::vector<TurnsInARow>> swapped;
  std::uint32_t sync_points = 0;      // last number given to a phase or a flag write
  std::uint32_t followed = 0;         // number of `follows` sync points recorded so far
  std::uint32_t last_flag_write = 0;  // number of the last flag write; 0: none
  std::vector<Warp> warps;
  std::vector<UnitTimes> busy;  // by scheduler: what its warps of this block have issued
  std::uint32_t live_warps = 0;
  std::uint32_t arrived[kBarriers] = {};   // warps that have arrived at each barrier
  std::uint32_t expected[kBarriers] = {};  // warps each barrier waits for; 0: all live warps
  std::uint32_t counted[kBarriers] = {};   // bar.red: threads that have arrived with a true predicate
  std::uint32_t asked[kBarriers] = {};     // bar.red: threads that have arrived
  PathClock came_at[kBarriers] = {};       // the latest of the arrived warps, at the barrier
  std::int64_t ended_at = 0;               // PathClock::of_grid of the latest of its warps that have ended

  // BlockWork::busy_cycles
  std::uint64_t busy_cycles() const {
    std::uint32_t most = 0;
    for (const UnitTimes& scheduler : busy)
      most = std::max(most, *std::max_element(scheduler.of.begin(), scheduler.of.end()));
    return most / UnitTimes::kPerCycle;
  }
};

}  // namespace roofwalk::vgpu
