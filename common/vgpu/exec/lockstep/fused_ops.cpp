// Handlers that do several operations of lockstep code at once: runs of fma, and fma of two words that are loaded.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "common/vgpu/exec/lockstep/lockstep.h"
#include "common/vgpu/exec/lockstep/usual_load.h"
#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/ops/math.h"
#include "common/vgpu/exec/ops/semantics.h"
#include "common/vgpu/requests/lanes.h"
#include "common/vgpu/requests/shared_memory.h"
#include "common/vgpu/sanitizer/shared_shadow.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::size_t kLongestRun = 64;

inline float canonical(float value) { return value != value ? canonical_nan() : value; }

// `count` operations, all of them fma.
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

// op->target additions of whole numbers that are one number for the warp, of op->count bytes each: what loops count.
const Op* op_additions_of_lane_0(Launch&, Warp& warp, const Op* op) {
  const Op* const end = op + op->target;
  for (; op != end; ++op)
    op->count == 8 ? add_of_lane_0<std::uint64_t>(warp, op) : add_of_lane_0<std::uint32_t>(warp, op);
  return end;
}

template <class Lanes>
constexpr std::size_t kCount = sizeof(Lanes) / sizeof(float);
constexpr std::size_t kEight = 8, kEights = kWarpSize / kEight;
typedef float Eight __attribute__((vector_size(kEight * sizeof(float))));
// As many lanes as the host takes at once.
#ifdef __AVX512F__
typedef float Wide __attribute__((vector_size(64)));
#else
using Wide = Eight;
#endif
constexpr std::size_t kWide = kCount<Wide>;

// The same value in all of them. Sums with zeros of whole numbers: no compiler takes that apart.
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

constexpr std::uint32_t kWordBytes = sizeof(float);

// Whether a load of shared memory goes the short way. A read that was noted is noted again by whoever goes the long way
// after all, which says no more.
inline bool reads_as_usual(Launch& launch, const Warp& warp, const Op& load, const Steps& steps, std::uint64_t at) {
  return is_usual_in_shared(launch, warp, &load, steps, at, kWordBytes) &&
         (!is_watched(launch, warp) || touches_in_order(warp, &load, at, steps, kWordBytes, SharedTouch::read));
}

// ld.shared, ld.shared, fma of the two. Each eight lanes load one word, or words side by side.
template <bool left_same, bool right_same>
const Op* op_product_of_shared(Launch& launch, Warp& warp, const Op* op) {
  const Op &left = op[0], &right = op[1], &fma = op[2];
  const Steps& left_steps = launch.program.lockstep.steps[left.steps];
  const Steps& right_steps = launch.program.lockstep.steps[right.steps];
  const std::uint64_t left_at = first_address(warp, &left), right_at = first_address(warp, &right);
  if (!reads_as_usual(launch, warp, left, left_steps, left_at) ||
      !reads_as_usual(launch, warp, right, right_steps, right_at))
    return left.guarded(launch, warp, op);
  add_steps_turns(launch, warp, left);
  add_steps_turns(launch, warp, right);
  const std::uint8_t* const shared = warp.block->shared.data();
  float* const a = warp.lanes<float>(left.s[0]);
  float* const b = warp.lanes<float>(right.s[0]);
  const float* const c = warp.lanes<float>(fma.s[3]);
  float* const result = warp.lanes<float>(fma.s[0]);
  for (std::size_t l = 0; l < kWarpSize; l += kEight) {
    const auto x = words_at<Eight, left_same>(shared + (left_at + left_steps.of_lane[l]));
    const auto y = words_at<Eight, right_same>(shared + (right_at + right_steps.of_lane[l]));
    const Eight sum = fma_of(x, y, lanes_at<Eight>(c + l));
    std::memcpy(a + l, &x, sizeof x);
    std::memcpy(b + l, &y, sizeof y);
    put_canonical(sum, result + l);
  }
  return op + 3;
}

// What a register holds that addresses count from.
inline std::uint64_t base_address(const Warp& warp, const Op& load) {
  if (load.s[4] == kNoSlot) return 0;
  return load.count == 8 ? *warp.lanes<std::uint64_t>(load.s[4]) : *warp.lanes<std::uint32_t>(load.s[4]);
}

// Whether all loads of one side of a run are aligned and inside of shared memory. No address wraps around then.
inline bool is_inside(const Launch& launch, const ProductRun::Side& side, std::uint64_t base) {
  const std::uint64_t extent = launch.program.shared_bytes;
  const auto from = static_cast<std::int64_t>(base);
  constexpr std::uint64_t kFar = 1ull << 40;  // a register may lie outside, its loads' offsets bring them in
  return base < kFar && ((base | side.bits) & (kWordBytes - 1)) == 0 && from + side.low >= 0 &&
         from + side.high + kWordBytes <= static_cast<std::int64_t>(extent);
}

// Finds what the loads of a run cost, once each of them has been looked at by itself.
bool know_turns(const Launch& launch, const ProductRun& run, ProductRunCount& count) {
  count.wavefronts = 0;
  for (const auto* side : {&run.left, &run.right}) {
    for (const ProductRun::Load& load : side->loads) {
      const SharedMemo& memo = launch.shared_memos[load.pc];
      if (!memo.steps_known) return false;
      count.wavefronts += memo.steps_wavefronts;
    }
  }
  return count.known = true;
}

// Notes all reads of one side, then those of the other: only where no word is read by both, whose order would tell.
[[gnu::noinline]] bool reads_in_order(const Launch& launch, const Warp& warp, const Op* op, std::uint64_t left_base,
                                      std::uint64_t right_base) {
  const LockstepCode& code = launch.program.lockstep;
  const ProductRun& run = code.product_runs[op->target];
  const auto left_at = static_cast<std::int64_t>(left_base), right_at = static_cast<std::int64_t>(right_base);
  const bool apart =
      left_at + run.left.high < right_at + run.right.low || right_at + run.right.high < left_at + run.left.low;
  if (!apart) return false;
  SharedShadow& shadow = *warp.block->shadow;
  return shadow.read_in_lockstep(warp.index, 2 * op->target, left_base, code.steps[op[0].steps], run.left) &&
         shadow.read_in_lockstep(warp.index, 2 * op->target + 1, right_base, code.steps[op[1].steps], run.right);
}

// Such products one after another, each adding to the sum before: sums stay in the host's registers, and what the loads
// find is used where it lies. A NaN stays one, whichever it is, so the last sum alone is made the canonical one.
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
#pragma GCC unroll 4  // a loop's own steps show beside two products
  for (const auto& [of_left, of_right] : run.offsets) {
    for (std::size_t part = 0; part < kParts; ++part) {
      sums[part] = fma_of(words_at<Lanes, left_same>(left + (lefts[part] + of_left)),
                          words_at<Lanes, right_same>(right + (rights[part] + of_right)), sums[part]);
    }
  }
  for (std::size_t part = 0; part < kParts; ++part) put_canonical(sums[part], result + part * kCount<Lanes>);
  return op + last + 1;
}

// What a load of global memory in lockstep finds: one word, words side by side, or words of 32 rows.
enum class Words { same, row, rows };

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

// ld.global, and st.shared of what it loads, which nobody else asks for: rows of a tile, each eight lanes side by side
// here and there.
template <bool contiguous>
const Op* op_copy_to_shared(Launch& launch, Warp& warp, const Op* op) {
  const Op &load = op[0], &store = op[1];
  const std::uint8_t* const from =
      contiguous ? find_contiguous<kWordBytes>(launch, warp, op) : find_eights(launch, warp, op);
  if (from == nullptr) return load.guarded(launch, warp, op);
  const Steps& of_load = launch.program.lockstep.steps[load.steps];
  const Steps& of_store = launch.program.lockstep.steps[store.steps];
  const std::uint64_t at = first_address(warp, &store);
  if (launch.sm->l2_log.full() || !is_usual_in_shared(launch, warp, &store, of_store, at, kWordBytes) ||
      (is_watched(launch, warp) && !touches_in_order(warp, &store, at, of_store, kWordBytes, SharedTouch::write))) {
    float* const lanes = warp.lanes<float>(load.s[0]);
    for (std::size_t l = 0; l < kWarpSize; l += kEight)
      std::memcpy(lanes + l, from + of_load.of_lane[l], kEight * kWordBytes);
    return after_memory(launch, warp, op);
  }
  add_steps_turns(launch, warp, store);
  std::uint8_t* const to = warp.block->shared.data() + at;
  for (std::size_t l = 0; l < kWarpSize; l += kEight)
    std::memcpy(to + of_store.of_lane[l], from + of_load.of_lane[l], kEight * kWordBytes);
  return op + 2;
}

constexpr std::size_t kMostProducts = 16;  // of one run of products of global memory

// ld.global, ld.global, fma of the two, and on to op->target operations as long as all is usual: such products that add
// to the sum before, and what lane 0 alone does in between. First all words are found, then multiplied: sums stay in
// the host's registers. Nobody else asks for the words, or for sums but the last; only where a turn ends in between are
// they brought to their registers.
template <Words left_words, Words right_words>
const Op* op_products_of_global(Launch& launch, Warp& warp, const Op* op) {
  const std::uint8_t *lefts[kMostProducts], *rights[kMostProducts];
  const float* const c = warp.lanes<float>(op[2].s[3]);
  float* result = nullptr;
  std::size_t products = 0;
  // Where it goes on, and how far it came with the product that it stopped at: its first or both words are found.
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

bool is_fma(const Op& op) {
  if (op.instruction == nullptr || op.guarded != nullptr) return false;
  const ptx::Instruction& in = *op.instruction;
  // As it usually is: nearest, subnormal numbers as they are, not clamped.
  return ptx::computes(in, ptx::kMultiplies | ptx::kAdds) && in.type == ptx::Type::f32 &&
         in.rounding == ptx::Rounding::rn && !in.ftz && !in.sat &&
         op.run == alu_handler(in);  // not the check or the filling of lanes that came of one
}

// As lockstep code does, into all lanes.
bool loads_words(const Op& op, ptx::Space space, const std::vector<Steps>& steps) {
  if (op.instruction == nullptr || op.guarded != nullptr || op.steps >= steps.size()) return false;
  const ptx::Instruction& in = *op.instruction;
  return ptx::info(in.opcode).form == ptx::Form::load && in.space == space && in.vector == 1 && !in.is_volatile &&
         !op.past_l1 && ptx::size_bytes(in.type) == kWordBytes && op.s[0] != kNoSlot &&
         op.run == lockstep_load_handler(in, kWordBytes, steps[op.steps], true);
}

bool loads_shared_words(const Op& op, const std::vector<Steps>& steps) {
  if (!loads_words(op, ptx::Space::shared, steps)) return false;
  const Steps& own = steps[op.steps];
  return own.even_eights && (own.stride_of_eights == 0 || own.stride_of_eights == kWordBytes);
}

// Each eight lanes side by side.
bool stores_shared_words(const Op& op, const std::vector<Steps>& steps) {
  if (op.instruction == nullptr || op.guarded != nullptr || op.steps >= steps.size()) return false;
  const ptx::Instruction& in = *op.instruction;
  const Steps& own = steps[op.steps];
  return ptx::info(in.opcode).form == ptx::Form::store && in.space == ptx::Space::shared && in.vector == 1 &&
         !in.is_volatile && ptx::size_bytes(in.type) == kWordBytes && op.s[0] != kNoSlot && own.even_eights &&
         own.stride_of_eights == kWordBytes && op.run == lockstep_store_handler(in, kWordBytes);
}

std::optional<Words> global_words(const Op& op, const std::vector<Steps>& steps) {
  if (!loads_words(op, ptx::Space::global, steps) || !steps[op.steps].even) return std::nullopt;
  const auto stride = static_cast<std::int64_t>(steps[op.steps].stride);
  if (stride == 0) return Words::same;
  if (stride == kWordBytes) return Words::row;
  if (stride > 0 && stride % kLineBytes == 0) return Words::rows;
  return std::nullopt;
}

// Whether the third operation multiplies what the first two load, and none needs another's result but for that.
bool is_product(const Op& left, const Op& right, const Op& fma) {
  const Slot a = left.s[0], b = right.s[0];
  const bool multiplies = (fma.s[1] == a && fma.s[2] == b) || (fma.s[1] == b && fma.s[2] == a);
  return multiplies && a != b && fma.s[3] != a && fma.s[3] != b && right.s[4] != a;
}

// How many products a handler does: one, or a run of them, eight or more lanes at once.
enum class Products { one, by_eights, wide };

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

Handler product_handler(const Steps& left, const Steps& right, Products products) {
  const bool right_same = right.stride_of_eights == 0;
  if (left.stride_of_eights == 0)
    return right_same ? of_products<true, true>(products) : of_products<true, false>(products);
  return right_same ? of_products<false, true>(products) : of_products<false, false>(products);
}

// Of steps that are even within each eight lanes: whether they are within each kWide.
bool are_even_wide(const Steps& steps) {
  bool even = true;
  for (std::size_t l = 0; l < kWarpSize; l += kEight)
    even &= steps.of_lane[l] == steps.of_lane[l / kWide * kWide] + l % kWide * steps.stride_of_eights;
  return even;
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

class Fusion {
 public:
  Fusion(std::span<Op> block, LockstepCode& code, const AnyLiveAfter& any_live_after)
      : block_(block), code_(code), any_live_after_(any_live_after) {}

  void run() {
    for (std::size_t i = 0; i < block_.size();) {
      if (const std::size_t products = products_at(i); products != 0) {
        for (std::size_t p = 0; p < products; ++p) fuse_product(i + 3 * p);
        fuse_products(i, products);
        i += 3 * products;
        continue;
      }
      if (const std::size_t operations = fuse_global_products(i); operations != 0) {
        i += operations;
        continue;
      }
      if (fuse_copy(i)) {
        i += 2;
        continue;
      }
      if (const std::size_t additions = fuse_additions(i); additions != 0) {
        i += additions;
        continue;
      }
      std::size_t run = 0;
      while (run < kLongestRun && i + run < block_.size() && is_fma(block_[i + run])) ++run;
      if (run > 1) {
        block_[i].guarded = block_[i].run;
        block_[i].run = op_fma_run;
        block_[i].count = static_cast<std::uint32_t>(run);
      }
      i += std::max<std::size_t>(run, 1);
    }
  }

 private:
  bool is_product_at(std::size_t i) const {
    return i + 2 < block_.size() && is_fma(block_[i + 2]) && loads_shared_words(block_[i], code_.steps) &&
           loads_shared_words(block_[i + 1], code_.steps) && is_product(block_[i], block_[i + 1], block_[i + 2]);
  }

  // How many operations from there on one handler could do, 0 where there is no product of global memory.
  std::size_t fuse_global_products(std::size_t first) {
    const auto kinds = global_product_at(first);
    if (!kinds) return 0;
    std::vector<std::size_t> products{first};
    for (std::size_t next = first + 3; products.size() < kMostProducts; ++next) {
      if (global_product_at(next) == kinds && block_[next + 2].s[3] == block_[products.back() + 2].s[0]) {
        products.push_back(next);
        next += 2;
      } else if (next >= block_.size() || !is_of_lane_0(block_[next])) {
        break;
      }
    }
    if (!are_by_themselves(products)) products.resize(1);
    if (!are_by_themselves(products)) return 0;
    const std::size_t end = products.back() + 3;
    for (const std::size_t i : products) {
      block_[i].guarded = block_[i].run;
      block_[i].run = global_product_handler(kinds->first, kinds->second);
      block_[i].target = static_cast<std::uint32_t>(end - i);
    }
    return end - first;
  }

  bool fuse_copy(std::size_t i) {
    if (i + 1 >= block_.size() || !loads_words(block_[i], ptx::Space::global, code_.steps)) return false;
    const Op &load = block_[i], &store = block_[i + 1];
    const Steps& of_load = code_.steps[load.steps];
    const bool contiguous = of_load.even && of_load.stride == kWordBytes;
    if (!contiguous && !has_whole_sectors(of_load, kWordBytes)) return false;
    if (!stores_shared_words(store, code_.steps) || store.s[0] != load.s[0] || store.s[4] == load.s[0]) return false;
    const int loaded[] = {result(i)};
    if (any_live_after_(store.pc, loaded)) return false;
    block_[i].guarded = load.run;
    block_[i].run = contiguous ? op_copy_to_shared<true> : op_copy_to_shared<false>;
    return true;
  }

  // How many operations from there on one handler could do, 0 where there are no two.
  std::size_t fuse_additions(std::size_t first) {
    std::size_t end = first;
    while (end < block_.size() && is_addition_of_lane_0(block_[end])) ++end;
    if (end - first < 2) return 0;
    for (std::size_t i = first; i < end; ++i)
      block_[i].count = static_cast<std::uint32_t>(ptx::size_bytes(block_[i].instruction->type));
    block_[first].guarded = block_[first].run;
    block_[first].run = op_additions_of_lane_0;
    block_[first].target = static_cast<std::uint32_t>(end - first);
    return end - first;
  }

  std::optional<std::pair<Words, Words>> global_product_at(std::size_t i) const {
    if (i + 2 >= block_.size() || !is_fma(block_[i + 2])) return std::nullopt;
    const auto left = global_words(block_[i], code_.steps), right = global_words(block_[i + 1], code_.steps);
    if (!left || !right || !is_product(block_[i], block_[i + 1], block_[i + 2])) return std::nullopt;
    return std::pair{*left, *right};
  }

  // Arithmetic of whole numbers that are one number for the warp.
  static bool is_of_lane_0(const Op& op) {
    return op.instruction != nullptr && op.guard == kNoSlot && op.guarded == nullptr &&
           ptx::info(op.instruction->opcode).form == ptx::Form::alu && !ptx::is_float(op.instruction->type) &&
           op.run == alu_handler_of_lane_0(*op.instruction);
  }

  static bool is_addition_of_lane_0(const Op& op) {
    return is_of_lane_0(op) && ptx::computes(*op.instruction, ptx::kAdds) && ptx::size_bytes(op.instruction->type) >= 4;
  }

  // Whether nobody but the products themselves asks for what they load, and for sums but the last.
  bool are_by_themselves(const std::vector<std::size_t>& products) const {
    const std::size_t last = products.back() + 2;
    std::vector<int> unwanted;
    std::set<Slot> own;
    for (const std::size_t i : products) {
      for (std::size_t part = 0; part < 3; ++part) {
        own.insert(block_[i + part].s[0]);
        const bool is_sum = part == 2;
        if (!is_sum && result(i + part) == result(last)) return false;
        if (result(i + part) != result(last)) unwanted.push_back(result(i + part));
      }
    }
    own.insert(block_[products.front() + 2].s[3]);
    for (std::size_t i = products.front(); i < last; ++i) {
      if (std::find(products.begin(), products.end(), i) != products.end()) {
        i += 2;
        continue;
      }
      for (const Slot slot : block_[i].s) {
        if (own.contains(slot)) return false;
      }
    }
    for (const std::size_t i : products) {
      if (own.contains(block_[i].s[4]) || own.contains(block_[i + 1].s[4])) return false;
    }
    return !any_live_after_(block_[last].pc, unwanted);
  }

  int result(std::size_t i) const { return block_[i].instruction->operands[0].index; }

  // How many from there on one run could do, 0 where there is none.
  std::size_t products_at(std::size_t first) const {
    if (!is_product_at(first)) return 0;
    std::size_t products = 1;
    while (is_product_at(first + 3 * products) && goes_on(first, first + 3 * products)) ++products;
    return products;
  }

  // Whether a product adds to the sum before it, and its words lie where those of the first one do, but for the offset.
  bool goes_on(std::size_t first, std::size_t next) const {
    const Slot left_at = block_[first].s[4], right_at = block_[first + 1].s[4];
    for (std::size_t i = next - 3; i < next; ++i) {
      if (block_[i].s[0] == left_at || block_[i].s[0] == right_at) return false;
    }
    const auto alike = [&](std::size_t i) {
      const Op &a = block_[first + i], &b = block_[next + i];
      return a.s[4] == b.s[4] && a.count == b.count && a.steps == b.steps && is_small(b.offset);
    };
    return block_[next + 2].s[3] == block_[next - 1].s[0] && alike(0) && alike(1);
  }

  static bool is_small(std::int64_t offset) { return offset == static_cast<std::int32_t>(offset); }

  void fuse_product(std::size_t i) {
    block_[i].guarded = block_[i].run;
    block_[i].run = product_handler(code_.steps[block_[i].steps], code_.steps[block_[i + 1].steps], Products::one);
  }

  static void add(const Op& load, const Steps& steps, ProductRun::Side& side) {
    if (side.loads.empty()) {
      side.low = side.high = load.offset;
      for (std::size_t e = 0; e < kEights; ++e)
        side.of_eights[e] = static_cast<std::int64_t>(steps.of_lane[e * kEight]);
    }
    side.loads.push_back({static_cast<std::int32_t>(load.offset), load.pc});
    side.low = std::min(side.low, load.offset + steps.low);
    side.high = std::max(side.high, load.offset + steps.high);
    side.bits |= static_cast<std::uint64_t>(load.offset) | steps.bits;
  }

  void fuse_products(std::size_t first, std::size_t products) {
    const std::size_t last = first + 3 * products - 1;
    std::vector<int> unwanted;
    for (std::size_t i = first; i < last; ++i) {
      if (result(i) != result(last)) unwanted.push_back(result(i));
    }
    if (products == 1 || !is_small(block_[first].offset) || !is_small(block_[first + 1].offset) ||
        any_live_after_(block_[last].pc, unwanted))
      return;
    ProductRun run;
    const Steps &left = code_.steps[block_[first].steps], &right = code_.steps[block_[first + 1].steps];
    for (std::size_t i = first; i < last; i += 3) {
      add(block_[i], left, run.left);
      add(block_[i + 1], right, run.right);
      run.offsets.emplace_back(run.left.loads.back().offset, run.right.loads.back().offset);
    }
    const bool wide = are_even_wide(left) && are_even_wide(right);
    block_[first].run = product_handler(left, right, wide ? Products::wide : Products::by_eights);
    block_[first].target = static_cast<std::uint32_t>(code_.product_runs.size());
    code_.product_runs.push_back(std::move(run));
  }

  std::span<Op> block_;
  LockstepCode& code_;
  const AnyLiveAfter& any_live_after_;
};

}  // namespace

void fuse(std::span<Op> block, LockstepCode& code, const AnyLiveAfter& any_live_after) {
  Fusion(block, code, any_live_after).run();
}

}  // namespace roofwalk::vgpu
