// Handlers that do several operations of lockstep code at once: runs of fma, and fma of two words of shared memory.
#include <algorithm>
#include <cstring>

#include "common/vgpu/handlers.h"
#include "common/vgpu/lanes.h"
#include "common/vgpu/lockstep.h"
#include "common/vgpu/math.h"
#include "common/vgpu/near_memory.h"
#include "common/vgpu/semantics.h"
#include "common/vgpu/shared_shadow.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::size_t kLongestRun = 64;

inline float fma_of(float a, float b, float c) {
  const float value = sem::Fma::apply(a, b, c);
  return value != value ? canonical_nan() : value;
}

// `count` operations, all of them fma.
const Op* op_fma_run(Launch&, Warp& warp, const Op* op) {
  const Op* const end = op + op->count;
  for (; op != end; ++op) {
    const float* const a = warp.lanes<float>(op->s[1]);
    const float* const b = warp.lanes<float>(op->s[2]);
    const float* const c = warp.lanes<float>(op->s[3]);
    for_lanes(warp.lanes<float>(op->s[0]), kAllLanes, [&](int l) { return fma_of(a[l], b[l], c[l]); });
  }
  return end;
}

constexpr int kEight = 8;
typedef float Eight __attribute__((vector_size(kEight * sizeof(float))));

template <bool same>
inline Eight eight_words(const std::uint8_t* from) {
  Eight out;
  if constexpr (same) {
    float one;
    std::memcpy(&one, from, sizeof one);
    for (int i = 0; i < kEight; ++i) out[i] = one;
  } else {
    std::memcpy(&out, from, sizeof out);
  }
  return out;
}

// ld.shared, ld.shared, fma of the two. Each eight lanes load one word, or words side by side.
template <bool left_same, bool right_same>
const Op* op_product_of_shared(Launch& launch, Warp& warp, const Op* op) {
  const Op &left = op[0], &right = op[1], &fma = op[2];
  const Steps& left_steps = launch.program.lockstep.steps[left.steps];
  const Steps& right_steps = launch.program.lockstep.steps[right.steps];
  const std::uint64_t left_at = first_address(warp, &left), right_at = first_address(warp, &right);
  constexpr std::uint32_t kBytes = sizeof(float);
  if (!is_usual_in_shared(launch, warp, &left, left_steps, left_at, kBytes) ||
      !is_usual_in_shared(launch, warp, &right, right_steps, right_at, kBytes) ||
      (launch.sanitized && (!touches_in_order(warp, &left, left_at, left_steps, kBytes, SharedTouch::read) ||
                            !touches_in_order(warp, &right, right_at, right_steps, kBytes, SharedTouch::read))))
    return left.guarded(launch, warp, op);  // a read that was noted is noted again, which says no more
  add_steps_turns(launch, warp, left);
  add_steps_turns(launch, warp, right);
  const std::uint8_t* const shared = warp.block->shared.data();
  float* const a = warp.lanes<float>(left.s[0]);
  float* const b = warp.lanes<float>(right.s[0]);
  const float* const c = warp.lanes<float>(fma.s[3]);
  float* const result = warp.lanes<float>(fma.s[0]);
  for (std::size_t l = 0; l < kWarpSize; l += kEight) {
    const Eight x = eight_words<left_same>(shared + (left_at + left_steps.of_lane[l]));
    const Eight y = eight_words<right_same>(shared + (right_at + right_steps.of_lane[l]));
    Eight sum;
    std::memcpy(&sum, c + l, sizeof sum);
    for (int i = 0; i < kEight; ++i) sum[i] = fma_of(x[i], y[i], sum[i]);
    std::memcpy(a + l, &x, sizeof x);
    std::memcpy(b + l, &y, sizeof y);
    std::memcpy(result + l, &sum, sizeof sum);
  }
  return op + 3;
}

bool is_fma(const Op& op) {
  if (op.instruction == nullptr || op.guarded != nullptr) return false;
  const ptx::Instruction& in = *op.instruction;
  // As it usually is: nearest, subnormal numbers as they are, not clamped.
  return in.opcode == ptx::Opcode::Fma && in.type == ptx::Type::f32 && in.rounding == ptx::Rounding::rn && !in.ftz &&
         !in.sat && op.run == alu_handler(in);  // not the check or the filling of lanes that came of one
}

bool loads_shared_words(const Op& op, const std::vector<Steps>& steps) {
  if (op.instruction == nullptr || op.guarded != nullptr || op.steps >= steps.size()) return false;
  const ptx::Instruction& in = *op.instruction;
  if (ptx::info(in.opcode).form != ptx::Form::load || in.space != ptx::Space::shared || in.vector != 1) return false;
  constexpr int kBytes = sizeof(float);
  const Steps& own = steps[op.steps];
  return ptx::size_bytes(in.type) == kBytes && op.s[0] != kNoSlot && own.even_eights &&
         (own.stride_of_eights == 0 || own.stride_of_eights == kBytes) &&
         op.run == lockstep_load_handler(in, kBytes, own, true);
}

// Whether the third operation multiplies what the first two load, and none needs another's result but for that.
bool is_product(const Op& left, const Op& right, const Op& fma) {
  const Slot a = left.s[0], b = right.s[0];
  const bool multiplies = (fma.s[1] == a && fma.s[2] == b) || (fma.s[1] == b && fma.s[2] == a);
  return multiplies && a != b && fma.s[3] != a && fma.s[3] != b && right.s[4] != a;
}

Handler product_handler(const Steps& left, const Steps& right) {
  const bool left_same = left.stride_of_eights == 0, right_same = right.stride_of_eights == 0;
  if (left_same) return right_same ? op_product_of_shared<true, true> : op_product_of_shared<true, false>;
  return right_same ? op_product_of_shared<false, true> : op_product_of_shared<false, false>;
}

}  // namespace

void fuse(std::span<Op> block, const std::vector<Steps>& steps) {
  for (std::size_t i = 0; i < block.size();) {
    Op& first = block[i];
    if (i + 2 < block.size() && is_fma(block[i + 2]) && loads_shared_words(first, steps) &&
        loads_shared_words(block[i + 1], steps) && is_product(first, block[i + 1], block[i + 2])) {
      first.guarded = first.run;
      first.run = product_handler(steps[first.steps], steps[block[i + 1].steps]);
      i += 3;
      continue;
    }
    std::size_t run = 0;
    while (run < kLongestRun && i + run < block.size() && is_fma(block[i + run])) ++run;
    if (run > 1) {
      first.guarded = first.run;
      first.run = op_fma_run;
      first.count = static_cast<std::uint32_t>(run);
    }
    i += std::max<std::size_t>(run, 1);
  }
}

}  // namespace roofwalk::vgpu
