// How long traced blocks take alone on an SM: what tells blocks apart that do as much as each other and wait longer.
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
  // `key`: as of the sample (sample.h). `replay`: a block by its place in the trace; returns cycles.
  AloneTimes(const GridTrace& trace, std::uint64_t key, std::function<double(std::uint32_t)> replay);

  // Replays these blocks, or others that did the same, as far as there is time for it: first one of each stratum, the
  // dearest first, then the second of each... in an order of the stratum's that only the key tells.
  void take(std::vector<std::uint32_t> blocks);

  // Cycles of the block as far as it was recorded; nullopt: there was no time for it.
  std::optional<double> of(std::uint32_t block) const;
  // The same; replays it whatever time that takes.
  double always_of(std::uint32_t block);
  // It has been replayed alone elsewhere.
  void know(std::uint32_t block, double cycles);

  const GridTrace& trace_;
  std::uint64_t key_;
  std::function<double(std::uint32_t)> replay_;
  std::vector<double> cycles_;                          // by place in the trace; 0: unknown
  std::unordered_map<std::uint64_t, double> of_likes_;  // by a hash of all that a block did
  std::uint64_t replayed_ = 0;                          // instructions
};

}  // namespace roofwalk::vgpu
