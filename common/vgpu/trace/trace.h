// Traces of the sampled blocks of a launch, for the timing model to replay: the basic blocks that each warp entered,
// in order, and the cost of each of their memory instructions. They are recorded by the run that counts, so the
// timing model never guesses an outcome.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "common/vgpu/trace/strata.h"
#include "common/vgpu/trace/trace_memory.h"

namespace roofwalk::vgpu {

// From where a line comes that the load finds in a cache. from_l2, from_dram: in this simulation it is there; on
// hardware, it would still be in flight, because another block that runs concurrently requested it in the same round of
// turns (grid.h). from_far_l2: the half of L2 that is not the SM's own has it (L2Cache).
enum class Arrival : std::uint8_t { none, from_l2, from_dram, from_far_l2 };

// The cost of one memory instruction in one entry of a basic block. All zero if its guard was off in every lane.
struct Outcome {
  // At L1: the number of 128-byte lines looked up, and of wavefronts (l1_wavefronts.h). For a load of constant memory,
  // `lines` is the number of passes, and `wavefronts` that of passes that missed the first cache.
  std::uint8_t lines = 0, wavefronts = 0;
  std::uint8_t l2_read_sectors = 0, l2_write_sectors = 0;      // requested from L2
  std::uint8_t dram_read_sectors = 0, dram_write_sectors = 0;  // read from DRAM, partners too; that became dirty in L2
  std::uint8_t shared_wavefronts = 0, shared_conflicts = 0;    // wavefronts, and those beyond the conflict-free minimum
  Arrival arrives = Arrival::none;                             // load: source of a line that it finds
  // For a completed wait at an mbarrier: 1 + number of the warp's cp.async groups that may still be in flight. For a
  // barrier whose operands are known only at run time (meets_by_value): the number of warps that it waits for; 0:
  // all.
  std::uint8_t copies = 0;
  // For a load: hash of its first line that missed L1 or was in flight. For a barrier whose operands are known only at
  // run time: 1 + its number.
  std::uint16_t line = 0;
  std::uint8_t dram_pages = 0;  // pages of DRAM opened for read misses
  bool operator==(const Outcome&) const = default;
};

// Adds to a field of an Outcome; the sum saturates.
inline void add_to(std::uint8_t& field, std::uint64_t more) {
  field = static_cast<std::uint8_t>(std::min<std::uint64_t>(field + more, 255));
}
static_assert(sizeof(Outcome) == 14);

// Warps of a block meet at mbarrier phases and at flags in memory. Each phase and each write of a flag has its own
// number within the block: from 1 while it is recorded, from 0 in the finished trace. A phase ends when all expected
// arrivals have come.
struct SyncPoint {
  // An instruction may have several sync points. `follows`: the phase at which the instruction arrives cannot end
  // before phase `number` has ended.
  enum class Kind : std::uint8_t { waits, arrives, follows };
  std::uint32_t outcome = 0;  // index of the instruction's outcome among the warp's
  std::uint32_t number = 0;
  Kind kind = Kind::waits;
  bool operator==(const SyncPoint&) const = default;
};

// The lanes of a warp that take turns in an atomic. swap_*: they change the same word, by a compare-and-swap loop
// (is_retried()); in shared memory, those that change words of the same bank fail as well. update: L2 changes words of
// one sector; the word with the most lanes counts.
struct AtomicTurns {
  enum class Kind : std::uint8_t { swap_shared, swap_global, update };
  std::uint32_t outcome = 0;  // index of the instruction's outcome among the warp's
  std::uint32_t place = 0;    // hash of the word or sector
  std::uint8_t lanes = 0;
  Kind kind = Kind::swap_global;
};

// A load of data that an earlier request of the same block fetches: the load does not complete before that fetch.
struct Found {
  std::uint32_t outcome = 0;        // index of the load's outcome among the warp's
  std::uint32_t fetching_warp = 0;  // index within the block
  std::uint32_t fetch = 0;          // index of the fetch's outcome among that warp's
  bool operator==(const Found&) const = default;
};

// An instruction that writes to global memory.
struct BlockWrite {
  std::uint64_t block = 0;    // linear index within the grid
  std::uint32_t warp = 0;     // index within the block
  std::uint32_t outcome = 0;  // index of the instruction's outcome among the warp's
  auto operator<=>(const BlockWrite&) const = default;
};
// One for which a warp of another block waits. Who waits for the change of a word by an atomic also waits for what the
// word was before.
struct AwaitedWrite {
  static constexpr std::uint32_t kNone = ~0u;
  BlockWrite by;
  std::uint32_t follows = kNone;  // an earlier one in GridTrace::writes
  auto operator<=>(const AwaitedWrite&) const = default;
};
struct BlockWait {
  std::uint32_t outcome = 0;  // index of the reading instruction's outcome among the warp's
  std::uint32_t write = 0;    // index in GridTrace::writes
  bool operator==(const BlockWait&) const = default;
};

// A warp sleeps (__nanosleep()).
struct Sleep {
  std::uint32_t outcome = 0;  // index of the instruction's outcome among the warp's
  std::uint32_t cycles = 0;   // of the lane that sleeps longest
};

// A part of an entry of a basic block. Lanes that wait in the middle of a block for others of their warp, which run
// meanwhile, go on in an entry of its own, behind those of the others.
struct BlockPart {
  std::uint32_t block = 0;
  std::uint32_t first = 0, end = 0;  // its PTX instructions
  std::uint32_t memory = 0;          // how many instructions of BasicBlock::memory lie before it; they have no outcome
};

struct WarpTrace {
  static constexpr std::uint32_t kPart = 1u << 31;

  std::uint64_t block = 0;                      // linear index within the grid
  std::uint32_t warp = 0;                       // index within the block
  std::pmr::vector<std::uint32_t> blocks = {};  // basic blocks in the order of entry; kPart | an index into `parts`
  std::pmr::vector<Outcome> outcomes = {};      // for each entry, one per instruction in BasicBlock::memory, in order
  std::vector<BlockPart> parts = {};            // in no order
  std::vector<SyncPoint> sync_points = {};      // in ascending order of outcomes, like those below
  std::vector<AtomicTurns> turns = {};          // one per word or sector
  std::vector<Found> found = {};
  std::vector<BlockWait> block_waits = {};
  BlockWrite last_seen = {.block = ~0ull};  // the latest write by another block that it has seen
  std::vector<Sleep> sleeps = {};           // without naps
  // Sleeps between the tries of a poll, in order, by the outcome of the try that succeeds.
  std::vector<Sleep> naps = {};
  std::size_t final_sleeps = 0;    // how many of `sleeps` cannot become naps any more
  std::uint64_t instructions = 0;  // PTX instructions of the recorded entries
  std::uint64_t operations = 0;    // operations into which the timing model expands them

  static bool is_part(std::uint32_t entered) { return (entered & kPart) != 0; }
  const BlockPart& part_of(std::uint32_t entered) const { return parts[entered & ~kPart]; }
  std::uint32_t block_of(std::uint32_t entered) const { return is_part(entered) ? part_of(entered).block : entered; }
  // How many of the basic block's memory instructions have no outcome in this entry; these are its first ones.
  std::uint32_t before(std::uint32_t entered) const { return is_part(entered) ? part_of(entered).memory : 0; }
};

struct BlockTrace {
  std::uint64_t index = 0;     // linear index within the grid
  OwnTraceMemory memory = {};  // of `warps` and of what its members record; null: the heap
  std::pmr::vector<WarpTrace> warps = {};
  std::uint64_t instructions = 0;  // recorded PTX instructions of all its warps
  BlockWork work = {};             // of the whole block; more than was recorded if recording ended early
  BlockWork recorded = {};         // work done until recording ended early; empty if it did not end early
  std::uint64_t beside_bytes = 0;  // host memory of lookup tables while the block runs (global_flow.h)
  std::uint32_t stratum = 0;       // index in GridTrace::strata
  std::uint64_t operations = 0;    // sum over its warps
};

struct TraceSize {
  std::uint64_t instructions = 0, bytes = 0, operations = 0;
};

// Length of a trace for the timing model: its instructions, or more if they expand to more operations than usual.
inline std::uint64_t length_of(std::uint64_t instructions, std::uint64_t operations) {
  constexpr std::uint64_t kOperations = 4;  // usual maximum per instruction: kernels have one to two, a division 70
  return std::max(instructions, operations / kOperations);
}

// Traces of blocks that a hash selects from the whole grid, or of all its blocks; and statistics of all blocks.
struct GridTrace {
  std::vector<BlockTrace> blocks;  // ascending by index
  bool complete = false;           // `blocks` holds every block of the grid
  std::uint64_t longest_warp = 0;  // PTX instructions of the grid's longest warp, traced or not
  std::int64_t chain_cycles = 0;   // when the last block that waited for another one ends, at the earliest
  std::vector<Stratum> strata;     // of all blocks of the grid; empty if every block is to be replayed
  std::vector<AwaitedWrite> writes;
  // Blocks that should be traced in another run: they are unlike any traced block, and their share of the grid's work
  // is too large to let other blocks represent them.
  std::vector<std::uint64_t> missing;
};

}  // namespace roofwalk::vgpu
