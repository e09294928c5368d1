// Lanes of a warp that arrive at mbarriers, or that copy and wait, without the others.
#include "tests/unit/vgpu/sanitizer/judged_bodies.h"

namespace roofwalk::test {
namespace {

// Bodies after `kApartHead`, run with 64 threads and two blocks.
constexpr const char* kApartHead = R"(#include <cuda_pipeline.h>
#include <roofwalk.cuh>
__device__ void begin(unsigned gate, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(gate), "r"(arrivals) : "memory");
}
__device__ void arrive(unsigned gate) {
  asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0];}" ::"r"(gate) : "memory");
}
__device__ void arrive_behind_copies(unsigned gate) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(gate) : "memory");
}
__device__ int count_in(int* count) {
  int before;
  asm volatile("atom.acq_rel.cta.shared.add.s32 %0, [%1], 1;"
               : "=r"(before) : "r"((unsigned)__cvta_generic_to_shared(count)) : "memory");
  return before;
}
__device__ void wait(unsigned gate) {
  unsigned over = 0;
  while (over == 0)
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                 : "=r"(over) : "r"(gate) : "memory");
}
__global__ void k(float* c) {
  __shared__ unsigned long long gates[2];
  __shared__ float s[128];
  const int t = threadIdx.x, lane = t % 32;
  const unsigned gate = (unsigned)__cvta_generic_to_shared(&gates[0]), other = gate + 8;
)";

const JudgedBody kApart[] = {
    {"ALeaderArrivesForThoseWhoHaveNotMet", R"(
  if (t == 0) begin(gate, 2);
  __syncthreads();
  s[t] = t;
  if (lane == 0) arrive(gate);
  wait(gate);
  c[t] = s[63 - t];  // @
)",
     FaultKind::race, "reads element 31 of s, which thread (31, 0, 0) writes"},
    {"ALeaderArrivesForHalfOfItsWarp", R"(
  if (t == 0) begin(gate, 2);
  __syncthreads();
  s[t] = t;
  __syncwarp(lane < 16 ? 0xffffu : 0xffff0000u);
  if (lane == 0) arrive(gate);
  wait(gate);
  c[t] = s[(t & 31 & ~16) + 32 - (t & 32)];
  c[t] = s[t ^ 48];  // @
)",
     FaultKind::race, "reads element 16 of s, which thread (16, 0, 0) writes"},
    {"EachHalfArrivesElsewhere", R"(
  if (t == 0) begin(gate, 32), begin(other, 32);
  __syncthreads();
  s[t] = t;
  arrive(lane < 16 ? gate : other);
  wait(gate);
  c[t] = s[t ^ 48];  // @
)",
     FaultKind::race, ""},
    {"OneHalfCopiesAndTheOtherWaits", R"(
  if (lane < 16) {
    __pipeline_memcpy_async(&s[t], &c[t], 4);
    __pipeline_commit();
  } else {
    s[t] = 0;
    __pipeline_wait_prior(0);
  }
  __syncthreads();
  c[t] = s[t];  // @
)",
     FaultKind::missing_wait, "reads element 0 of s"},
    {"AllCopyAndOneHalfWaits", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  __pipeline_commit();
  if (lane < 16) __pipeline_wait_prior(0);
  __syncthreads();
  c[t] = s[t];  // @
)",
     FaultKind::missing_wait, "reads element 16 of s"},
    {"OneHalfClosesAnotherGroup", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  __pipeline_commit();
  if (lane < 16) __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  c[t] = s[t];  // @
)",
     FaultKind::missing_wait, "reads element 16 of s"},
    {"AnArrivalIsNoGroup", R"(
  if (t == 0) begin(gate, 128);
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  __pipeline_commit();
  arrive_behind_copies(gate);
  __pipeline_wait_prior(1);
  __syncthreads();
  c[t] = s[t];  // @
)",
     FaultKind::missing_wait, "reads element 0 of s"},
    {"OneHalfsCopiesArrive", R"(
  if (t == 0) begin(gate, 32);
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  if (lane < 16) arrive_behind_copies(gate);
  wait(gate);
  c[t] = s[t];  // @
)",
     FaultKind::missing_wait, "reads element 48 of s"},
    {"CopiesThatArriveAreWaitedForByTheirThreadsOnly", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  arrive_behind_copies(gate);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (t >= 32) c[t] = s[t - 32];  // @
)",
     FaultKind::race, "reads element 0 of s, which thread (0, 0, 0) copies into"},
    {"CopiesThatArriveAtTheOtherBarrier", R"(
  if (t == 0) begin(gate, 64), begin(other, 32);
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  arrive_behind_copies(gate);
  if (t < 32) __pipeline_memcpy_async(&s[64 + t], &c[t], 4);
  if (t < 32) arrive_behind_copies(other);
  wait(gate);
  c[t] = s[t ^ 32];
  if (t >= 32) c[t] += s[t + 32];  // @
)",
     FaultKind::missing_wait, "reads element 64 of s, where a copy that thread (0, 0, 0) asked for"},
    {"TheFirstToCountInReads", R"(
  __shared__ int count;
  if (t == 0) count = 0;
  __syncthreads();
  s[t] = t;
  if (count_in(&count) == 0) c[t] = s[1];  // @
)",
     FaultKind::race, "reads element 1 of s, which thread (1, 0, 0) writes"},
    {"TheFirstToCountInBehindAFenceReads", R"(
  __shared__ int count;
  if (t == 0) count = 0;
  __syncthreads();
  s[t] = t;
  __threadfence_block();
  if (atomicAdd(&count, 1) == 0) c[t] = s[1];  // @
)",
     FaultKind::race, "reads element 1 of s, which thread (1, 0, 0) writes"},
    {"LanesCountInAndOrderNothing", R"(
  __shared__ int count;
  if (t == 0) count = 0;
  __syncthreads();
  s[t] = t;
  if (atomicAdd(&count, 1) == 63) c[t] = s[62];  // @
)",
     FaultKind::race, "reads element 62 of s, which thread (62, 0, 0) writes"},
    {"OneLaneCountsInForItsWarp", R"(
  __shared__ int count;
  if (t == 0) count = 0;
  __syncthreads();
  s[t] = t;
  if (lane == 0 && count_in(&count) == 1) c[t] = s[t + 1];  // @
)",
     FaultKind::race, "race: reads element"},
    {"OneLaneLocksTwice", R"(
  __shared__ int lock;
  if (t == 0) lock = 0;
  __syncthreads();
  s[t] = t;
  if (lane == 0) {
    for (int i = 0; i < 2; ++i) {
      while (atomicCAS(&lock, 0, 1) != 0) {}
      __threadfence_block();
      c[t] = s[t + i];  // @
      __threadfence_block();
      atomicExch(&lock, 0);
    }
  }
)",
     FaultKind::race, "race: reads element"},
    {"LanesWriteOneWordInRoundsOfALoop", R"(
#pragma unroll 1
  for (int k = 0; k < 32; ++k) {
    if (lane == k) s[64 + (t & 32)] = t;  // @
  }
  __syncwarp();
  c[t] = s[64 + (t & 32)];
)",
     FaultKind::race, "writes element 64 of s, and so does thread (0, 0, 0)"},
    {"LanesCountInTooEarly", R"(
  __shared__ int count;
  if (t == 0) count = 0;
  __syncthreads();
  const bool is_last = count_in(&count) == 63;
  s[t] = t;
  if (is_last) c[t] = s[62];  // @
)",
     FaultKind::race, "reads element 62 of s, which thread (62, 0, 0) writes"},
};

const JudgedBody kApartInOrder[] = {
    {"ALeaderArrivesForAllBehindASyncwarp", R"(
  if (t == 0) begin(gate, 2);
  __syncthreads();
  s[t] = t;
  __syncwarp();
  if (lane == 0) arrive(gate);
  wait(gate);
  c[t] = s[63 - t];
)"},
    {"ALeaderArrivesForWhomItMet", R"(
  if (t == 0) begin(gate, 4);
  __syncthreads();
  s[t] = t;
  __syncwarp(lane < 16 ? 0xffffu : 0xffff0000u);
  if (lane % 16 == 0) arrive(gate);
  wait(gate);
  c[t] = s[63 - t];
)"},
    {"OneLaneArrivesInAnArmOfItsOwn", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
  s[t] = t;
  if (lane == 0) {
    s[t + 64] = 1;
    arrive(gate);
  } else {
    arrive(gate);
  }
  wait(gate);
  c[t] = s[63 - t] + s[64 + (t & 32)] + s[t ^ 1];
)"},
    {"EachHalfArrivesAtBoth", R"(
  if (t == 0) begin(gate, 64), begin(other, 64);
  __syncthreads();
  s[t] = t;
  arrive(lane < 16 ? gate : other);
  arrive(lane < 16 ? other : gate);
  wait(gate);
  wait(other);
  c[t] = s[t ^ 48];
)"},
    {"SomeLeaveAndTheRestArrive", R"(
  if (t == 0) begin(gate, 40);
  __syncthreads();
  if (lane >= 20) return;
  s[t] = t;
  arrive(gate);
  wait(gate);
  c[t] = s[t ^ 32];
)"},
    {"EachHalfCopiesAndWaits", R"(
  if (lane < 16) {
    __pipeline_memcpy_async(&s[t], &c[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
  } else {
    __pipeline_memcpy_async(&s[t], &c[t], 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&s[t + 64], &c[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
  }
  __syncthreads();
  c[t] = s[63 - t];
  __pipeline_wait_prior(0);
  if (lane >= 16) c[t] += s[t + 64];
)"},
    {"SomeCopyAndAllWait", R"(
  s[t] = 0;
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < 5; ++i) {
    if (lane < 8) __pipeline_memcpy_async(&s[t + i % 2 * 64], &c[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    c[t] = lane < 8 ? s[(t ^ 32) + i % 2 * 64] : 0;
  }
)"},
    {"SomeCloseGroupsAndAllWait", R"(
  s[t] = 0;
  __syncthreads();
  if (lane < 8) {
    __pipeline_memcpy_async(&s[t], &c[t], 4);
    __pipeline_commit();
  }
  __pipeline_wait_prior(0);
  __syncthreads();
  c[t] = s[63 - t];
)"},
    {"SomeLeaveBehindTheirCopies", R"(
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  __pipeline_commit();
  if (lane >= 20) return;
  __pipeline_wait_prior(0);
  __syncthreads();
  c[t] = s[t ^ 32];
)"},
    {"AGroupReachesAcrossAnArrival", R"(
  if (t == 0) begin(gate, 128);
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  arrive_behind_copies(gate);
  __pipeline_memcpy_async(&s[64 + t], &c[t], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  c[t] = s[t] + s[64 + t];
)"},
    {"CopiesOfAllArriveByHalves", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  if (lane < 16) arrive_behind_copies(gate);
  else arrive_behind_copies(gate);
  wait(gate);
  c[t] = s[63 - t];
)"},
    {"CopiesArriveAndTheirThreadsWait", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  arrive_behind_copies(gate);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  c[t] = s[t];
  wait(gate);
  c[t] += s[63 - t];
)"},
    {"LaterCopiesArriveFirst", R"(
  if (t == 0) begin(gate, 64), begin(other, 32);
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  arrive_behind_copies(gate);
  if (t < 32) __pipeline_memcpy_async(&s[64 + t], &c[t], 4);
  if (t < 32) arrive_behind_copies(other);
  wait(gate);
  c[t] = s[t ^ 32];
  wait(other);
  c[t] += s[64 + t % 32];
)"},
    {"TheLastToCountInReads", R"(
  __shared__ int count;
  if (t == 0) count = 0;
  __syncthreads();
  s[t] = t;
  if (count_in(&count) == 63)
    for (int i = 0; i < 64; ++i) c[i] = s[i];
)"},
    {"TheLastToCountInBehindAFenceReads", R"(
  __shared__ int count;
  if (t == 0) count = 0;
  __syncthreads();
  s[t] = t;
  __threadfence_block();
  if (atomicAdd(&count, 1) == 63) {
    __threadfence_block();
    for (int i = 0; i < 64; ++i) c[i] = s[i];
  }
)"},
    {"TheLastToCountInTellsAllOthers", R"(
  __shared__ int count, flag;
  if (t == 0) count = flag = 0;
  __syncthreads();
  const unsigned at = (unsigned)__cvta_generic_to_shared(&flag);
  for (int round = 1; round < 4; ++round) {
    s[t] = t;
    if (count_in(&count) == 64 * round - 1) {
      s[64] = s[t ^ 1] + s[t ^ 32];
      asm volatile("st.release.cta.shared.s32 [%0], %1;" ::"r"(at), "r"(round) : "memory");
    }
    int seen = 0;
    while (seen != round) asm volatile("ld.acquire.cta.shared.s32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
    c[t] = s[64] + s[t ^ 2];
    __syncthreads();
  }
)"},
    {"LanesWriteOneWordInRoundsOfALoopAndMeet", R"(
#pragma unroll 1
  for (int k = 0; k < 32; ++k) {
    if (lane == k) s[64 + (t & 32)] = t;
    __syncwarp();
  }
  c[t] = s[64 + (t & 32)];
)"},
    {"LanesWriteTheSameInRoundsOfALoop", R"(
  s[t] = 0.0f;
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < 32; ++k) {
    if (lane >= k) s[t & 32] = 1.0f;
  }
  __syncthreads();
  c[t] = s[t & 32];
)"},
    {"LanesTakeALockInTurn", R"(
  __shared__ int lock;
  if (t == 0) lock = 0, s[0] = 0;
  __syncthreads();
  for (bool is_done = false; !is_done;) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      __threadfence_block();
      s[0] += 1;
      __threadfence_block();
      atomicExch(&lock, 0);
      is_done = true;
    }
  }
  __syncthreads();
  c[t] = s[0];
)"},
};

std::string apart_text(const JudgedBody& apart) { return judged_text(kApartHead, apart.body); }

const bool kApartJoined = join(map_to_text(kApart, apart_text));

class LanesThatActAlone : public testing::TestWithParam<JudgedBody> {};

TEST_P(LanesThatActAlone, DoSoForThemselvesOnly) { expect_fault(apart_text(GetParam()), GetParam()); }

INSTANTIATE_TEST_SUITE_P(Sanitizer, LanesThatActAlone, testing::ValuesIn(kApart),
                         [](const auto& each) { return each.param.name; });

const bool kApartInOrderJoined = join(map_to_text(kApartInOrder, apart_text));

class LanesThatActInOrder : public testing::TestWithParam<JudgedBody> {};

TEST_P(LanesThatActInOrder, AreLeftAlone) { expect_no_fault(apart_text(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Sanitizer, LanesThatActInOrder, testing::ValuesIn(kApartInOrder),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
