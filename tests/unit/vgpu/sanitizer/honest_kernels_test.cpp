// The sanitizer reports nothing in correct kernels.
#include <gtest/gtest.h>

#include "tests/unit/vgpu/sanitizer/judged_bodies.h"

namespace roofwalk::test {
namespace {

// Bodies as block_text() takes them.
const JudgedBody kHonest[] = {
    {"structures_with_padding", R"(
  struct Pair { char flag; float value; };
  struct alignas(16) Wide { float value; int index; char flag; };
  __shared__ Pair pairs[64];
  __shared__ Wide wides[64];
  pairs[t].flag = 1;
  pairs[t].value = c[t];
  wides[t].value = c[t];
  wides[t].index = t;
  wides[t].flag = 3;
  __syncthreads();
  const Pair pair = pairs[t ^ 1];
  const Wide wide = wides[t ^ 1];
  __syncthreads();
  pairs[t] = pair;
  wides[t] = wide;
  __syncthreads();
  c[t] = pairs[t].value + wides[t ^ 3].value;
)"},
    {"one_value_by_all", R"(
  s[0] = 1;
  __syncthreads();
  c[t] = s[0];
)"},
    {"halving_with_syncwarp", R"(
  s[t] = t;
  __syncthreads();
  for (int w = 32; w > 0; w /= 2) {
    float x = 0;
    if (t < w) x = s[t] + s[t + w];
    __syncthreads();
    if (t < w) s[t] = x;
    __syncthreads();
  }
  c[t] = s[0];
)"},
    {"named_barrier", R"(
  s[t] = t;
  asm volatile("bar.sync 1, 64;" ::: "memory");
  c[t] = s[t ^ 32];
)"},
    {"those_who_left", R"(
  s[t] = t;
  if (t >= 32) return;
  __syncthreads();
  c[t] = s[t + 32];
)"},
    {"lock", R"(
  int* const lock = reinterpret_cast<int*>(&s[1]);
  if (t == 0) s[0] = 0, *lock = 0;
  __syncthreads();
  if (t % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence_block();
    s[0] += 1;
    __threadfence_block();
    atomicExch(lock, 0);
  }
  __syncthreads();
  c[t] = s[0];
)"},
    {"flag", R"(
  volatile float* const flag = &s[1];
  if (t == 0) s[1] = 0;
  __syncthreads();
  if (t == 32) {
    s[0] = 5;
    __threadfence_block();
    *flag = 1;
  }
  if (t == 0) {
    while (*flag == 0) {}
    __threadfence_block();
    c[0] = s[0];
  }
)"},
    {"counted_in_behind_a_fence", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  s[t] = t;
  __threadfence_block();
  __syncwarp();
  if (t % 32 == 0) atomicAdd(count, 1);
  if (t == 0) {
    while (*reinterpret_cast<volatile int*>(count) != 2) {}
    __threadfence_block();
    c[0] = s[63];
  }
)"},
    {"fence_of_one_for_its_warp", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  s[t] = t;
  __syncwarp();
  if (t % 32 == 0) {
    __threadfence_block();
    atomicAdd(count, 1);
  }
  if (t == 0) {
    while (atomicAdd(count, 0) != 2) {}
    __threadfence_block();
    c[0] = s[63];
  }
)"},
    {"fence_of_one_for_its_own_word", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  if (t % 32 == 0) {
    s[t] = t;
    __threadfence_block();
    if (atomicAdd(count, 1) == 1) {
      __threadfence_block();
      c[0] = s[0] + s[32];
    }
  }
)"},
    {"fences_of_some_lanes_after_each_other", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  if (t < 32 && t % 4 == 1) {
    s[t] = t;
    __threadfence_block();
    atomicAdd(count, 1);
  } else if (t < 32 && t % 4 == 2) {
    s[t] = t;
    __threadfence_block();
    atomicOr(count, 1 << (8 + t / 4));
  }
  if (t == 32) {
    while (atomicAdd(count, 0) != 255 * 256 + 8) {}
    __threadfence_block();
    for (int i = 0; i < 32; i += 4) c[i] = s[i + 1] + s[i + 2];
  }
)"},
    {"the_last_one_sums", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  s[t] = t;
  __threadfence_block();
  __syncwarp();
  if (t % 32 == 0 && atomicAdd(count, 1) == 1) {
    __threadfence_block();
    for (int i = 0; i < 64; ++i) c[i] = s[i];
  }
)"},
    {"histogram", R"(
  s[t] = 0;
  __syncthreads();
  atomicAdd(&s[t % 5], 1.0f);
  __syncthreads();
  c[t] = s[t];
)"},
    {"two_groups_of_copies", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&s[t + 64], &c[t], 4);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  float x = s[t ^ 33];
  __pipeline_wait_prior(0);
  __syncthreads();
  c[t] = x + s[64 + (t ^ 33)];
)"},
    {"spare_lanes_repeat_a_copy", R"(
  __pipeline_memcpy_async(&s[min(t, 40)], &c[min(t, 40)], 4);
  __pipeline_memcpy_async(&s[64 + t / 2], &c[t / 2], 4, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  c[t] = s[t % 32] + s[64 + t / 2];
)"},
    {"own_copy_needs_no_barrier", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  c[t] = s[t];
)"},
    {"neighbouring_bytes", R"(
  unsigned char* const b = reinterpret_cast<unsigned char*>(s);
  b[t] = t;
  c[t] = b[t];
)"},
    {"exchanges_as_stores", R"(
  atomicExch(&s[t], 1.0f);
  __syncthreads();
  c[t] = s[t ^ 32];
)"},
    {"every_block_anew", R"(
  s[t] = blockIdx.x;
  __syncthreads();
  c[t] = s[t ^ 32];
)"},
};

const bool kHonestJoined = join(map_to_text(kHonest, [](const JudgedBody& each) { return block_text(each.body); }));

class HonestKernel : public testing::TestWithParam<JudgedBody> {};

TEST_P(HonestKernel, IsLeftAlone) { expect_no_fault(block_text(GetParam().body)); }

INSTANTIATE_TEST_SUITE_P(Sanitizer, HonestKernel, testing::ValuesIn(kHonest),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
