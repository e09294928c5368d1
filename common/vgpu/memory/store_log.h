// The bytes that one SM stored to global memory in a round, kept until the round is over. Its own loads see them at
// once, those of other SMs from the next round on: so what a kernel computes does not depend on which SMs run side by
// side, not even where its blocks race.
#pragma once

#include <cstdint>
#include <vector>

#include "common/vgpu/memory/cache.h"

namespace roofwalk::vgpu {

class StoreLog {
 public:
  // Keeps `bytes` bytes for an address; `host` is where they shall go.
  void write(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes, std::uint8_t* host);

  // Whether any byte of [low, end) may have been stored.
  std::size_t lines() const { return lines_.size(); }
  bool may_hold(std::uint64_t low, std::uint64_t end) const { return low < end_ && end > low_; }
  // Puts what was stored into `bytes` bytes that were loaded from an address; all lie within one line.
  void overlay(std::uint64_t address, std::uint32_t bytes, std::uint8_t* loaded) const;

  // Writes everything to where it shall go, and forgets it.
  void apply();

 private:
  struct Line {
    std::uint64_t line = 0;
    std::uint8_t* host = nullptr;  // of the line's first byte
    std::uint64_t stored[2] = {};  // bytes
    std::uint32_t slot = 0;        // in table_
    alignas(32) std::uint8_t bytes[kLineBytes];
  };

  // Where the line is in table_, or could go.
  std::size_t slot_of(std::uint64_t line) const;
  Line& find_or_add(std::uint64_t line, std::uint8_t* host);
  void grow();

  std::vector<Line> lines_;
  std::vector<std::uint32_t> table_;  // 1 + index into lines_; 0: free
  std::uint64_t low_ = ~0ull, end_ = 0;
};

}  // namespace roofwalk::vgpu
