// The bytes that one SM stored to global memory in a round, kept until the round ends. The SM's own loads see these
// bytes at once, loads of other SMs see them from the next round on. So results do not depend on which SMs run
// concurrently, even if blocks race.
#pragma once

#include <cstdint>
#include <vector>

#include "common/vgpu/memory/sectors.h"

namespace roofwalk::vgpu {

class StoreLog {
 public:
  // Logs a store of `bytes` bytes to an address; `host`: the host address of the destination.
  void write(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes, std::uint8_t* host);

  std::size_t lines() const { return lines_.size(); }
  // Whether any byte of [low, end) may have been stored.
  bool may_hold(std::uint64_t low, std::uint64_t end) const { return low < end_ && end > low_; }
  // Overlays logged stores onto `bytes` bytes that were loaded from an address; all are in one line.
  void overlay(std::uint64_t address, std::uint32_t bytes, std::uint8_t* loaded) const;

  // Writes all stores to memory and clears the log.
  void apply();

 private:
  struct Line {
    std::uint64_t line = 0;
    std::uint8_t* host = nullptr;  // host address of the line's first byte
    std::uint64_t stored[2] = {};  // mask of the bytes stored
    std::uint32_t slot = 0;        // index in table_
    alignas(32) std::uint8_t bytes[kLineBytes];
  };

  // Returns the index in table_ of the line or, if it is not there, of the free entry for it.
  std::size_t slot_of(std::uint64_t line) const;
  Line& find_or_add(std::uint64_t line, std::uint8_t* host);
  void grow();

  std::vector<Line> lines_;
  std::vector<std::uint32_t> table_;  // 1 + index into lines_; 0: free
  std::uint64_t low_ = ~0ull, end_ = 0;
};

}  // namespace roofwalk::vgpu
