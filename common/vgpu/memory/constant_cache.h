// The constant caches of one SM: a small one that indexed loads of constant memory ask first, and behind it a larger
// one that asks L2 for whole lines of its own (256 bytes: MT4G). What is named at compile time reads an operand of
// machine code instead and costs no request on hardware; both count here as requests of one word.
//
// The rules that fix the counts:
// - A pass serves one word, 4 or 8 bytes wide, to all lanes that want it. (CUDA C++ Programming Guide, device memory
//   accesses: a request is split into as many as it has different addresses. 8 bytes are the widest load of constants
//   that compute capability 8.0 to 9.0 has, LDC.64; 16 bytes a lane are two.)
// - Each pass looks up its line in the first cache, and where that lacks it in the second. Both keep the line.
// - Cold at the start of each launch. Victims: least recently used. Sets: the line's number modulo their number, since
//   all constant memory lies side by side (Memory::kConstantBankBytes).
#pragma once

#include <cstdint>
#include <vector>

#include "common/specs/machine.h"
#include "common/vgpu/memory/memory.h"

namespace roofwalk::vgpu {

class ConstantCache {
 public:
  explicit ConstantCache(const Machine& machine);

  enum class Level : std::uint8_t { first, second, l2 };
  // Looks up the line of a byte of the bank, and fills it: which level had it.
  Level read(std::uint64_t place);

  // What comes from L2 from now on belongs to another round than what came before.
  void begin_round() { ++round_; }
  // Whether the second cache holds the byte's line and read it from L2 in this round.
  bool came_this_round(std::uint64_t place) const;

  // Of the second cache: what it asks L2 for at a time.
  std::uint64_t line_bytes() const { return second_.line_bytes; }

  // Marks a word of 4 bytes of the bank: false where it is marked already. `unmark` takes it back.
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
    std::uint64_t line_bytes;
    std::size_t ways, sets;
    std::uint64_t clock = 0;
    std::vector<std::uint64_t> tags, used;                   // by set and way; `used`: the clock of the last use
    std::vector<std::uint32_t> came;                         // beside tags: the round in which it was filled
    bool look_up(std::uint64_t place, std::uint32_t round);  // fills it
  };
  static constexpr std::uint64_t kMarks = Memory::kConstantBankBytes / 4 / 64;

  Lines first_, second_;
  std::uint32_t round_ = 1;
  std::vector<std::uint64_t> marked_;
};

}  // namespace roofwalk::vgpu
