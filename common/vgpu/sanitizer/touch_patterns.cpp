// Finds which words the lanes of a load or store touch, so that an access in lockstep can be checked as a whole.
#include <bit>
#include <map>
#include <memory>

#include "common/vgpu/sanitizer/race_detector.h"

namespace roofwalk::vgpu {

std::unique_ptr<const RaceDetector::Pattern> RaceDetector::make_pattern(std::span<const ProductRun::Load> loads,
                                                                        std::int64_t low, const LaneOffsets& offsets,
                                                                        std::uint32_t bytes) const {
  // By word: the lanes that touch it and the instruction.
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> touched;
  for (const ProductRun::Load& load : loads) {
    std::map<std::uint32_t, std::uint32_t> lanes;
    for (std::size_t l = 0; l < kWarpSize; ++l) {
      const std::uint64_t from = offsets.of_lane[l] + static_cast<std::uint64_t>(load.offset - low);
      for (std::uint64_t byte = from; byte < from + bytes; byte += std::uint64_t{1} << word_shift_)
        lanes[static_cast<std::uint32_t>(byte >> word_shift_)] |= 1u << l;
    }
    for (const auto& [word, who] : lanes) {
      const auto [at, is_new] = touched.try_emplace(word, who, load.pc);
      if (!is_new && at->second.first != who) return std::make_unique<const Pattern>();
      at->second.second = load.pc;
    }
  }
  auto out = std::make_unique<Pattern>();
  out->apart = true;
  for (const auto& [word, toucher] : touched) {
    if (out->words.empty() || word != out->words.back() + 1) out->stretches.push_back({word, 0});
    ++out->stretches.back().count;
    out->words.push_back(word);
    out->lanes.push_back(toucher.first);
    out->pcs.push_back(toucher.second);
    out->apart = out->apart && std::has_single_bit(toucher.first);
  }
  return out;
}

const RaceDetector::Pattern& RaceDetector::pattern_of(std::uint32_t pc, const LaneOffsets& offsets,
                                                      std::uint32_t bytes) {
  if (patterns_.size() <= pc) patterns_.resize(pc + 1);
  if (patterns_[pc] == nullptr) {
    const ProductRun::Load only{0, pc};
    patterns_[pc] = make_pattern({&only, 1}, offsets.low, offsets, bytes);
  }
  return *patterns_[pc];
}

}  // namespace roofwalk::vgpu
