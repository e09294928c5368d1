// The ways of a cache set: finding a line, and the least recently used way.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "common/base/check.h"
#include "common/vgpu/memory/sectors.h"

namespace roofwalk::vgpu {

inline constexpr int kWayBits = 11;  // enough for 1,024 ways, the most that a machine file may have

inline std::size_t sets_of(std::int64_t size_bytes, int ways) {
  const std::int64_t sets = size_bytes / (std::int64_t{kLineBytes} * ways);
  ROOFWALK_CHECK(sets > 0 && ways <= 1 << kWayBits);
  return static_cast<std::size_t>(sets);
}

// Returns the way of a line in a set; -1: absent. Branch-free, so that compilers vectorize it for the usual numbers of
// ways.
template <int known_ways = 0>
inline int way_of(const std::uint64_t* tags, int ways, std::uint64_t line) {
  std::uint64_t found = 0;
  for (int i = 0; i < (known_ways != 0 ? known_ways : ways); ++i) {
    found |= tags[i] == line ? static_cast<std::uint64_t>(i + 1) : 0;
  }
  return static_cast<int>(found) - 1;
}

// Returns the way with the smallest stamp; if several have it, the first of them. The stamp is in the bits from `shift`
// up.
template <int known_ways = 0>
inline int oldest_way(const std::uint64_t* used, int ways, int shift) {
  std::uint64_t oldest = ~0ull;
  for (int i = 0; i < (known_ways != 0 ? known_ways : ways); ++i) {
    oldest = std::min(oldest, used[i] >> shift << kWayBits | static_cast<std::uint64_t>(i));
  }
  return static_cast<int>(oldest & ((1u << kWayBits) - 1));
}

// The ages of the ways in a set run from 0 (newest) to ways - 1. last_way finds the oldest way, rejuvenate makes a
// way the newest.
template <int known_ways = 0>
inline int last_way(const std::uint16_t* ages, int ways) {
  const int count = known_ways != 0 ? known_ways : ways;
  std::uint16_t found = 0;
  for (int i = 0; i < count; ++i) found = static_cast<std::uint16_t>(found | (ages[i] == count - 1 ? i : 0));
  return found;
}
template <int known_ways = 0>
inline void rejuvenate(std::uint16_t* ages, int ways, int way) {
  const std::uint16_t own = ages[way];
  for (int i = 0; i < (known_ways != 0 ? known_ways : ways); ++i)
    ages[i] = static_cast<std::uint16_t>(ages[i] + (ages[i] < own ? 1 : 0));
  ages[way] = 0;
}

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
// For 16 ways: AVX-512 comparisons that return bit masks.
template <>
inline int way_of<16>(const std::uint64_t* tags, int, std::uint64_t line) {
  const __m512i wanted = _mm512_set1_epi64(static_cast<std::int64_t>(line));
  const unsigned low = _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(tags), wanted);
  const unsigned high = _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(tags + 8), wanted);
  const unsigned found = low | high << 8;
  return found != 0 ? std::countr_zero(found) : -1;
}
template <>
inline int last_way<16>(const std::uint16_t* ages, int) {
  const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ages));
  return std::countr_zero(static_cast<unsigned>(_mm256_cmpeq_epi16_mask(all, _mm256_set1_epi16(15))));
}
template <>
inline void rejuvenate<16>(std::uint16_t* ages, int, int way) {
  const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ages));
  const __mmask16 younger = _mm256_cmplt_epu16_mask(all, _mm256_set1_epi16(static_cast<short>(ages[way])));
  const __m256i older = _mm256_mask_add_epi16(all, younger, all, _mm256_set1_epi16(1));
  const auto own = static_cast<__mmask16>(1u << way);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(ages), _mm256_mask_mov_epi16(older, own, _mm256_setzero_si256()));
}
#endif

inline int find_way(const std::uint64_t* tags, int ways, std::uint64_t line) {
  return ways == 16 ? way_of<16>(tags, ways, line) : way_of(tags, ways, line);
}
inline int find_last(const std::uint16_t* ages, int ways) {
  return ways == 16 ? last_way<16>(ages, ways) : last_way(ages, ways);
}
inline void make_newest(std::uint16_t* ages, int ways, int way) {
  ways == 16 ? rejuvenate<16>(ages, ways, way) : rejuvenate(ages, ways, way);
}
inline int find_oldest(const std::uint64_t* used, int ways, int shift) {
  return ways == 16 ? oldest_way<16>(used, ways, shift) : oldest_way(used, ways, shift);
}

}  // namespace roofwalk::vgpu
