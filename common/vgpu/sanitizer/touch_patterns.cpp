#include "common/vgpu/sanitizer/touch_patterns.h"

#include <algorithm>
#include <bit>

#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

const TouchPattern kNoPattern{};

}  // namespace

std::size_t TouchPattern::bytes() const {
  return sizeof *this + (words.size() + lanes.size() + pcs.size()) * sizeof words[0] +
         stretches.size() * sizeof stretches[0];
}

TouchPatterns::TouchPatterns(std::uint32_t word_bytes, std::size_t most_bytes)
    : word_shift_(std::countr_zero(word_bytes)), bytes_left_(most_bytes) {}

void TouchPatterns::add(const ProductRun::Load& load, std::int64_t low, const LaneOffsets& offsets, std::uint32_t bytes,
                        std::vector<Touch>& touches, std::uint64_t& work) const {
  const std::size_t begin = touches.size();
  for (std::size_t l = 0; l < kWarpSize; ++l) {
    const std::uint64_t from = offsets.of_lane[l] + static_cast<std::uint64_t>(load.offset - low);
    for (std::uint64_t byte = from; byte < from + bytes; byte += std::uint64_t{1} << word_shift_)
      touches.push_back({static_cast<std::uint32_t>(byte >> word_shift_), 1u << l, load.pc});
  }
  work += work::kPatternTouch * (touches.size() - begin);
  const auto first = touches.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto below = [](const Touch& a, const Touch& b) { return a.word < b.word; };
  // Lanes mostly go upwards.
  if (!std::is_sorted(first, touches.end(), below)) std::sort(first, touches.end(), below);
  std::size_t last = begin;
  for (std::size_t i = begin + 1; i < touches.size(); ++i) {
    if (touches[i].word == touches[last].word) {
      touches[last].lanes |= touches[i].lanes;
    } else {
      touches[++last] = touches[i];
    }
  }
  touches.resize(last + 1);
}

const TouchPattern* TouchPatterns::keep(std::span<const Touch> touches, bool has_pcs) {
  TouchPattern out{.words = {}, .lanes = {}};
  out.apart = true;
  out.words.reserve(touches.size());
  out.lanes.reserve(touches.size());
  if (has_pcs) out.pcs.reserve(touches.size());
  for (const Touch& touch : touches) {
    if (out.words.empty() || touch.word != out.words.back() + 1) out.stretches.push_back({touch.word, 0});
    ++out.stretches.back().count;
    out.words.push_back(touch.word);
    out.lanes.push_back(touch.lanes);
    if (has_pcs) out.pcs.push_back(touch.pc);
    out.apart = out.apart && std::has_single_bit(touch.lanes);
  }
  out.stretches.shrink_to_fit();
  if (out.bytes() > bytes_left_) return &kNoPattern;
  bytes_left_ -= out.bytes();
  all_.push_back(std::make_unique<const TouchPattern>(std::move(out)));
  return all_.back().get();
}

const TouchPattern& TouchPatterns::make(std::uint32_t pc, const LaneOffsets& offsets, std::uint32_t bytes,
                                        std::uint64_t& work) {
  if (by_pc_.size() <= pc) by_pc_.resize(pc + 1);
  const TouchPattern*& pattern = by_offsets_[{bytes, offsets.of_lane}];
  if (pattern == nullptr) {
    std::vector<Touch> touches;
    add({0, pc}, offsets.low, offsets, bytes, touches, work);
    pattern = keep(touches, false);
  }
  return *(by_pc_[pc] = pattern);
}

const TouchPattern& TouchPatterns::make_side(std::size_t number, const LaneOffsets& offsets,
                                             const ProductRun::Side& side, std::uint64_t& work) {
  if (by_side_.size() <= number) by_side_.resize(number + 1);
  std::vector<Touch> touches;
  for (const ProductRun::Load& load : side.loads) add(load, side.low, offsets, sizeof(float), touches, work);
  std::stable_sort(touches.begin(), touches.end(), [](const Touch& a, const Touch& b) { return a.word < b.word; });
  std::size_t kept = 0;
  for (const Touch& touch : touches) {
    if (kept != 0 && touches[kept - 1].word == touch.word) {
      if (touches[kept - 1].lanes != touch.lanes) return *(by_side_[number] = &kNoPattern);
      --kept;  // of several loads of a word, the last one counts
    }
    touches[kept++] = touch;
  }
  return *(by_side_[number] = keep(std::span(touches).first(kept), true));
}

}  // namespace roofwalk::vgpu
