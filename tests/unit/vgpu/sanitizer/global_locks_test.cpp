// Locks, flags and counts in global memory that order accesses to shared memory.
#include <gmock/gmock.h>

#include "tests/unit/vgpu/sanitizer/judged_bodies.h"

namespace roofwalk::test {
namespace {

// Two blocks of two warps. What is in global memory begins as 0; `flag` and `count` are of the block's own.
std::string global_lock_text(const char* body) {
  return judged_text(
      "#include <roofwalk.cuh>\n__device__ int lock, other_lock, flags[2], counts[2];\n"
      "__global__ void k(float* c) { __shared__ float s[256];\n  const int t = threadIdx.x;\n"
      "  int *const flag = flags + blockIdx.x, *const count = counts + blockIdx.x;\n"
      "  if (t == 0) s[0] = 0;\n  __syncthreads();\n",
      body);
}

const JudgedBody kOrderedByGlobal[] = {
    {"Lock", R"(
  if (t % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence();
    s[0] += 1;
    __threadfence();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  c[t] = s[0];
)"},
    {"LockByExchange", R"(
  if (t % 32 == 0) {
    while (atomicExch(&lock, 1) != 0) {}
    __threadfence();
    s[0] += 1;
    __threadfence();
    *(volatile int*)&lock = 0;
  }
)"},
    {"LockOfManyLanes", R"(
  for (bool done = false; !done;) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      __threadfence();
      s[0] += 1;
      __threadfence();
      atomicExch(&lock, 0);
      done = true;
    }
  }
)"},
    {"Flag", R"(
  if (t == 32) {
    s[1] = c[t];
    __threadfence();
    *(volatile int*)flag = 1;
  }
  if (t == 0) {
    while (*(volatile int*)flag == 0) {}
    c[0] = s[1];
  }
)"},
    {"ReleaseAndAcquire", R"(
  if (t == 32) {
    s[1] = c[t];
    asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
  }
  if (t == 0) {
    int seen = 0;
    while (seen == 0) asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    c[0] = s[1];
  }
)"},
    {"TheLastOneSums", R"(
  s[t] = t;
  __threadfence();
  if (atomicAdd(count, 1) == 63) {
    for (int i = 0; i < 64; ++i) c[i] = s[i];
  }
)"},
    {"ALeaderCounts", R"(
  s[t] = t;
  __syncwarp();
  if (t % 32 == 0) {
    __threadfence();
    if (atomicAdd(count, 1) == 1) c[t] = s[40] + s[4];
  }
)"},
};

const JudgedBody kNotOrderedByGlobal[] = {
    {"LockWithoutAFence", R"(
  if (t % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    s[0] += 1;  // @
    atomicExch(&lock, 0);
  }
)"},
    {"TwoLocks", R"(
  if (t % 32 == 0) {
    int* const own = t == 0 ? &lock : &other_lock;
    while (atomicCAS(own, 0, 1) != 0) {}
    __threadfence();
    s[0] += 1;  // @
    __threadfence();
    atomicExch(own, 0);
  }
)"},
    {"BehindTheLock", R"(
  if (t % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence();
    const float sum = s[0] + 1;
    __threadfence();
    atomicExch(&lock, 0);
    s[0] = sum;
  }
)"},
    {"LockThatIsNotLookedAt", R"(
  if (t % 32 == 0) {
    atomicCAS(&lock, 0, 1);
    __threadfence();
    s[0] += 1;  // @
    __threadfence();
    atomicExch(&lock, 0);
  }
)"},
    {"FlagAheadOfTheData", R"(
  if (t == 32) {
    __threadfence();
    *(volatile int*)flag = 1;
    s[1] = c[t];
  }
  if (t == 0) {
    while (*(volatile int*)flag == 0) {}
    __threadfence();
    c[0] = s[1];
  }
)"},
    {"FlagWithoutAFence", R"(
  if (t == 32) {
    s[1] = c[t];
    *(volatile int*)flag = 1;
  }
  if (t == 0) {
    while (*(volatile int*)flag == 0) {}
    c[0] = s[1];  // @
  }
)"},
    {"OneFromTheEnd", R"(
  s[t] = t;
  __threadfence();
  if (atomicAdd(count, 1) == 62) {
    for (int i = 0; i < 64; ++i) c[i] = s[i];
  }
)"},
    {"LeadersWithoutTheirWarps", R"(
  s[t] = t;
  if (t % 32 == 0) {
    __threadfence();
    if (atomicAdd(count, 1) == 1) c[t] = s[40] + s[4];  // @
  }
)"},
};

const auto global_lock_text_of = [](const JudgedBody& each) { return global_lock_text(each.body); };
const bool kGlobalLocksJoined = join(map_to_text(kOrderedByGlobal, global_lock_text_of)) &&
                                join(map_to_text(kNotOrderedByGlobal, global_lock_text_of));

class OrderByGlobalWords : public testing::TestWithParam<JudgedBody> {};
TEST_P(OrderByGlobalWords, IsNoRace) {
  const RunRecord record = run_judged(global_lock_text(GetParam().body), kSanitized);
  EXPECT_FALSE(record.fault) << record.fault->line << ": " << record.fault->message;
  EXPECT_TRUE(record.warnings.empty()) << record.warnings[0].message;
}
INSTANTIATE_TEST_SUITE_P(Sanitizer, OrderByGlobalWords, testing::ValuesIn(kOrderedByGlobal),
                         [](const auto& each) { return each.param.name; });

class NoOrderByGlobalWords : public testing::TestWithParam<JudgedBody> {};
TEST_P(NoOrderByGlobalWords, IsARace) { expect_fault(global_lock_text(GetParam().body), GetParam()); }
INSTANTIATE_TEST_SUITE_P(Sanitizer, NoOrderByGlobalWords, testing::ValuesIn(kNotOrderedByGlobal),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
