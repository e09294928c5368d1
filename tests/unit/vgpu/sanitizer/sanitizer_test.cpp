// The sanitizer finds planted faults with their line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/thirds.h"
#include "tests/unit/vgpu/sanitizer/judged_bodies.h"

namespace roofwalk::test {
namespace {

// Bodies as block_text() takes them.
const JudgedBody kPlanted[] = {
    {"after_a_read_of_lanes_that_are_no_neighbours", R"(
  s[t] = t;
  __syncthreads();
  c[t] = s[t == 3 ? 0 : t];
  if (t == 0) s[0] = 1;  // @
)",
     FaultKind::race, "race: writes element 0 of s, which thread (3, 0, 0) reads"},
    {"after_reads_by_two_instructions", R"(
  s[t] = t;
  __syncthreads();
  float x = 0;
  const unsigned first = __cvta_generic_to_shared(s);
  if (t == 3) asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(first));
  if (t == 5) asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(first));
  c[t] = x;
  if (t == 5) s[0] = 1;  // @
)",
     FaultKind::race, "race: writes element 0 of s, which thread (3, 0, 0) reads"},
    {"after_a_read_in_rows", R"(
  s[t] = t;
  __syncthreads();
  c[t] = s[t % 16];
  if (t == 1) s[1] = 1;  // @
)",
     FaultKind::race, "race: writes element 1 of s, which thread (17, 0, 0) reads"},
    {"behind_exchanges_that_nobody_tests", R"(
  __shared__ int word;
  if (t == 0) word = 0;
  __syncthreads();
  s[t] = t;
  __syncwarp();
  __threadfence_block();
  if (t % 32 == 0) atomicExch(&word, 1);
  __nanosleep(0);
  if (t % 32 == 0) atomicExch(&word, 1);
  __threadfence_block();
  __syncwarp();
  c[t] = s[t ^ 32];  // @
)",
     FaultKind::race, "race: reads element 32 of s, which thread (32, 0, 0) writes"},
    {"never_written", R"(
  if (t != 7) s[t] = t;
  __syncthreads();
  c[t] = s[t];  // @
)",
     FaultKind::uninitialized,
     "uninitialized: reads element 7 of s, shared memory that no thread of the block has written"},
    {"exchanged_for_what_was_there", R"(
  c[t] = atomicExch(&s[t], 1.0f);  // @
)",
     FaultKind::uninitialized,
     "uninitialized: updates element 0 of s, shared memory that no thread of the block has written"},
    {"taken_for_an_mbarrier", R"(
  __shared__ unsigned long long object;
  if (t == 0) object = 0;
  __syncthreads();
  int over;
  const unsigned at = __cvta_generic_to_shared(&object);
  asm("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 1; selp.s32 %0, 1, 0, p;}" : "=r"(over) : "r"(at));  // @
  c[t] = over;
)",
     FaultKind::uninitialized, "as an mbarrier, which mbarrier.init has not made one"},
    {"of_the_block_before", R"(
  if (blockIdx.x == 0) s[t] = t;
  __syncthreads();
  c[t] = s[t];  // @
)",
     FaultKind::uninitialized, "uninitialized: reads element 0 of s"},
    {"across_warps", R"(
  s[t] = t;
  c[t] = s[t ^ 32];  // @
)",
     FaultKind::uninitialized, "uninitialized: reads element 32 of s"},
    {"write_then_read", R"(
  s[t] = t;
  __syncthreads();
  if (t < 32) s[t] = c[t];
  if (t >= 32) c[t] = s[t - 32];  // @
)",
     FaultKind::race, "race: reads element 0 of s, which thread (0, 0, 0) writes at line 7, "},
    {"read_then_write", R"(
  s[t] = t;
  __syncthreads();
  const float x = s[(t + 40) % 64];
  s[t] = x;  // @
)",
     FaultKind::race, "race: writes element 0 of s, which thread (24, 0, 0) reads at line 7, "},
    {"two_writers", R"(
  s[t % 32] = t;  // @
  __syncthreads();
  c[t] = s[t % 32];
)",
     FaultKind::race,
     "race: writes element 0 of s, and so does thread (0, 0, 0) at line 5, with another value; which one stays is "
     "undefined: let one thread write"},
    {"within_a_warp", R"(
  s[t] = t;
  const float x = s[t ^ 1];  // @
  c[t] = x;
)",
     FaultKind::race, "put a __syncthreads(), or a __syncwarp(), between them"},
    {"halving_without_syncwarp", R"(
  s[t] = t;
  __syncthreads();
  if (t < 32) {
    for (int w = 16; w > 0; w /= 2) {
      if (t < w) s[t] += s[t + w];  // @
    }
  }
  __syncthreads();
  c[t] = s[0];
)",
     FaultKind::race, "race: "},
    {"barrier_of_one_warp", R"(
  s[t] = t;
  __syncthreads();
  s[t] = 2 * t;
  asm volatile("bar.sync %0, 32;" :: "n"(1) : "memory");
  c[t] = s[t ^ 32];  // @
)",
     FaultKind::race, "race: "},
    {"atomic_and_plain", R"(
  if (t == 0) s[0] = 0;
  __syncthreads();
  atomicAdd(&s[0], 1.0f);
  c[t] = s[0];  // @
)",
     FaultKind::race, "updates at line 7"},
    {"counted_in_without_a_fence", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  s[t] = t;
  __syncwarp();
  if (t % 32 == 0) atomicAdd(count, 1);
  if (t == 0) {
    while (atomicAdd(count, 0) != 2) {}
    c[0] = s[63];  // @
  }
)",
     FaultKind::race, "reads element 63 of s, which thread (63, 0, 0) writes at line 8"},
    {"written_behind_the_fence", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  __threadfence_block();
  s[t] = t;
  __syncwarp();
  if (t % 32 == 0) atomicAdd(count, 1);
  if (t == 0) {
    while (atomicAdd(count, 0) != 2) {}
    c[0] = s[63];  // @
  }
)",
     FaultKind::race, "reads element 63 of s, which thread (63, 0, 0) writes at line 9"},
    {"fenced_by_another_lane", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  if (t == 33) s[33] = 1;
  if (t == 32) {
    __threadfence_block();
    atomicAdd(count, 1);
  }
  if (t == 0) {
    while (*reinterpret_cast<volatile int*>(count) != 1) {}
    c[0] = s[33];  // @
  }
)",
     FaultKind::race, "reads element 33 of s, which thread (33, 0, 0) writes at line 8"},
    {"told_by_another_lane_than_fenced", R"(
  int* const count = reinterpret_cast<int*>(&s[100]);
  if (t == 0) *count = 0;
  __syncthreads();
  if (t == 33) {
    s[33] = 1;
    __threadfence_block();
  }
  if (t == 32) atomicAdd(count, 1);
  if (t == 0) {
    while (*reinterpret_cast<volatile int*>(count) != 1) {}
    c[0] = s[33];  // @
  }
)",
     FaultKind::race, "reads element 33 of s, which thread (33, 0, 0) writes at line 9"},
    {"two_stores_that_none_reads", R"(
  volatile float* const flag = &s[100];
  if (t == 0) s[100] = 0;
  __syncthreads();
  s[t] = t;
  *flag = 1;
  __nanosleep(1);
  *flag = 1;
  c[t] = s[t ^ 32];  // @
)",
     FaultKind::race, "reads element"},
    {"copy_not_waited_for", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  __pipeline_commit();
  __syncthreads();
  c[t] = s[t];  // @
)",
     FaultKind::missing_wait,
     "missing wait: reads element 0 of s, where a copy that thread (0, 0, 0) asked for at line 5 may still be under "
     "way: "
     "wait with __pipeline_wait_prior(), then __syncthreads()"},
    {"copy_waited_for_too_little", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&s[t + 64], &c[t], 4);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  c[t] = s[t] + s[t + 64];  // @
)",
     FaultKind::missing_wait, "missing wait: reads element 64 of s"},
    {"copies_of_two_elements_to_one_place", R"(
  __pipeline_memcpy_async(&s[t / 2], &c[t], 4);  // @
)",
     FaultKind::missing_wait, "missing wait: copies into element 0 of s"},
    {"copies_of_two_lengths_to_one_place", R"(
  __pipeline_memcpy_async(&s[t / 2], &c[t / 2], 4, t % 2);  // @
)",
     FaultKind::missing_wait, "missing wait: copies into element 0 of s"},
    {"copy_over_a_copy", R"(
  for (int i = 0; i < 2; ++i)
    __pipeline_memcpy_async(&s[t / 2], &c[t / 2], 4);  // @
)",
     FaultKind::missing_wait, "missing wait: copies into element 0 of s"},
    {"copy_without_barrier", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  c[t] = s[t ^ 1];  // @
)",
     FaultKind::race, "which thread (1, 0, 0) copies into at line 5"},
    {"copy_over_what_is_read", R"(
  s[t] = t;
  __syncthreads();
  if (t < 32) c[t] = s[t];
  if (t >= 32) __pipeline_memcpy_async(&s[t - 32], &c[t], 4);  // @
)",
     FaultKind::race, "race: copies into element 0 of s, which thread (0, 0, 0) reads at line 7"},
    {"bytes_of_a_word", R"(
  unsigned char* const b = reinterpret_cast<unsigned char*>(s);
  b[t] = t;
  __syncthreads();
  b[t] = t + 1;
  c[t] = b[t ^ 1];  // @
)",
     FaultKind::race, "race: reads byte 1 of s"},
};

const bool kPlantedJoined = join(map_to_text(kPlanted, [](const JudgedBody& each) { return block_text(each.body); }));

class PlantedFault : public testing::TestWithParam<JudgedBody> {};

TEST_P(PlantedFault, IsFoundWithItsLine) { expect_fault(block_text(GetParam().body), GetParam()); }

// The same kernel completes if the sanitizer is off, as in runs that measure speed.
TEST_P(PlantedFault, IsNotLookedForWhereNobodyAsks) {
  EXPECT_FALSE(run_judged(block_text(GetParam().body), {}).fault.has_value());
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, PlantedFault, testing::ValuesIn(every_third(kPlanted)),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(LongSanitizer, PlantedFault, testing::ValuesIn(all_but_every_third(kPlanted)),
                         [](const auto& each) { return each.param.name; });

// Finds faults in an inlined function template, in a plan's second kernel, and in the last, partial warp.
TEST(Sanitizer, FindsWhatLiesDeep) {
  const std::string text = R"(#include <roofwalk.cuh>
template <int step>
__device__ float beside(float* s, int t) {
  return s[t ^ step];  // @
}
__global__ void first(float* c) { c[threadIdx.x] = 1; }
__global__ void second(float* c) {
  __shared__ float s[70];
  const int t = threadIdx.x;
  s[t] = c[t];
  if (t >= 64) c[t] = beside<1>(s, t);
}
SOLVE(float* c) {
  first<<<1, 70>>>(c);
  second<<<1, 70>>>(c);
}
)";
  const RunRecord record = run_judged(text, kSanitized);
  ASSERT_TRUE(record.fault.has_value());
  EXPECT_EQ(record.fault->kind, FaultKind::race);
  EXPECT_EQ(record.fault->kernel, "second");
  EXPECT_EQ(record.fault->line, line_of_mark(text));
  EXPECT_EQ(record.fault->thread, (Dim3{64, 0, 0}));
  EXPECT_THAT(record.fault->message, testing::HasSubstr("which thread (65, 0, 0) writes at line 10"));
}

}  // namespace
}  // namespace roofwalk::test
