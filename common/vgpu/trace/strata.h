// Groups the blocks of a grid into strata by what they did, so that the few blocks that the timing model replays
// represent each kind of block in the right number. Every block is counted, traced or not.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace roofwalk::vgpu {

// What a block did: the facts that determine how long it takes, as far as they are known without a trace.
struct BlockWork {
  std::uint64_t instructions = 0;  // PTX instructions of all its warps
  std::uint64_t longest_warp = 0;  // instructions of its longest warp
  std::uint64_t memory = 0;        // sum of: lines and sectors at L1, shared memory wavefronts, lines requested from L2
  // Sum, over the block's warps, of the latency that the warp would have if it ran alone and L2 served all its loads.
  std::uint64_t latency_cycles = 0;
  // The same plus their waits for each other, and for each of their loads and atomics that DRAM served, the time by
  // which DRAM takes longer than L2.
  std::uint64_t wait_cycles = 0;
  // Time of its slowest warp: its latency, its waits for others at barriers and flags, and DRAM's part of its requests,
  // one at a time; or, if longer, the time of all swaps of its most contended word.
  std::uint64_t longest_wait_cycles = 0;
  // The time for which it keeps one unit of one scheduler busy, at most. Units and issue slots differ in how many
  // instructions they take per cycle, and warps of one scheduler take turns, so equal counts may take different times.
  std::uint64_t busy_cycles = 0;
  std::uint64_t most_far_loads = 0;  // loads and atomics of one warp that L2 or DRAM served, at most
  // The basic blocks that its warps entered and the instructions that they skipped, as sums of two hashes (PathSums).
  std::array<std::uint64_t, 2> path = {};

  double cost() const { return static_cast<double>(instructions + memory); }
};

// Times of a warp, in cycles, if L2 serves all loads.
struct PathClock {
  std::uint64_t cycles = 0;  // since the warp's start, without its waits for other blocks
  std::int64_t of_grid =
      0;  // since the launch, with these waits, if all slots get their blocks at once (state/block_chain.h)

  void raise_to(const PathClock& other) {
    cycles = std::max(cycles, other.cycles);
    of_grid = std::max(of_grid, other.of_grid);
  }
};

// Hash sums over the basic blocks that a warp enters and the instructions that it skips. Equal paths give equal sums.
// Paths with different blocks, or with a different order among eight consecutive blocks, almost never do. Loop
// iterations add up, so a few more of them change the sums little.
struct PathSums {
  std::uint64_t latency_cycles = 0;
  std::uint64_t waited_cycles = 0;  // at barriers and flags, for warps of later clock()
  std::int64_t behind_cycles = 0;   // by how much waits for other blocks put the warp off
  std::uint64_t last = 0;           // the last eight basic blocks, latest in the low byte
  std::array<std::uint64_t, 2> sums = {};

  void enter(std::uint32_t block, std::int64_t latency) {
    latency_cycles += static_cast<std::uint64_t>(latency);
    last = last << 8 ^ block;
    add(last);
  }
  // The time since the warp's start if L2 serves all loads.
  std::uint64_t clock() const { return latency_cycles + waited_cycles; }
  PathClock now() const { return {clock(), static_cast<std::int64_t>(clock()) + behind_cycles}; }
  // `rest`: cycles of the basic block behind the instruction that waits. On entry, they were added, too.
  void wait_until(const PathClock& other, std::int64_t rest = 0) {
    const PathClock own = now();
    waited_cycles += std::max(other.cycles, own.cycles) - own.cycles;
    wait_for_block(std::max(other.of_grid + rest, own.of_grid));
  }
  // Sets PathClock::of_grid.
  void wait_for_block(std::int64_t of_grid) { behind_cycles = of_grid - static_cast<std::int64_t>(clock()); }
  // Adds an instruction whose guard is off in every lane. This is part of the path because it may serialize loads.
  void skip(std::uint32_t pc) { add(last ^ std::uint64_t{pc} << 32); }

 private:
  void add(std::uint64_t way) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio (Knuth, TAOCP 3, 6.4)
    std::uint64_t hash = way * kOdd;
    hash = (hash ^ hash >> 32) * kOdd;
    sums[0] += hash >> 40;
    sums[1] += hash >> 16 & 0xff'ffff;
  }
};

// Number of equal parts into which a grid is divided, in block order.
inline constexpr std::size_t kGridParts = 32;

// A grid is also divided, in block order, into at most kCells cells of equally many blocks.
inline constexpr std::uint64_t kCells = 1024;
constexpr std::uint64_t blocks_per_cell(std::uint64_t grid_blocks) { return (grid_blocks - 1) / kCells + 1; }

struct Stratum {
  std::uint64_t blocks = 0;
  // `instructions` and `memory` are sums; `longest_warp` is the number of instructions of the longest warp.
  std::uint64_t instructions = 0, memory = 0, longest_warp = 0;
  std::uint64_t longest_block = 0;                           // index of the block with that warp
  std::uint64_t longest_wait_cycles = 0, waiting_block = 0;  // the longest wait of a block, and that block
  std::uint64_t busy_cycles = 0, busiest_block = 0;          // the most BlockWork::busy_cycles, and that block
  std::array<float, kGridParts> by_part = {};                // blocks in each part of the grid
  std::vector<std::uint32_t> by_cell;                        // blocks in each cell of the grid
  std::vector<std::uint64_t> examples;                       // indices of the blocks with the lowest ranks
  std::uint32_t traced = 0;                                  // blocks that have a trace

  double cost() const { return static_cast<double>(instructions + memory); }
};

class Strata {
 public:
  // Maximum number of strata, and of examples in each. If a grid has more kinds of blocks, strata are widened: the
  // blocks of one stratum may then differ more.
  static constexpr std::size_t kMost = 4096, kExamples = 4;
  // At first, key values have 16 steps per doubling. Each widening halves this number, and quarters it for paths; so
  // latency, which tells waiting blocks from working ones, stays finer. settle() stops after kCoarsest widenings, so
  // that the blocks of a stratum stay similar.
  static constexpr unsigned kCoarsest = 3;

  explicit Strata(std::uint64_t grid_blocks) : grid_blocks_(grid_blocks) {}

  // `rank` is random; the blocks with the lowest ranks become examples.
  void add(const BlockWork& work, std::uint64_t index, std::uint64_t rank);

  // Joins each stratum without a traced block to one that has a traced block and differs only in longer waits (or more
  // far loads), or in hardly shorter ones. Then widens strata until those without a traced block have at most
  // `untraced_share` of the cost, or kCoarsest is reached. Returns the stratum of each traced block.
  std::vector<std::uint32_t> settle(const std::vector<BlockWork>& traced, double untraced_share);

  // The strata in a fixed order; valid after settle().
  const std::vector<Stratum>& all() const { return settled_; }

 private:
  static constexpr std::size_t kPaths = 2;  // the last elements of a key
  using Key = std::array<std::uint16_t, 8 + kPaths>;
  struct Entry {
    Stratum stratum;
    std::vector<std::uint64_t> ranks;  // ranks of `stratum.examples`, in the same order
  };
  static constexpr std::size_t kFarLoads = 6, kWaits[] = {4, 5, kFarLoads};  // elements of a key
  Key key_of(const BlockWork& work) const;
  static void raise(std::uint64_t value, std::uint64_t block, std::uint64_t& most, std::uint64_t& block_of_most);
  void widen();
  void join_untraced(const std::set<Key>& traced);
  static void merge(Entry& into, Entry&& from);

  std::uint64_t grid_blocks_;
  unsigned halvings_ = 0;  // how often the steps of keys were halved
  std::map<Key, Entry> strata_;
  Key last_key_ = {};
  Entry* last_ = nullptr;
  std::vector<Stratum> settled_;
};

}  // namespace roofwalk::vgpu
