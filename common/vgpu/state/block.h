// A block that is resident on an SM: its shared memory, its warps, its barriers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/record/run_record.h"
#include "common/vgpu/state/warp.h"

namespace roofwalk::vgpu {

class SharedShadow;

// What a thread has for recursion: CUDA's default (cudaLimitStackSize, CUDA runtime API), which a plan cannot change.
inline constexpr std::uint32_t kStackBytes = 1024;

inline constexpr int kBarriers = 16;
// Which groups of asynchronous copies the phases of an mbarrier stand for: by warp, up to that number; 0: none.
struct MbarrierCopies {
  std::vector<std::uint32_t> arriving, arrived;  // of this phase, of the last one
};

// Of an mbarrier, for traces: numbers of this phase and of the last one; 0: there was none.
struct MbarrierPhases {
  std::uint32_t open = 0, over = 0;
};

// The last stores of a traced block to global memory (global_flow.h): numbers as of flags, and which instruction of
// which warp each is.
struct GlobalStore {
  std::uint32_t number = 0, warp = 0;
  std::uint32_t outcome = 0;  // its place among the warp's
};
struct GlobalStores {
  std::unordered_map<std::uint64_t, GlobalStore> by_sector, by_word;  // of whole sectors, and others
  std::unordered_set<std::uint32_t> awaited;                          // numbers that somebody waits for
  std::uint64_t low = ~0ull, end = 0;                                 // all lie between
};

struct ResidentBlock {
  bool active = false;
  bool is_new = false;  // has yet to be laid out
  Dim3 index{0, 0, 0};
  std::uint64_t linear_index = 0;  // within the grid
  BlockTrace* trace = nullptr;     // where its warps are recorded, if they are
  std::uint64_t memory_work = 0;   // BlockWork::memory
  std::vector<std::uint8_t> shared;
  std::shared_ptr<SharedShadow> own_shadow;                 // where the run is sanitized
  std::shared_ptr<SharedShadow> shadow;                     // that one, where this block is watched
  std::map<std::uint64_t, MbarrierCopies> mbarrier_copies;  // by place in shared memory
  std::map<std::uint64_t, MbarrierPhases> mbarrier_phases;  // likewise, of a block with traces
  std::vector<std::uint32_t> flags;                         // likewise: the last write of a flag, by word; 0: none
  std::unordered_map<std::uint64_t, std::uint32_t> global_flags;  // of words that atomics change in global memory
  GlobalStores global_stores;
  std::vector<std::uint32_t> swaps;  // lanes so far that swapped each word of shared memory (is_retried()), if any
  std::uint32_t most_swaps = 0;      // of a word
  std::uint32_t meetings = 0;        // numbers given to phases and writes of flags
  std::uint32_t followed = 0;        // meetings of theirs that follow others
  std::vector<Warp> warps;
  std::uint32_t live_warps = 0;
  std::uint32_t arrived[kBarriers] = {};   // warps at each barrier
  std::uint32_t expected[kBarriers] = {};  // 0: all live warps
  std::uint32_t counted[kBarriers] = {};   // bar.red: threads so far whose predicate held
  std::uint32_t asked[kBarriers] = {};     // and of how many
};

}  // namespace roofwalk::vgpu
