// Finds how long traced blocks take when alone on an SM. This tells apart blocks that do the same work but wait for
// different lengths of time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/vgpu/trace/trace.h"

namespace roofwalk::vgpu {

class AloneTimes {
 public:
  // `key`: the key of the sample (sample.h). `replay`: replays the block that has the given index in the trace, and
  // returns the cycles that it takes.
  AloneTimes(const GridTrace& trace, std::uint64_t key, std::function<double(std::uint32_t)> replay);

  // Replays these blocks, or blocks that did the same, until a limit of instructions is reached: first one block of
  // each stratum, in order of falling cost, then a second one of each, and so on. `key` determines the order within a
  // stratum.
  void take(std::vector<std::uint32_t> blocks);

  // Returns the cycles of the recorded part of the block; nullopt if it was not replayed.
  std::optional<double> of(std::uint32_t block) const;
  // Like of(), but replays the block if necessary, however long that takes.
  double always_of(std::uint32_t block);
  // Sets the time of a block that was replayed alone elsewhere.
  void know(std::uint32_t block, double cycles);

  // Whether all blocks did the same, instruction by instruction, but for at most one that did less.
  bool are_alike();

 private:
  std::uint64_t likeness_of(std::uint32_t block);

  const GridTrace& trace_;
  std::uint64_t key_;
  std::function<double(std::uint32_t)> replay_;
  std::vector<double> cycles_;                          // by index in the trace; 0: unknown
  std::vector<std::uint64_t> likenesses_;               // by index in the trace: likeness_of(); 0: unknown
  std::unordered_map<std::uint64_t, double> of_likes_;  // cycles, by likeness_of()
  std::uint64_t replayed_ = 0;                          // instructions replayed by take()
};

}  // namespace roofwalk::vgpu
