// What arriving at an mbarrier and releasing a word tell those who wait there, and only those.
#include "tests/support/thirds.h"
#include "tests/unit/vgpu/sanitizer/judged_bodies.h"

namespace roofwalk::test {
namespace {

// Bodies after `kArrivalsHead`, run with 64 threads and two blocks.
constexpr const char* kArrivalsHead = R"(#include <cuda_pipeline.h>
#include <roofwalk.cuh>
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void begin(unsigned gate, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(gate), "r"(arrivals) : "memory");
}
__device__ void arrive(unsigned gate) {
  asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0];}" ::"r"(gate) : "memory");
}
__device__ void arrive_and_drop(unsigned gate) {
  asm volatile("{.reg .b64 state; mbarrier.arrive_drop.shared.b64 state, [%0];}" ::"r"(gate) : "memory");
}
__device__ void arrive_early(unsigned gate, int times) {
  asm volatile("{.reg .b64 state; mbarrier.arrive.noComplete.shared.b64 state, [%0], %1;}" ::"r"(gate), "r"(times)
               : "memory");
}
__device__ void arrive_behind_copies(unsigned gate) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(gate) : "memory");
}
__device__ void wait(unsigned gate, unsigned parity = 0) {
  unsigned over = 0;
  while (over == 0)
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(over) : "r"(gate), "r"(parity) : "memory");
}
__device__ void release(int* flag) {
  int before;
  asm volatile("atom.release.cta.shared.add.s32 %0, [%1], 1;" : "=r"(before) : "r"(at(flag)) : "memory");
}
__device__ void acquire(int* flag) {
  int seen = 0;
  while (seen == 0) asm volatile("ld.acquire.cta.shared.s32 %0, [%1];" : "=r"(seen) : "r"(at(flag)) : "memory");
}
__device__ void end_if(bool ends) {
  asm volatile("{.reg .pred p; setp.ne.s32 p, %0, 0; @p exit;}" ::"r"((int)ends) : "memory");
}
__global__ void k(float* c) {
  __shared__ unsigned long long gates[2];
  __shared__ float s[128];
  __shared__ int flags[4];
  const int t = threadIdx.x, lane = t % 32;
  const unsigned gate = at(&gates[0]), other = gate + 8;
  if (t < 4) flags[t] = 0;
  asm volatile("" ::"r"(at(s)) : "memory");  // so that no value of s is known beforehand
)";

const JudgedBody kTooLittle[] = {
    {"CopiesArriveAndNobodyWaits", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  arrive_behind_copies(gate);
  __syncthreads();
  c[t] = s[t];  // @
)",
     FaultKind::missing_wait, "wait at the mbarrier, cuda::barrier or cuda::pipeline at which it arrives"},
    {"CopiesArriveAndTheOtherWarpWaits", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  arrive_behind_copies(gate);
  if (t < 32) wait(gate);
  else c[t] = s[t];  // @
)",
     FaultKind::missing_wait, "reads element 32 of s"},
    {"CopiesAreOverwrittenWithoutAWait", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  arrive_behind_copies(gate);
  __syncthreads();
  s[t] = 0.0f;  // @
)",
     FaultKind::missing_wait, "writes element 0 of s"},
    {"CopiesOfTheNextPhase", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  arrive_behind_copies(gate);
  wait(gate);
  __pipeline_memcpy_async(&s[64 + t], &c[t], 4);
  arrive_behind_copies(gate);
  __syncthreads();
  c[t] = s[t];
  c[t] += s[64 + t];  // @
)",
     FaultKind::missing_wait, "of s, where a copy that thread"},
    {"OfAnInitialisationBehindOtherArrivals", R"(
  if (t == 0) begin(gate, 2);
  __syncwarp();
  if (lane == 0) arrive(gate);
  wait(gate);
  c[t] = 1.0f;
)",
     FaultKind::race, "which thread (0, 0, 0) writes"},
    {"AnotherLaneReleases", R"(
  __syncthreads();
  if (t == 0) release(&flags[1]);
  if (t == 0) s[0] = 1.0f;
  if (t == 1) release(&flags[0]);
  if (t >= 2 && t < 32) acquire(&flags[0]);
  if (t >= 2 && t < 32) c[t] = s[0];  // @
)",
     FaultKind::race, "reads element 0 of s, which thread (0, 0, 0) writes"},
    {"AnotherLaneReleasesAnotherWord", R"(
  __syncthreads();
  if (t == 0) s[0] = 1.0f;
  if (t == 0) release(&flags[1]);
  if (t == 1) release(&flags[0]);
  if (t >= 2 && t < 32) acquire(&flags[0]);
  if (t >= 2 && t < 32) c[t] = s[0];  // @
)",
     FaultKind::race, "reads element 0 of s, which thread (0, 0, 0) writes"},
    {"AnotherLaneCountsBehindACommonFence", R"(
  __syncthreads();
  if (t == 0) s[0] = 1.0f;
  __threadfence_block();
  if (t == 1) atomicExch(&flags[0], 1);
  if (t >= 2 && t < 32) acquire(&flags[0]);
  if (t == 0) atomicExch(&flags[1], 1);
  if (t >= 2 && t < 32) c[t] = s[0];  // @
)",
     FaultKind::race, "reads element 0 of s, which thread (0, 0, 0) writes"},
    {"ALaneWritesBehindItsArrival", R"(
  if (t == 0) begin(gate, 2);
  __syncthreads();
  if (t == 0) arrive(gate);
  if (t == 0) s[0] = 1.0f;
  if (t == 1) arrive(gate);
  if (t < 32) wait(gate);
  if (t >= 2 && t < 32) c[t] = s[0];  // @
)",
     FaultKind::race, "reads element 0 of s, which thread (0, 0, 0) writes"},
    {"OneLaneWaitsForItself", R"(
  if (t == 0) begin(gate, 1);
  __syncthreads();
  if (t == 0) s[0] = 1.0f;
  if (t == 0) arrive(gate);
  if (t == 1) wait(gate);
  if (t == 2) c[t] = s[0];  // @
)",
     FaultKind::race, "reads element 0 of s, which thread (0, 0, 0) writes"},
    {"LanesEndInPlaceOfArriving", R"(
  if (t == 0) begin(gate, 1);
  __syncthreads();
  if (t < 32) {
    s[t] = 1.0f;
    end_if(t != 5);
    arrive(gate);
  } else {
    wait(gate);
    c[t] = s[t - 32];  // @
  }
)",
     FaultKind::race, "reads element 0 of s, which thread (0, 0, 0) writes"},
    {"TheLastLaneArrivesAtTheNextPhase", R"(
  if (t == 0) begin(gate, 31);
  __syncthreads();
  if (t < 32) {
    s[t] = 1.0f;
    arrive(gate);
  } else {
    wait(gate);
    c[t] = s[t - 32];  // @
  }
)",
     FaultKind::race, "reads element 31 of s, which thread (31, 0, 0) writes"},
    {"TheLastLaneOfTheBlockArrivesAtTheNextPhase", R"(
  if (t == 0) begin(gate, 63);
  __syncthreads();
  s[t] = 1.0f;
  arrive(gate);
  wait(gate);
  c[t] = s[t ^ 32];  // @
)",
     FaultKind::race, "reads element 63 of s, which thread (63, 0, 0) writes"},
    {"TheLastLaneArrivesAtTheNextPhaseBehindOthersThatDrop", R"(
  if (t == 0) begin(gate, 63);
  __syncthreads();
  s[t] = 1.0f;
  if (t < 32) arrive_and_drop(gate);
  else arrive(gate);
  wait(gate);
  c[t] = s[t ^ 32];  // @
)",
     FaultKind::race, "reads element 63 of s, which thread (63, 0, 0) writes"},
    {"TheLastLaneArrivesForTheThirdTimeAtTheNextPhase", R"(
  if (t == 0) begin(gate, 95);
  __syncthreads();
  if (t < 32) {
    arrive_early(gate, 2);
    s[t] = 1.0f;
    arrive(gate);
  } else {
    wait(gate);
    c[t] = s[t - 32];  // @
  }
)",
     FaultKind::race, "reads element 31 of s, which thread (31, 0, 0) writes"},
    {"TheLastLanesCopyArrivesAtTheNextPhase", R"(
  if (t == 0) begin(gate, 31);
  __syncthreads();
  if (t < 32) {
    __pipeline_memcpy_async(&s[t], &c[t], 4);
    arrive_behind_copies(gate);
  } else {
    wait(gate);
    c[t] = s[t - 32];  // @
  }
)",
     FaultKind::missing_wait, "reads element 31 of s"},
    {"LanesEndAndTheirWarpGoesOn", R"(
  if (t == 0) begin(gate, 2);
  __syncthreads();
  end_if(t >= 32);
  s[t] = 1.0f;
  end_if(t < 30);
  arrive(gate);
  wait(gate);
  c[t] = s[3];  // @
)",
     FaultKind::race, "reads element 3 of s, which thread (3, 0, 0) writes"},
};

const JudgedBody kEnough[] = {
    {"LanesMeetTheOneThatArrivesAndEnd", R"(
  if (t == 0) begin(gate, 1);
  __syncthreads();
  if (t < 32) {
    s[t] = 1.0f;
    __syncwarp();
    end_if(t != 5);
    arrive(gate);
  } else {
    wait(gate);
    c[t] = s[t - 32];
  }
)"},
    {"LanesArriveAndEnd", R"(
  if (t == 0) begin(gate, 32);
  __syncthreads();
  if (t < 32) {
    s[t] = 1.0f;
    arrive(gate);
    end_if(t != 5);
    s[64] = 1.0f;
  } else {
    wait(gate);
    c[t] = s[t - 32];
  }
)"},
    {"AllLanesArriveAtThePhase", R"(
  if (t == 0) begin(gate, 32);
  __syncthreads();
  if (t < 32) {
    s[t] = 1.0f;
    arrive(gate);
  } else {
    wait(gate);
    c[t] = s[t - 32];
  }
)"},
    {"AllLanesOfTheBlockArriveAtThePhase", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
  s[t] = 1.0f;
  if (t < 32) arrive_and_drop(gate);
  else arrive(gate);
  wait(gate);
  c[t] = s[t ^ 32];
)"},
    {"AllLanesArriveThreeTimes", R"(
  if (t == 0) begin(gate, 96);
  __syncthreads();
  if (t < 32) {
    arrive_early(gate, 2);
    s[t] = 1.0f;
    arrive(gate);
  } else {
    wait(gate);
    c[t] = s[t - 32];
  }
)"},
    {"APhaseOfTwoInstructions", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
  if (t < 32) {
    s[t] = 1.0f;
    arrive(gate);
    s[64 + t] = 2.0f;
    arrive(gate);
  } else {
    wait(gate);
    c[t] = s[t - 32] + s[t + 32];
  }
)"},
    {"TheLastLaneArrivesAtTheNextPhaseAndHasMetTheOthers", R"(
  if (t == 0) begin(gate, 31);
  __syncthreads();
  if (t < 32) {
    s[t] = 1.0f;
    __syncwarp();
    arrive(gate);
  } else {
    wait(gate);
    c[t] = s[t - 32];
  }
)"},
    {"OneInstructionArrivesAtTwoPhases", R"(
  if (t == 0) begin(gate, 16);
  __syncthreads();
  if (t < 32) {
    s[t] = 1.0f;
    __syncwarp();
    arrive(gate);
    if (lane < 16) arrive(gate);
  } else {
    wait(gate);
    c[t] = s[t - 32];
  }
)"},
    {"AllCopiesArriveAtThePhase", R"(
  if (t == 0) begin(gate, 32);
  __syncthreads();
  if (t < 32) {
    __pipeline_memcpy_async(&s[t], &c[t], 4);
    arrive_behind_copies(gate);
  } else {
    wait(gate);
    c[t] = s[t - 32];
  }
)"},
    {"LanesThatHaveTouchedNothingEnd", R"(
  if (t == 0) begin(gate, 1);
  __syncthreads();
  if (t < 32) {
    end_if(t != 5);
    s[5] = 1.0f;
    arrive(gate);
  } else {
    wait(gate);
    c[t] = s[5];
  }
)"},
    {"OneWarpWaitsForTheCopiesAndTellsAll", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  arrive_behind_copies(gate);
  if (t < 32) wait(gate);
  __syncthreads();
  c[t] = s[63 - t];
)"},
    {"OneLaneWaitsForTheCopiesAndReleasesAFlag", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  arrive_behind_copies(gate);
  if (t == 0) wait(gate), release(&flags[0]);
  __syncwarp();
  if (t >= 32) acquire(&flags[0]);
  c[t] = s[63 - t];
)"},
    {"TheNextPhaseIsWaitedFor", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &c[t], 4);
  arrive_behind_copies(gate);
  if (t < 32) wait(gate);
  __syncthreads();
  arrive(gate);
  wait(gate, 1);
  c[t] = s[63 - t];
)"},
    {"ALaneWritesAheadOfItsArrival", R"(
  if (t == 0) begin(gate, 2);
  __syncthreads();
  if (t == 0) s[0] = 1.0f;
  if (t == 0) arrive(gate);
  if (t == 1) arrive(gate);
  if (t < 32) wait(gate);
  c[t] = t < 32 ? s[0] : 0.0f;
)"},
    {"OneLaneWaitsAndMeetsTheOthers", R"(
  if (t == 0) begin(gate, 1);
  __syncthreads();
  if (t == 0) s[0] = 1.0f;
  if (t == 0) arrive(gate);
  if (t == 1) wait(gate);
  if (t == 1) c[t] = s[0];
  __syncwarp();
  if (t == 2) c[t] = s[0];
)"},
    {"ALanePassesItOn", R"(
  __syncthreads();
  if (t == 0) s[0] = 1.0f;
  if (t == 0) release(&flags[1]);
  if (t == 1) acquire(&flags[1]);
  if (t == 1) release(&flags[0]);
  if (t >= 2 && t < 32) acquire(&flags[0]);
  c[t] = t >= 2 && t < 32 ? s[0] : 0.0f;
)"},
    {"TheOtherWarpPassesItOn", R"(
  __syncthreads();
  if (t == 0) s[0] = 1.0f;
  if (t == 0) release(&flags[1]);
  if (t == 32) acquire(&flags[1]);
  if (t == 32) release(&flags[0]);
  if (t == 1) release(&flags[0]);
  if (t >= 2 && t < 32) while (atomicAdd(&flags[0], 0) != 2) {}
  __threadfence_block();
  c[t] = t >= 2 && t < 32 ? s[0] : 0.0f;
)"},
    {"AnInitialisationThatAFlagTellsOf", R"(
  __syncthreads();
  if (t == 0) begin(gate, 2), release(&flags[0]);
  __syncwarp();
  if (t == 32) acquire(&flags[0]);
  __syncwarp();
  if (lane == 0) arrive(gate);
  wait(gate);
  c[t] = 1.0f;
)"},
    {"TheThreadArrivesBesideItsCopies", R"(
  if (t == 0) begin(gate, 128);
  __syncthreads();
  s[t] = 1.0f;
  arrive_behind_copies(gate);
  arrive(gate);
  wait(gate);
  c[t] = s[63 - t];
)"},
    {"CopiesOfManyPhases", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < 6; ++i) {
    __pipeline_memcpy_async(&s[i % 2 * 64 + t], &c[t], 4);
    if (lane < 16) arrive_behind_copies(gate);
    else arrive_behind_copies(gate);
    wait(gate, i % 2);
    c[t] = s[i % 2 * 64 + (t ^ 32)];
    __syncthreads();
  }
)"},
};

// What a thread has stored itself, and only its copies tell of: of another warp, and of its own.
const JudgedBody kToldByCopies[] = {
    {"OfAnotherWarp", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
  s[t] = 1.0f;
  arrive_behind_copies(gate);
  wait(gate);
  c[t] = s[t ^ 32];  // @
)",
     FaultKind::race, "told of it by copies that arrive"},
    {"OfItsWarp", R"(
  if (t == 0) begin(gate, 64);
  __syncthreads();
  s[t] = 1.0f;
  arrive_behind_copies(gate);
  wait(gate);
  c[t] = s[t ^ 1];  // @
)",
     FaultKind::race, "put a __syncwarp() there"},
    {"OfOneLane", R"(
  if (t == 0) begin(gate, 1);
  __syncthreads();
  if (t == 0) s[0] = 1.0f;
  if (t == 0) arrive_behind_copies(gate);
  wait(gate);
  c[t] = t < 32 ? 0.0f : s[0];  // @
)",
     FaultKind::race, "told of it by copies that arrive"},
};

std::string arrivals_text(const JudgedBody& arrivals) { return judged_text(kArrivalsHead, arrivals.body); }

const bool kTooLittleJoined = join(map_to_text(kTooLittle, arrivals_text));

class WhatOneTells : public testing::TestWithParam<JudgedBody> {};

TEST_P(WhatOneTells, IsNotAll) { expect_fault(arrivals_text(GetParam()), GetParam()); }

INSTANTIATE_TEST_SUITE_P(Sanitizer, WhatOneTells, testing::ValuesIn(every_third(kTooLittle)),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(LongSanitizer, WhatOneTells, testing::ValuesIn(all_but_every_third(kTooLittle)),
                         [](const auto& each) { return each.param.name; });

const bool kToldByCopiesJoined = join(map_to_text(kToldByCopies, arrivals_text));

class WhatCopiesTell : public testing::TestWithParam<JudgedBody> {};

TEST_P(WhatCopiesTell, IsNotProved) {
  const std::string text = arrivals_text(GetParam());
  const RunRecord record = run_judged(text, kSanitized);
  ASSERT_FALSE(record.fault.has_value()) << record.fault->message;
  ASSERT_EQ(record.warnings.size(), 1u);
  EXPECT_THAT(record.warnings[0].message, testing::HasSubstr(GetParam().says));
  EXPECT_EQ(record.warnings[0].line, line_of_mark(text));
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, WhatCopiesTell, testing::ValuesIn(kToldByCopies),
                         [](const auto& each) { return each.param.name; });

const bool kEnoughJoined = join(map_to_text(kEnough, arrivals_text));

class WhatAllAreTold : public testing::TestWithParam<JudgedBody> {};

TEST_P(WhatAllAreTold, IsEnough) { expect_no_fault(arrivals_text(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Sanitizer, WhatAllAreTold, testing::ValuesIn(kEnough),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
