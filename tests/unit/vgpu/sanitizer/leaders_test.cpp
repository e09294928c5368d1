// What one lane waits for, or releases, is not waited for or released by the other lanes of its warp until they meet.
#include "tests/support/thirds.h"
#include "tests/unit/vgpu/sanitizer/judged_bodies.h"

namespace roofwalk::test {
namespace {

// Bodies after `kLeadersHead`, run with 64 threads and two blocks.
constexpr const char* kLeadersHead = R"(#include <cuda_pipeline.h>
#include <roofwalk.cuh>
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void begin(void* gate, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(gate)), "r"(arrivals) : "memory");
}
__device__ void arrive(void* gate) {
  asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0];}" ::"r"(at(gate)) : "memory");
}
__device__ void arrive_behind_copies(void* gate) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at(gate)) : "memory");
}
__device__ void wait(void* gate, unsigned parity = 0) {
  unsigned over = 0;
  while (over == 0)
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(over) : "r"(at(gate)), "r"(parity) : "memory");
}
__device__ __noinline__ bool is_over(void* gate) {
  unsigned over;
  asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
               : "=r"(over) : "r"(at(gate)) : "memory");
  return over != 0;
}
__device__ void release(int* flag, int value = 1) {
  asm volatile("st.release.cta.shared.s32 [%0], %1;" ::"r"(at(flag)), "r"(value) : "memory");
}
__device__ void acquire(int* flag) {
  int seen = 0;
  while (seen == 0) asm volatile("ld.acquire.cta.shared.s32 %0, [%1];" : "=r"(seen) : "r"(at(flag)) : "memory");
}
__device__ int look(int* flag) {
  int seen;
  asm volatile("ld.acquire.cta.shared.s32 %0, [%1];" : "=r"(seen) : "r"(at(flag)) : "memory");
  return seen;
}
__global__ void k(float* c) {
  __shared__ unsigned long long gates[2];
  __shared__ float s[128];
  __shared__ int flags[64];
  volatile int* const seen = flags;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  flags[t] = 0;
  if (t == 0) begin(&gates[0], 64), begin(&gates[1], 1);
  asm volatile("" ::"r"(at(s)), "l"(seen), "r"(lane), "r"(warp) : "memory");  // so that nothing is known beforehand
  __syncthreads();
)";

const JudgedBody kLeaders[] = {
    {"WaitsAtAnMbarrier", R"(
  s[t] = t;
  arrive(&gates[0]);
  if (lane == 0) wait(&gates[0]);
  c[t] = s[63 - t];  // @
)",
     FaultKind::race, "reads element"},
    {"WaitsForAFreeStage", R"(
  s[t] = t;
  __syncthreads();
  if (warp == 0) {
    c[t] = s[t + 32];
    __syncwarp();
    if (lane == 0) arrive(&gates[1]);
  } else {
    if (lane == 0) wait(&gates[1]);
    s[t] = 0.0f;  // @
  }
)",
     FaultKind::race, "writes element"},
    {"PollsAFlag", R"(
  if (warp == 1) {
    s[lane] = t;
    __threadfence_block();
    __syncwarp();
    if (lane == 0) seen[0] = 1;
  } else {
    if (lane == 0) while (seen[0] == 0) {}
    c[t] = s[t];  // @
  }
)",
     FaultKind::race, "reads element"},
    {"Acquires", R"(
  if (warp == 1) {
    s[lane] = t;
    __syncwarp();
    if (lane == 0) release(flags);
  } else {
    if (lane == 0) acquire(flags);
    c[t] = s[t];  // @
  }
)",
     FaultKind::race, "reads element"},
    {"WaitsForCopies", R"(
  __pipeline_memcpy_async(&s[t ^ 32], &c[t], 4);
  arrive_behind_copies(&gates[0]);
  if (lane == 0) wait(&gates[0]);
  c[t] = s[t];  // @
)",
     FaultKind::missing_wait, "reads element"},
    {"TellsItsHalfOnly", R"(
  s[t] = t;
  arrive(&gates[0]);
  if (lane == 0) wait(&gates[0]);
  if (lane < 16) __syncwarp(0xffffu);
  if (lane < 16) c[t] = s[63 - t];
  if (lane >= 16) c[t] = s[63 - t];  // @
)",
     FaultKind::race, "reads element"},
    {"WaitsForNothingIfItDoesNotLook", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  arrive_behind_copies(&gates[0]);
  __syncthreads();
  asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%0], 0;}" ::"r"(at(&gates[0])) : "memory");
  c[t] = s[t];  // @
)",
     FaultKind::missing_wait, "reads element 0 of s"},
    {"HandsOnWhatOneLaneReleased", R"(
  if (warp == 1) {
    s[lane] = t;
    if (lane == 0) release(&flags[0]);
  } else {
#pragma unroll 1
    for (;;) {
      if (lane == 0) flags[1] = look(&flags[0]);
      __syncwarp();
      if (flags[1] != 0) break;
      __syncwarp();
    }
    c[t] = s[t];  // @
  }
)",
     FaultKind::race, "reads element"},
    {"HandsOnAVolatileFlagThatOneLaneFenced", R"(
  if (warp == 1) {
    s[lane] = t;
    if (lane == 0) {
      __threadfence_block();
      seen[0] = 2;
    }
  } else {
#pragma unroll 1
    for (;;) {
      if (lane == 0) flags[1] = seen[0] == 2 ? 1 : 0;
      __syncwarp();
      if (flags[1] != 0) break;
      __syncwarp();
    }
    __threadfence_block();
    c[t] = s[t];  // @
  }
)",
     FaultKind::race, "reads element"},
    {"AnotherLanePassesNothingOn", R"(
  if (t == 32) s[0] = 1.0f, release(&flags[0]);
  if (t == 0) acquire(&flags[0]);
  if (t == 1) release(&flags[1]);
  if (t == 33) acquire(&flags[1]), c[t] = s[0];  // @
)",
     FaultKind::race, "reads element 0 of s, which thread (32, 0, 0) writes"},
    {"Releases", R"(
  s[t] = t;
  if (lane == 0) release(&flags[warp]);
  acquire(&flags[warp ^ 1]);
  c[t] = s[t ^ 32];  // @
)",
     FaultKind::race, "reads element"},
    {"FencesAndSetsAFlag", R"(
  s[t] = t;
  if (lane == 0) {
    __threadfence_block();
    seen[warp] = 1;
  }
  while (seen[warp ^ 1] == 0) {}
  c[t] = s[t ^ 32];  // @
)",
     FaultKind::race, "reads element"},
    {"FencesAndExchanges", R"(
  s[t] = t;
  if (lane == 0) {
    __threadfence_block();
    atomicExch(&flags[warp], 1);
  }
  while (seen[warp ^ 1] == 0) {}
  c[t] = s[t ^ 32];  // @
)",
     FaultKind::race, "reads element"},
    {"ReleasesByACompareAndSwap", R"(
  s[t] = t;
  if (lane == 0) {
    int before;
    asm volatile("atom.acq_rel.cta.shared.cas.b32 %0, [%1], 0, 1;"
                 : "=r"(before) : "r"(at(&flags[warp])) : "memory");
    if (before != 0) __trap();
  }
  acquire(&flags[warp ^ 1]);
  c[t] = s[t ^ 32];  // @
)",
     FaultKind::race, "reads element"},
    {"TriesALockForAllBehindTheirFences", R"(
  s[t] = t;
  __threadfence_block();
  if (warp == 1 && atomicCAS(&flags[0], 0, 1) == 0) c[t] = 2.0f;
  if (t == 0) {
    while (atomicCAS(&flags[0], 1, 2) != 1) {}
    __threadfence_block();
  }
  __syncwarp();
  if (warp == 0) c[t] = s[t + 32];  // @
)",
     FaultKind::race, "reads element 33 of s, which thread (33, 0, 0) writes"},
    {"SetsAFlagByASwapForAllBehindTheirFences", R"(
  s[t] = t;
  __threadfence_block();
  if (warp == 1) atomicCAS(&flags[0], 0, 1);
  if (t == 0) {
    while (seen[0] != 1) {}
    __threadfence_block();
  }
  __syncwarp();
  if (warp == 0) c[t] = s[t + 32];  // @
)",
     FaultKind::race, "reads element 33 of s, which thread (33, 0, 0) writes"},
    {"SwapsInVainBehindItsFence", R"(
  if (t == 32) release(flags);
  if (t == 33) {
    s[0] = 1.0f;
    __threadfence_block();
    atomicCAS(&flags[0], 7, 8);
  }
  if (t == 0) {
    acquire(flags);
    c[t] = s[0];  // @
  }
)",
     FaultKind::race, "reads element 0 of s, which thread (33, 0, 0) writes"},
    {"FreesAStageThatOthersRead", R"(
  s[t] = t;
  __syncthreads();
  if (warp == 0) {
    c[t] = s[t + 32];
    if (lane == 0) release(flags);
  } else {
    acquire(flags);
    s[t] = 0.0f;  // @
  }
)",
     FaultKind::race, "writes element"},
    {"CountsInBehindFencesOfAll", R"(
  s[t] = t;
  __threadfence_block();
  if (lane == 0) atomicAdd(&flags[0], 1);
  while (seen[0] != 2) {}
  __threadfence_block();
  c[t] = s[t ^ 33];  // @
)",
     FaultKind::race, "reads element"},
    {"OtherWarpPassesOnWhatOneLaneReleased", R"(
  if (t == 0) s[0] = 1.0f, release(&flags[0]);
  if (t == 1) release(&flags[1]);
  if (t == 32) acquire(&flags[1]), release(&flags[2]);
  if (t == 2) acquire(&flags[2]), c[t] = s[0];  // @
)",
     FaultKind::race, "reads element 0 of s, which thread (0, 0, 0) writes"},
    {"LearnsBehindItsRelease", R"(
  if (t == 0) s[0] = 1.0f, release(&flags[0]);
  if (t == 1) release(&flags[1]), acquire(&flags[0]);
  if (t == 2) acquire(&flags[1]), c[t] = s[0];  // @
)",
     FaultKind::race, "reads element 0 of s, which thread (0, 0, 0) writes"},
    {"LearnsBehindItsArrival", R"(
  if (t == 0) begin(&gates[0], 1);
  __syncthreads();
  if (t == 0) s[0] = 1.0f, arrive(&gates[0]);
  if (t == 1) arrive(&gates[1]), wait(&gates[0]);
  if (t == 2) wait(&gates[1]), c[t] = s[0];  // @
)",
     FaultKind::race, "reads element 0 of s, which thread (0, 0, 0) writes"},
};

const JudgedBody kLeadersWhoMeet[] = {
    {"WaitsAtAnMbarrier", R"(
  s[t] = t;
  arrive(&gates[0]);
  if (lane == 0) wait(&gates[0]);
  __syncwarp();
  c[t] = s[63 - t];
)"},
    {"WaitsForItself", R"(
  s[t] = t;
  arrive(&gates[0]);
  if (lane == 0) {
    wait(&gates[0]);
    for (int i = 0; i < 64; ++i) c[t] += s[i];
    s[64 + warp] = c[t];
  }
)"},
    {"WaitsForCopies", R"(
  __pipeline_memcpy_async(&s[t ^ 32], &c[t], 4);
  arrive_behind_copies(&gates[0]);
  if (lane == 0) wait(&gates[0]);
  __syncwarp();
  c[t] = s[t];
)"},
    {"LooksOnceAndDecides", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  arrive_behind_copies(&gates[0]);
  __syncthreads();
  unsigned over;
  asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
               : "=r"(over) : "r"(at(&gates[0])) : "memory");
  if (!__all_sync(~0u, over)) __trap();
  c[t] = s[t];
)"},
    {"WaitsInAFunction", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  arrive_behind_copies(&gates[0]);
  while (!is_over(&gates[0])) {}
  c[t] = s[63 - t];
)"},
    {"TellsItsHalf", R"(
  s[t] = t;
  arrive(&gates[0]);
  if (lane % 16 == 0) wait(&gates[0]);
  __syncwarp(lane < 16 ? 0xffffu : 0xffff0000u);
  c[t] = s[63 - t];
)"},
    {"EachLaneWaitsInTurn", R"(
  s[t] = t;
  arrive(&gates[0]);
#pragma unroll 1
  for (int k = 0; k < 32; ++k) {
    if (lane == k) wait(&gates[0]);
  }
  c[t] = s[63 - t];
)"},
    {"EachLaneWaitsForAnother", R"(
  s[t] = t;
  release(&flags[t]);
  acquire(&flags[t ^ 33]);
  c[t] = s[t ^ 33];
  __syncwarp();
  c[t] += s[63 - t];
)"},
    {"EachLaneSetsItsFlagBehindItsFence", R"(
  s[t] = t;
  __threadfence_block();
  seen[t] = 1;
  while (seen[t ^ 33] == 0) {}
  c[t] = s[t ^ 33];
)"},
    {"PassesOnWhatItHasLearned", R"(
  if (t == 32) s[0] = 1.0f, release(&flags[0]);
  if (t == 0) acquire(&flags[0]), release(&flags[1]);
  if (t == 33) acquire(&flags[1]), c[t] = s[0];
)"},
    {"PassesOnWhatItHasMet", R"(
  if (t == 32) s[0] = 1.0f, release(&flags[0]);
  if (t == 0) acquire(&flags[0]);
  if (t < 2) __syncwarp(3u);
  if (t == 1) release(&flags[1]);
  if (t == 33) acquire(&flags[1]), c[t] = s[0];
)"},
    {"FencesWhatItHasLearned", R"(
  if (t == 32) s[0] = 1.0f, release(&flags[0]);
  if (t == 0) {
    acquire(&flags[0]);
    __threadfence_block();
    atomicExch(&flags[1], 1);
  }
  if (t == 33) acquire(&flags[1]), c[t] = s[0];
)"},
    {"HandsOnWhatItFinds", R"(
  if (warp == 1) {
    s[lane] = t;
    __syncwarp();
    if (lane == 0) release(&flags[0]);
  } else {
#pragma unroll 1
    for (;;) {
      if (lane == 0) flags[1] = look(&flags[0]);
      __syncwarp();
      if (flags[1] != 0) break;
      __syncwarp();
    }
    c[t] = s[t];
  }
)"},
    {"HandsOnAVolatileFlag", R"(
  if (warp == 1) {
    s[lane] = t;
    __threadfence_block();
    __syncwarp();
    if (lane == 0) seen[0] = 2;
  } else {
#pragma unroll 1
    for (;;) {
      if (lane == 0) flags[1] = seen[0] == 2 ? 1 : 0;
      __syncwarp();
      if (flags[1] != 0) break;
      __syncwarp();
    }
    __threadfence_block();
    c[t] = s[t];
  }
)"},
    {"HandsOnThatItHasWaited", R"(
  if (warp == 1) {
    s[lane] = t;
    __syncwarp();
    if (lane == 0) release(&flags[0]);
  } else {
    if (lane == 0) acquire(&flags[0]), flags[1] = 32;
    __syncwarp();
    c[t] = s[flags[1] - 1 - lane];
  }
)"},
    {"ProducesForAConsumer", R"(
  float sum = 0.0f;
  if (t == 0) begin(&gates[0], 1);
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < 6; ++k) {
    if (warp == 0) {
      if (k > 0 && lane == 0) wait(&gates[1], (k - 1) & 1);
      __syncwarp();
      s[lane] = k;
      __syncwarp();
      if (lane == 0) arrive(&gates[0]);
    } else {
      if (lane == 0) wait(&gates[0], k & 1);
      __syncwarp();
      sum += s[lane ^ 1];
      __syncwarp();
      if (lane == 0) arrive(&gates[1]);
    }
  }
  c[t] = sum;
)"},
    {"Releases", R"(
  s[t] = t;
  __syncwarp();
  if (lane == 0) release(&flags[warp]);
  acquire(&flags[warp ^ 1]);
  c[t] = s[t ^ 32];
)"},
    {"ReleasesWhatItWrote", R"(
  s[t] = t;
  if (lane == 0) release(&flags[warp]);
  acquire(&flags[warp ^ 1]);
  c[t] = s[32 * (warp ^ 1)];
)"},
    {"ReleasesTwice", R"(
#pragma unroll 1
  for (int k = 1; k < 4; ++k) {
    s[t] = t;
    __syncwarp();
    if (lane == 0) release(&flags[warp], k), release(&flags[2 + warp], k);
    while (seen[warp ^ 1] < k) {}
    while (seen[2 + (warp ^ 1)] < k) {}
    c[t] = s[t ^ 32];
    __syncthreads();
  }
)"},
    {"CountsInBehindFencesOfAll", R"(
  s[t] = t;
  __threadfence_block();
  __syncwarp();
  if (lane == 0) atomicAdd(&flags[0], 1);
  while (seen[0] != 2) {}
  __threadfence_block();
  c[t] = s[t ^ 33];
)"},
    {"CountsInWhatItWrote", R"(
  float sum = c[t];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) s[warp] = sum;
  __threadfence_block();
  bool is_last = false;
  if (lane == 0) is_last = atomicAdd(&flags[0], 1) == 1;
  if (is_last) {
    __threadfence_block();
    c[t] = s[0] + s[1];
  }
)"},
    {"CountsInByASwapOfEachLane", R"(
  s[t] = t;
  __threadfence_block();
  int old = 0, found;
  do {
    found = old;
    old = atomicCAS(&flags[0], found, found + 1);
  } while (old != found);
  while (seen[0] != 64) {}
  __threadfence_block();
  c[t] = s[t ^ 33];
)"},
    {"TakesALockInTurn", R"(
#pragma unroll 1
  for (bool is_over = false; !is_over;) {
    if (atomicCAS(&flags[0], 0, 1) == 0) {
      __threadfence_block();
      s[64] = c[t] + (flags[1]++ == 0 ? 0.0f : s[64]);
      __threadfence_block();
      atomicExch(&flags[0], 0);
      is_over = true;
    }
  }
)"},
    {"CountsInForItsHalf", R"(
  s[t] = t;
  __threadfence_block();
  __syncwarp(lane < 16 ? 0xffffu : 0xffff0000u);
  if (lane % 16 == 0) atomicAdd(&flags[0], 1);
  while (seen[0] != 4) {}
  __threadfence_block();
  c[t] = s[t ^ 33];
)"},
    {"CountsInBehindFencesInArms", R"(
  s[t] = t;
  if (lane < 16) {
    __threadfence_block();
  } else {
    s[t] += 1.0f;
    __threadfence_block();
  }
  __syncwarp();
  if (lane == 0) atomicAdd(&flags[0], 1);
  while (seen[0] != 2) {}
  __threadfence_block();
  c[t] = s[t ^ 33];
)"},
    {"CountsInBehindABarrier", R"(
  s[t] = t;
  __threadfence();
  __syncthreads();
  bool is_last = false;
  if (t == 0) is_last = atomicInc((unsigned*)&flags[0], 7u) == 0;
  c[t] = is_last ? s[63] : s[t ^ 33];
)"},
};

std::string leaders_text(const JudgedBody& leaders) { return judged_text(kLeadersHead, leaders.body); }

const bool kLeadersJoined = join(map_to_text(kLeaders, leaders_text));

class ALeader : public testing::TestWithParam<JudgedBody> {};

TEST_P(ALeader, DoesNothingForThoseItHasNotMet) { expect_fault(leaders_text(GetParam()), GetParam()); }

INSTANTIATE_TEST_SUITE_P(Sanitizer, ALeader, testing::ValuesIn(every_third(kLeaders)),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(LongSanitizer, ALeader, testing::ValuesIn(all_but_every_third(kLeaders)),
                         [](const auto& each) { return each.param.name; });

const bool kLeadersWhoMeetJoined = join(map_to_text(kLeadersWhoMeet, leaders_text));

class ALeaderOfAll : public testing::TestWithParam<JudgedBody> {};

TEST_P(ALeaderOfAll, IsLeftAlone) { expect_no_fault(leaders_text(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Sanitizer, ALeaderOfAll, testing::ValuesIn(every_third(kLeadersWhoMeet)),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(LongSanitizer, ALeaderOfAll, testing::ValuesIn(all_but_every_third(kLeadersWhoMeet)),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
