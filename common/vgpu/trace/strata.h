// The blocks of a grid by what they did, so that those whose traces the clock replays stand for all in the right
// numbers. Every block is counted here, traced or not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace roofwalk::vgpu {

// What a block did, as far as it decides how long it takes and can be told without a trace.
struct BlockWork {
  std::uint64_t instructions = 0;    // PTX instructions of all its warps
  std::uint64_t longest_warp = 0;    // of the warp with most
  std::uint64_t memory = 0;          // lines and sectors at L1, wavefronts of shared memory, lines asked of L2
  std::uint64_t latency_cycles = 0;  // of all its warps, as if each were alone and its loads all came from L2
  // Of the warp with most, as if all that it asked L2 for came from DRAM, one by one.
  std::uint64_t longest_wait_cycles = 0;
  // Which ways its warps went, and past which instructions: sums of two hashes (PathSums).
  std::array<std::uint64_t, 2> path = {};

  double cost() const { return static_cast<double>(instructions + memory); }
};

// What the basic blocks that a warp enters, and the instructions that it passes by, add up to. Warps that enter the
// same ones in the same order have the same sums; those that enter others, or in another order within the last eight,
// almost never. A loop's iterations add up, so that a few more change little.
struct PathSums {
  std::uint64_t latency_cycles = 0;
  std::uint64_t last = 0;  // basic blocks, the latest in the low byte
  std::array<std::uint64_t, 2> sums = {};

  void enter(std::uint32_t block, std::int64_t latency) {
    latency_cycles += static_cast<std::uint64_t>(latency);
    last = last << 8 ^ block;
    add(last);
  }
  // A guard leaves out the instruction in all lanes: what others load at once may so be loaded one after the other.
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

// A grid in parts of as many blocks each, in order.
inline constexpr std::size_t kGridParts = 32;

struct Stratum {
  std::uint64_t blocks = 0;
  std::uint64_t instructions = 0, memory = 0, longest_warp = 0;  // of all of them; of the warp with most
  std::uint64_t longest_block = 0;                               // index of the block with that warp
  std::uint64_t longest_wait_cycles = 0, waiting_block = 0;      // likewise, of the warp that waits longest
  std::array<float, kGridParts> by_part = {};                    // blocks in each part of the grid
  std::vector<std::uint64_t> examples;                           // indices, those with the lowest rank first
  std::uint32_t traced = 0;                                      // blocks whose traces are there

  double cost() const { return static_cast<double>(instructions + memory); }
};

class Strata {
 public:
  // At most so many; where a grid has more, each of them holds blocks that differ more.
  static constexpr std::size_t kMost = 4096, kExamples = 4;
  // What doubles has 16 steps at first; this often may they be halved until blocks are alike no more. Steps of paths
  // are halved twice each time: the latency stays, which tells what waits from what works.
  static constexpr unsigned kCoarsest = 3;

  explicit Strata(std::uint64_t grid_blocks) : grid_blocks_(grid_blocks) {}

  // `rank`: chance, to choose examples by.
  void add(const BlockWork& work, std::uint64_t index, std::uint64_t rank);

  // Widens strata until those without a trace have at most `untraced_share` of the cost, or are as wide as they may be.
  // Returns the stratum of each traced block.
  std::vector<std::uint32_t> settle(const std::vector<BlockWork>& traced, double untraced_share);

  // In a fixed order, once settled.
  const std::vector<Stratum>& all() const { return settled_; }

 private:
  static constexpr std::size_t kPaths = 2;  // the last of a key
  using Key = std::array<std::uint16_t, 4 + kPaths>;
  struct Entry {
    Stratum stratum;
    std::vector<std::uint64_t> ranks;  // of its examples
  };
  Key key_of(const BlockWork& work) const;
  void widen();
  static void merge(Entry& into, Entry&& from);

  std::uint64_t grid_blocks_;
  unsigned halvings_ = 0;  // of the steps
  std::map<Key, Entry> strata_;
  Key last_key_ = {};
  Entry* last_ = nullptr;
  std::vector<Stratum> settled_;
};

}  // namespace roofwalk::vgpu
