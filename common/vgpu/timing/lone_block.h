// How long traced blocks take alone on an SM: separates blocks that do the same amount of work but wait longer.
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
  // `key`: the key of the sample (sample.h). `replay`: takes a block's index in the trace, returns cycles.
  AloneTimes(const GridTrace& trace, std::uint64_t key, std::function<double(std::uint32_t)> replay);

  // Replays these blocks, or others that did the same, up to a limit of instructions: first one of each stratum, the
  // most expensive first, then the second of each, and so on. `key` decides the order within a stratum.
  void take(std::vector<std::uint32_t> blocks);

  // Cycles of the recorded part of the block; nullopt: it was not replayed.
  std::optional<double> of(std::uint32_t block) const;
  // The same; replays the block if necessary, however long that takes.
  double always_of(std::uint32_t block);
  // Sets the time of a block that was replayed alone elsewhere.
  void know(std::uint32_t block, double cycles);

  const GridTrace& trace_;
  std::uint64_t key_;
  std::function<double(std::uint32_t)> replay_;
  std::vector<double> cycles_;                          // by index in the trace; 0: unknown
  std::unordered_map<std::uint64_t, double> of_likes_;  // by a hash of everything that a block did
  std::uint64_t replayed_ = 0;                          // instructions replayed by `take`
};

}  // namespace roofwalk::vgpu
