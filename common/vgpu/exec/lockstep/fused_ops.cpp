// Handlers of fused operations of lockstep code.
#include "common/vgpu/exec/lockstep/fused_ops.h"

#include <algorithm>
#include <bit>
#include <cstring>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "common/vgpu/exec/lockstep/load_fast_path.h"
#include "common/vgpu/exec/lockstep/lockstep.h"
#include "common/vgpu/exec/ops/math.h"
#include "common/vgpu/exec/ops/semantics.h"
#include "common/vgpu/requests/lanes.h"
#include "common/vgpu/requests/shared_memory.h"
#include "common/vgpu/sanitizer/checked_access.h"

namespace roofwalk::vgpu {
namespace {

inline float canonical(float value) { return value != value ? canonical_nan() : value; }

// Executes op->count operations, all of them fma.
const Op* op_fma_run(Launch&, Warp& warp, const Op* op) {
  const Op* const end = op + op->count;
  for (; op != end; ++op) {
    const float* const a = warp.lanes<float>(op->s[1]);
    const float* const b = warp.lanes<float>(op->s[2]);
    const float* const c = warp.lanes<float>(op->s[3]);
    for_lanes(warp.lanes<float>(op->s[0]), kAllLanes,
              [&](int l) { return canonical(sem::Fma::apply(a[l], b[l], c[l])); });
  }
  return end;
}

template <class T>
inline void add_of_lane_0(const Warp& warp, const Op* op) {
  *warp.lanes<T>(op->s[0]) = *warp.lanes<T>(op->s[1]) + *warp.lanes<T>(op->s[2]);
}

// Executes op->target integer additions (of loop counters, say) on lane 0, each of op->count bytes.
const Op* op_additions_of_lane_0(Launch&, Warp& warp, const Op* op) {
  const Op* const end = op + op->target;
  for (; op != end; ++op)
    op->count == 8 ? add_of_lane_0<std::uint64_t>(warp, op) : add_of_lane_0<std::uint32_t>(warp, op);
  return end;
}

template <class Lanes>
constexpr std::size_t kCount = sizeof(Lanes) / sizeof(float);
typedef float Eight __attribute__((vector_size(kEight * sizeof(float))));
// As many lanes as the host's vectors hold.
#ifdef __AVX512F__
typedef float Wide __attribute__((vector_size(64)));
#else
using Wide = Eight;
#endif
constexpr std::size_t kWide = kCount<Wide>;

// Broadcasts a value. Adds its bits to integer zeros, because compilers would split a plain broadcast into several
// instructions.
template <class Lanes>
inline Lanes all_lanes(float value) {
  typedef std::uint32_t Bits __attribute__((vector_size(sizeof(Lanes))));
  return reinterpret_cast<Lanes>(Bits{} + std::bit_cast<std::uint32_t>(value));
}

template <class Lanes, bool same>
inline Lanes words_at(const std::uint8_t* from) {
  Lanes out;
  if constexpr (same) {
    float one;
    std::memcpy(&one, from, sizeof one);
    out = all_lanes<Lanes>(one);
  } else {
    std::memcpy(&out, from, sizeof out);
  }
  return out;
}

template <class Lanes>
inline Lanes lanes_at(const float* lanes) {
  Lanes out;
  std::memcpy(&out, lanes, sizeof out);
  return out;
}

template <class Lanes>
inline Lanes fma_of(Lanes a, Lanes b, Lanes c) {
#ifdef __AVX512F__
  if constexpr (sizeof(Lanes) == 64) {
    return reinterpret_cast<Lanes>(
        _mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
  }
#endif
  for (std::size_t i = 0; i < kCount<Lanes>; ++i) c[i] = sem::Fma::apply(a[i], b[i], c[i]);
  return c;
}

template <class Lanes>
inline void put_canonical(Lanes value, float* lanes) {
  value = value != value ? all_lanes<Lanes>(canonical_nan()) : value;
  std::memcpy(lanes, &value, sizeof value);
}

// Whether a load of shared memory can take the fast path; if so, records the read for the sanitizer. If the product
// then takes the slow path because of its other load, this read is recorded again, which is harmless.
inline bool reads_as_usual(Launch& launch, const Warp& warp, const Op& load, const LaneOffsets& offsets,
                           std::uint64_t at) {
  return is_usual_in_shared(launch, warp, &load, offsets, at, kWordBytes) &&
         (!is_watched(launch, warp) ||
          touches_in_order(launch, warp, &load, at, offsets, kWordBytes, SharedTouch::read));
}

// Executes two ld.shared and the fma of the two words. Each group of eight lanes loads one word, or adjacent words.
template <bool left_same, bool right_same>
const Op* op_product_of_shared(Launch& launch, Warp& warp, const Op* op) {
  const Op &left = op[0], &right = op[1], &fma = op[2];
  const LaneOffsets& left_offsets = launch.program.lockstep.lane_offsets[left.lane_offsets];
  const LaneOffsets& right_offsets = launch.program.lockstep.lane_offsets[right.lane_offsets];
  const std::uint64_t left_at = first_address(warp, &left), right_at = first_address(warp, &right);
  if (!reads_as_usual(launch, warp, left, left_offsets, left_at) ||
      !reads_as_usual(launch, warp, right, right_offsets, right_at))
    return left.guarded(launch, warp, op);
  add_lockstep_wavefronts(launch, warp, left);
  add_lockstep_wavefronts(launch, warp, right);
  const std::uint8_t* const shared = warp.block->shared.data();
  float* const a = warp.lanes<float>(left.s[0]);
  float* const b = warp.lanes<float>(right.s[0]);
  const float* const c = warp.lanes<float>(fma.s[3]);
  float* const result = warp.lanes<float>(fma.s[0]);
  for (std::size_t l = 0; l < kWarpSize; l += kEight) {
    const auto x = words_at<Eight, left_same>(shared + (left_at + left_offsets.of_lane[l]));
    const auto y = words_at<Eight, right_same>(shared + (right_at + right_offsets.of_lane[l]));
    const Eight sum = fma_of(x, y, lanes_at<Eight>(c + l));
    std::memcpy(a + l, &x, sizeof x);
    std::memcpy(b + l, &y, sizeof y);
    put_canonical(sum, result + l);
  }
  return op + 3;
}

// Returns the value of a load's address register.
inline std::uint64_t base_address(const Warp& warp, const Op& load) {
  if (load.s[4] == kNoSlot) return 0;
  return load.count == 8 ? *warp.lanes<std::uint64_t>(load.s[4]) : *warp.lanes<std::uint32_t>(load.s[4]);
}

// Whether all loads of one side of a run are aligned and inside shared memory, so that no address wraps around.
inline bool is_inside(const Launch& launch, const ProductRun::Side& side, std::uint64_t base) {
  const std::uint64_t extent = launch.program.shared_bytes;
  const auto from = static_cast<std::int64_t>(base);
  // The register may point outside shared memory, as long as the offsets lead back inside.
  constexpr std::uint64_t kFar = 1ull << 40;
  return base < kFar && ((base | side.bits) & (kWordBytes - 1)) == 0 && from + side.low >= 0 &&
         from + side.high + kWordBytes <= static_cast<std::int64_t>(extent);
}

// Adds up the wavefronts of a run's loads. False if some load has not yet been executed on its own: only that execution
// finds out how many wavefronts the load takes.
bool know_turns(const Launch& launch, const ProductRun& run, ProductRunCount& count) {
  count.wavefronts = 0;
  for (const auto* side : {&run.left, &run.right}) {
    for (const ProductRun::Load& load : side->loads) {
      const SharedMemo& memo = launch.shared_memos[load.pc];
      if (!memo.lockstep_known) return false;
      count.wavefronts += memo.lockstep_wavefronts;
    }
  }
  return count.known = true;
}

// Records, for the sanitizer, all reads of one side and then all reads of the other, although a run alternates between
// the sides. Returns false if both sides might read the same word, because then the order of the reads matters.
[[gnu::noinline]] bool reads_in_order(Launch& launch, const Warp& warp, const Op* op, std::uint64_t left_base,
                                      std::uint64_t right_base) {
  const LockstepCode& code = launch.program.lockstep;
  const ProductRun& run = code.product_runs[op->target];
  const auto left_at = static_cast<std::int64_t>(left_base), right_at = static_cast<std::int64_t>(right_base);
  const bool apart =
      left_at + run.left.high < right_at + run.right.low || right_at + run.right.high < left_at + run.left.low;
  if (!apart) return false;
  RaceDetector& shadow = *warp.block->shadow;
  const bool are_in_order =
      shadow.read_in_lockstep(warp.index, 2 * op->target, left_base, code.lane_offsets[op[0].lane_offsets], run.left) &&
      shadow.read_in_lockstep(warp.index, 2 * op->target + 1, right_base, code.lane_offsets[op[1].lane_offsets],
                              run.right);
  charge_for_clocks(launch, warp);
  return are_in_order;
}

// Executes a run of products that add to one sum. The sums stay in host registers, and the loaded words are used where
// they are, without a copy in the warp's registers. A NaN stays a NaN, so only the last sum is made canonical.
template <class Lanes, bool left_same, bool right_same>
const Op* op_product_run(Launch& launch, Warp& warp, const Op* op) {
  const ProductRun& run = launch.program.lockstep.product_runs[op->target];
  ProductRunCount& count = launch.product_runs[op->target];
  const std::uint64_t left_base = base_address(warp, op[0]), right_base = base_address(warp, op[1]);
  if (warp.mask != kAllLanes || !is_inside(launch, run.left, left_base) || !is_inside(launch, run.right, right_base) ||
      warp.trace != nullptr || (!count.known && !know_turns(launch, run, count)) ||
      (is_watched(launch, warp) && !reads_in_order(launch, warp, op, left_base, right_base)))
    return op_product_of_shared<left_same, right_same>(launch, warp, op);
  ++count.times;
  launch.sm->shared_wavefronts += count.wavefronts;
  const std::size_t last = 3 * run.offsets.size() - 1;
  constexpr std::size_t kParts = kWarpSize / kCount<Lanes>;
  const std::uint8_t* const left = warp.block->shared.data() + left_base;
  const std::uint8_t* const right = warp.block->shared.data() + right_base;
  const float* const c = warp.lanes<float>(op[2].s[3]);
  float* const result = warp.lanes<float>(op[last].s[0]);
  std::ptrdiff_t lefts[kParts], rights[kParts];
  Lanes sums[kParts];
  for (std::size_t part = 0; part < kParts; ++part) {
    lefts[part] = run.left.of_eights[part * kEights / kParts];
    rights[part] = run.right.of_eights[part * kEights / kParts];
    sums[part] = lanes_at<Lanes>(c + part * kCount<Lanes>);
  }
  for (const auto& [of_left, of_right] : run.offsets) {
    for (std::size_t part = 0; part < kParts; ++part) {
      sums[part] = fma_of(words_at<Lanes, left_same>(left + (lefts[part] + of_left)),
                          words_at<Lanes, right_same>(right + (rights[part] + of_right)), sums[part]);
    }
  }
  for (std::size_t part = 0; part < kParts; ++part) put_canonical(sums[part], result + part * kCount<Lanes>);
  return op + last + 1;
}

template <Words words>
inline const std::uint8_t* find_words(Launch& launch, const Warp& warp, const Op& load) {
  if constexpr (words == Words::same) return find_uniform<kWordBytes>(launch, warp, &load);
  if constexpr (words == Words::row) return find_contiguous<kWordBytes>(launch, warp, &load);
  if constexpr (words == Words::rows) return find_rows(launch, warp, &load);
}

template <Words words>
inline Wide words_of(const std::uint8_t* found, std::size_t lane) {
  constexpr bool kSame = words == Words::same;
  return words_at<Wide, kSame>(kSame ? found : found + lane * kWordBytes);
}

template <Words words>
void put_words(const Warp& warp, const Op& load, const std::uint8_t* found) {
  float* const lanes = warp.lanes<float>(load.s[0]);
  for (std::size_t l = 0; l < kWarpSize; l += kWide) {
    const Wide own = words_of<words>(found, l);
    std::memcpy(lanes + l, &own, sizeof own);
  }
}

// Executes a run of products, each of them two ld.global and the fma of their words: op->target operations in all, or
// fewer if a load does not take the fast path. Operations on lane 0 may lie between products. First finds all words,
// then multiplies them, with the sums in host registers. Nothing reads the words and intermediate sums of a complete
// run, so only the last sum is stored. If the run stops early, the words already found for the next product are stored,
// too.
template <Words left_words, Words right_words>
const Op* op_products_of_global(Launch& launch, Warp& warp, const Op* op) {
  const std::uint8_t *lefts[kMostProducts], *rights[kMostProducts];
  const float* const c = warp.lanes<float>(op[2].s[3]);
  float* result = nullptr;
  std::size_t products = 0;
  // The operation where the run stops, and whether the first word or both words of the product there have been found.
  const Op *next = op, *const end = op + op->target;
  bool has_left = false, has_both = false;
  while (next != end) {
    if (next->guarded == nullptr) {
      next = next->run(launch, warp, next);
      continue;
    }
    const std::uint8_t* const left = find_words<left_words>(launch, warp, next[0]);
    if (left == nullptr) break;
    lefts[products] = left;
    has_left = true;
    if (launch.sm->l2_log.full()) break;
    const std::uint8_t* const right = find_words<right_words>(launch, warp, next[1]);
    if (right == nullptr) break;
    rights[products] = right;
    has_both = true;
    if (launch.sm->l2_log.full()) break;
    has_left = has_both = false;
    ++products;
    result = warp.lanes<float>(next[2].s[0]);
    next += 3;
  }
  if (products != 0) {
    constexpr std::size_t kParts = kWarpSize / kWide;
    Wide sums[kParts];
    for (std::size_t part = 0; part < kParts; ++part) sums[part] = lanes_at<Wide>(c + part * kWide);
    for (std::size_t p = 0; p < products; ++p) {
      for (std::size_t part = 0; part < kParts; ++part) {
        const std::size_t lane = part * kWide;
        sums[part] = fma_of(words_of<left_words>(lefts[p], lane), words_of<right_words>(rights[p], lane), sums[part]);
      }
    }
    for (std::size_t part = 0; part < kParts; ++part) put_canonical(sums[part], result + part * kWide);
  }
  if (next == end) return end;
  if (!has_left) return next->guarded(launch, warp, next);
  put_words<left_words>(warp, next[0], lefts[products]);
  if (!has_both) return after_memory(launch, warp, &next[0]);
  put_words<right_words>(warp, next[1], rights[products]);
  return after_memory(launch, warp, &next[1]);
}

template <bool left_same, bool right_same>
Handler of_products(Products products) {
  switch (products) {
    case Products::one:
      return op_product_of_shared<left_same, right_same>;
    case Products::by_eights:
      return op_product_run<Eight, left_same, right_same>;
    case Products::wide:
      return op_product_run<Wide, left_same, right_same>;
  }
  return nullptr;
}

template <Words left>
Handler of_global_products(Words right) {
  switch (right) {
    case Words::same:
      return op_products_of_global<left, Words::same>;
    case Words::row:
      return op_products_of_global<left, Words::row>;
    case Words::rows:
      return op_products_of_global<left, Words::rows>;
  }
  return nullptr;
}

}  // namespace

Handler product_handler(const LaneOffsets& left, const LaneOffsets& right, Products products) {
  const bool right_same = right.stride_of_eights == 0;
  if (left.stride_of_eights == 0)
    return right_same ? of_products<true, true>(products) : of_products<true, false>(products);
  return right_same ? of_products<false, true>(products) : of_products<false, false>(products);
}

Handler global_product_handler(Words left, Words right) {
  switch (left) {
    case Words::same:
      return of_global_products<Words::same>(right);
    case Words::row:
      return of_global_products<Words::row>(right);
    case Words::rows:
      return of_global_products<Words::rows>(right);
  }
  return nullptr;
}

Handler fma_run_handler() { return op_fma_run; }

Handler addition_run_handler() { return op_additions_of_lane_0; }

bool are_even_wide(const LaneOffsets& offsets) {
  bool even = true;
  for (std::size_t l = 0; l < kWarpSize; l += kEight)
    even &= offsets.of_lane[l] == offsets.of_lane[l / kWide * kWide] + l % kWide * offsets.stride_of_eights;
  return even;
}

}  // namespace roofwalk::vgpu
