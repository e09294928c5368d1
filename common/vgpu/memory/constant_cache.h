// The constant caches of one SM: a small first-level cache for loads of constant memory at computed addresses, and a
// larger second-level one that reads whole lines (256 bytes: MT4G) from L2. On hardware, a constant at a fixed address
// is an operand of a machine instruction and costs no request; here its load counts as a request for one word.
//
// The rules that fix the counts:
// - A pass serves one word, 4 or 8 bytes wide, to all lanes that request it. (CUDA C++ Programming Guide, device
//   memory accesses: a request is split into one request per different address. 8 bytes, LDC.64, is the widest load
//   of constants of compute capability 8.0 to 9.0; 16 bytes per lane are two loads.)
// - Each pass looks up its line in the first cache and, on a miss, in the second. Each cache that misses allocates the
//   line.
// - The caches are cold at the start of each launch. Replacement is least recently used. The set is the line number
//   modulo the number of sets, since all constants are adjacent in memory (Memory::kConstantBankBytes).
#pragma once

#include <cstdint>
#include <vector>

#include "common/specs/machine.h"
#include "common/vgpu/memory/memory.h"

namespace roofwalk::vgpu {

class ConstantCache {
 public:
  explicit ConstantCache(const Machine& machine);
  void open();  // as L1Cache::open()

  enum class Level : std::uint8_t { first, second, l2 };
  // Looks up the line of a byte of the bank and fills it on a miss. Returns the level that held it.
  Level read(std::uint64_t place);

  // Begins a round: lines that come from L2 from now on belong to it.
  void begin_round() { ++round_; }
  // Whether the second cache holds the byte's line and read it from L2 in this round.
  bool came_this_round(std::uint64_t place) const;

  // Line size of the second cache. Each of its reads from L2 is one line.
  std::uint64_t line_bytes() const { return second_.line_bytes; }

  // Marks a 4-byte word of the bank; false if the word is already marked. `unmark` clears the marks of the aligned
  // group of 64 words that contains `word`.
  bool mark(std::uint64_t word) {
    std::uint64_t& bits = marked_[word / 64 % kMarks];
    const std::uint64_t bit = std::uint64_t{1} << word % 64;
    const bool is_new = (bits & bit) == 0;
    bits |= bit;
    return is_new;
  }
  void unmark(std::uint64_t word) { marked_[word / 64 % kMarks] = 0; }

 private:
  struct Lines {
    Lines(int size_bytes, int line_bytes, int ways);
    void open();
    std::uint64_t line_bytes;
    std::size_t ways, sets;
    std::uint64_t clock = 0;
    std::vector<std::uint64_t> tags, used;                   // by set and way; `used`: the clock of the last use
    std::vector<std::uint32_t> came;                         // by set and way: round in which the line was filled
    bool look_up(std::uint64_t place, std::uint32_t round);  // fills the line on a miss
  };
  static constexpr std::uint64_t kMarks = Memory::kConstantBankBytes / 4 / 64;

  Lines first_, second_;
  std::uint32_t round_ = 1;
  std::vector<std::uint64_t> marked_;
};

}  // namespace roofwalk::vgpu
