// What sampled blocks of a launch did, for the clock to replay: the basic blocks that each warp entered, in order, and
// what each of their memory instructions cost. Left by the run that counts, so that the clock never draws an outcome.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/vgpu/trace/strata.h"

namespace roofwalk::vgpu {

// What a load finds in a cache although it is only on its way there: another block asked for it in the same round of
// turns (grid.h), which hardware runs at the same time.
enum class Arrival : std::uint8_t { none, from_l2, from_dram };

// One memory instruction of one entry of a basic block. All zero where its guard was off in every lane.
struct Outcome {
  // At L1: 128-byte lines looked up, 32-byte sectors. Of a load of constant memory: passes, and those that the first
  // cache lacked.
  std::uint8_t lines = 0, sectors = 0;
  std::uint8_t l2_read_sectors = 0, l2_write_sectors = 0;      // what went on to L2
  std::uint8_t dram_read_sectors = 0, dram_write_sectors = 0;  // reads that L2 lacked; sectors that it newly owes DRAM
  std::uint8_t shared_wavefronts = 0, shared_conflicts = 0;    // shared memory: turns, and those beyond the fewest
  Arrival arrives = Arrival::none;  // a load: what it must wait for besides what it asks for itself
  // A wait at an mbarrier that is over: 1 + groups of the warp's copies that may still fly. A barrier that only a run
  // tells (meets_by_value): the warps that it waits for; 0: all.
  std::uint8_t copies = 0;
  // A load: a hash of the first line that was not in L1, or is on its way there. A barrier as above: 1 + its number.
  std::uint16_t line = 0;
  bool operator==(const Outcome&) const = default;
};

// Adds to a field of an Outcome; what is more than it holds is cut off.
inline void add_to(std::uint8_t& field, std::uint64_t more) {
  field = static_cast<std::uint8_t>(std::min<std::uint64_t>(field + more, 255));
}
static_assert(sizeof(Outcome) == 12);

// Warps of a block meet at phases of mbarriers and at flags in shared memory. Each phase of an mbarrier, and each write
// of a flag, has a number of its own in its block, from 1 on. It is over when all have arrived.
struct Meeting {
  // One instruction may have several. What it arrives at follows another: it is not over before that is.
  enum class Kind : std::uint8_t { waits, arrives, follows };
  std::uint32_t outcome = 0;  // place of the instruction's outcome among the warp's
  std::uint32_t number = 0;
  Kind kind = Kind::waits;
  bool operator==(const Meeting&) const = default;
};

// Lanes of an atomic that is a loop around a compare-and-swap (is_retried()) which change the same word.
struct Swaps {
  std::uint32_t outcome = 0;  // place of the instruction's outcome among the warp's
  std::uint32_t word = 0;     // a hash of it
  std::uint8_t lanes = 0;
  bool shared = false;  // in shared memory; else in global memory
};

// A load that finds what another of its block has fetched, or itself: it is not over before the fetch is.
struct Found {
  std::uint32_t outcome = 0;        // place of the load's outcome among the warp's
  std::uint32_t fetching_warp = 0;  // of the block
  std::uint32_t fetch = 0;          // place of the fetch's outcome among that warp's
  bool operator==(const Found&) const = default;
};

struct WarpTrace {
  std::uint64_t block = 0;            // linear, within the grid
  std::uint32_t warp = 0;             // of the block
  std::vector<std::uint32_t> blocks;  // basic blocks in the order of entry
  std::vector<Outcome> outcomes;      // for each entry, one for each memory instruction of that block, in PTX order
  std::vector<Meeting> meetings;      // ascending by outcome, as all that follow
  std::vector<Swaps> swaps;           // one for each word
  std::vector<Found> found;
  std::uint64_t instructions = 0;  // PTX instructions of these entries
  std::uint64_t operations = 0;    // of the clock's model, that they become
};

struct BlockTrace {
  std::uint64_t index = 0;  // linear, within the grid
  std::vector<WarpTrace> warps;
  std::uint64_t instructions = 0;  // PTX instructions of all its warps, as far as they are recorded
  BlockWork work;                  // all of it; more where there was no memory to record the rest
  BlockWork recorded = {};         // what of it had been done when recording ended; nothing where it did not
  std::uint64_t beside_bytes = 0;  // that are kept for it while the block runs (global_flow.h)
  std::uint32_t stratum = 0;       // of the grid's
  std::uint64_t operations = 0;    // as of its warps
};

struct TraceSize {
  std::uint64_t instructions = 0, bytes = 0, operations = 0;
};

// How long a trace is to the clock: as many instructions, unless they become more operations than they do in kernels.
inline std::uint64_t length_of(std::uint64_t instructions, std::uint64_t operations) {
  constexpr std::uint64_t kOperations = 4;  // of an instruction; of kernels between one and two, of a division 70
  return std::max(instructions, operations / kOperations);
}

// Blocks chosen by a hash, spread over the whole grid, or all of them; and what all blocks did.
struct GridTrace {
  std::vector<BlockTrace> blocks;  // ascending by index
  bool complete = false;           // every block of the grid
  std::uint64_t longest_warp = 0;  // PTX instructions of the grid's warp with most, traced or not
  std::vector<Stratum> strata;     // of all blocks of the grid; none where every block shall be replayed
  // Blocks unlike any that was traced, of which too much of the grid's work is for others to stand for it.
  std::vector<std::uint64_t> missing;
};

}  // namespace roofwalk::vgpu
