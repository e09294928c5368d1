// Lanes that poll an mbarrier or a flag in vain let others of their warp go ahead, for which they may wait: lanes that
// went another way at a branch, that wait at a __syncwarp() themselves, or that are not in the function that polls.
#include <gmock/gmock.h>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// The body is run by 32 threads, of which the first 12 shall store s[31 - t] in y[t].
std::string yielding_text(const std::string& body) {
  return R"(#include <roofwalk.cuh>
__device__ __forceinline__ void arrive(unsigned gate) {
  asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0];}" ::"r"(gate) : "memory");
}
__device__ __forceinline__ void wait(unsigned gate, int parity = 0) {
  unsigned over;
  do {
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(over) : "r"(gate), "r"(parity) : "memory");
  } while (over == 0);
}
__device__ __forceinline__ void acquire(int* flag) {
  int seen = 0;
  while (seen == 0)
    asm volatile("ld.acquire.cta.shared.s32 %0, [%1];"
                 : "=r"(seen) : "r"((unsigned)__cvta_generic_to_shared(flag)) : "memory");
}
__device__ __forceinline__ void release(int* flag) {
  asm volatile("st.release.cta.shared.s32 [%0], 1;" ::"r"((unsigned)__cvta_generic_to_shared(flag)) : "memory");
}
__device__ __noinline__ void wait_in_call(unsigned gate) { wait(gate); }
__device__ __noinline__ float wait_in_two_calls(unsigned gate, float x) {
  if (x > 3.0f) wait_in_call(gate);
  return x + 1.0f;
}
__device__ __noinline__ void acquire_in_call(int* flag) { acquire(flag); }
__device__ __noinline__ void part_in_call(unsigned gate, unsigned other, bool waits) {
  if (waits) {
    wait_in_call(gate);
    arrive(other);
  } else {
    arrive(gate);
    wait_in_call(other);
  }
}
__global__ void k(float* y, int n) {
  __shared__ unsigned long long gates[2];
  __shared__ float s[32];
  __shared__ int flags[2];
  const int t = threadIdx.x;
  const unsigned gate = (unsigned)__cvta_generic_to_shared(gates), other = gate + 8;
  flags[t % 2] = 0;
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 20; mbarrier.init.shared.b64 [%1], 12;"
                           ::"r"(gate), "r"(other) : "memory");
  asm volatile("" ::"l"(flags), "l"(s), "r"(other) : "memory");
  __syncthreads();
  s[t] = t;
)" + body +
         "}\nSOLVE(float* y) { k<<<1, 32>>>(y, 12); }\n";
}

struct Yielding {
  const char* name;
  const char* body;
};
void PrintTo(const Yielding& yielding, std::ostream* out) { *out << yielding.name; }

const Yielding kYieldings[] = {
    // Two of three arms wait for the third one, whichever runs first.
    {"InTwoOfThreeArms", R"(
  switch (t / 6) {
    case 0:
      wait(gate);
      y[t] = s[31 - t];
      break;
    case 1:
      wait(gate);
      y[t] = s[31 - t] + 0.0f * t;
      break;
    default:
      arrive(gate);
  }
)"},
    {"InTwoOfThreeArmsTheOtherWayRound", R"(
  switch ((31 - t) / 10) {
    case 0:
    case 1:
      arrive(gate);
      break;
    case 2:
      wait(gate);
      y[t] = s[31 - t];
      break;
    default:
      wait(gate);
      y[t] = s[31 - t] + 0.0f * t;
  }
)"},
    {"WhereOthersWaitAtASyncwarp", R"(
  if (t < 4) {
    __syncwarp(0xfffu);
    y[t] = s[31 - t];
  } else if (t < 12) {
    wait(gate);
    __syncwarp(0xfffu);
    y[t] = s[31 - t] + 0.0f * t;
  } else {
    arrive(gate);
  }
)"},
    {"WhereOthersWaitAtASyncwarpTheOtherWayRound", R"(
  if (t >= 12) {
    arrive(gate);
  } else if (t >= 4) {
    wait(gate);
    __syncwarp(0xfffu);
    y[t] = s[31 - t] + 0.0f * t;
  } else {
    __syncwarp(0xfffu);
    y[t] = s[31 - t];
  }
)"},
    {"ForLanesThatMeetFirst", R"(
  if (t < 12) {
    wait(gate);
    y[t] = s[31 - t];
  } else if (t < 20) {
    __syncwarp(0xfffff000u);
    arrive(gate);
  } else {
    s[t] += 0.0f * t;
    __syncwarp(0xfffff000u);
    arrive(gate);
  }
)"},
    {"InACall", R"(
  if (t < 12) {
    wait_in_call(gate);
    y[t] = s[31 - t];
  } else {
    arrive(gate);
  }
)"},
    {"InACallTheOtherWayRound", R"(
  if (t >= 12) {
    arrive(gate);
  } else {
    wait_in_call(gate);
    y[t] = s[31 - t];
  }
)"},
    {"InTwoCalls", R"(
  float x = t + 4.0f;
  if (t < 12) {
    x = wait_in_two_calls(gate, x);
    y[t] = s[31 - t] + x - t - 5.0f;
  } else {
    x = wait_in_two_calls(0, -x);
    if (x < 0.0f) arrive(gate);
  }
)"},
    {"InCallsOfBothArms", R"(
  if (t < 12) {
    wait_in_call(gate);
    y[t] = s[31 - t];
    arrive(other);
  } else {
    arrive(gate);
    wait_in_call(other);
    s[t] = 0.0f;
  }
)"},
    {"InCallsWithinACall", R"(
  part_in_call(gate, other, t < 12);
  if (t < 12) y[t] = s[31 - t];
)"},
    {"AtAnAcquiredFlag", R"(
  if (t < 12) {
    acquire(&flags[0]);
    y[t] = s[31 - t];
  } else {
    __syncwarp(0xfffff000u);
    if (t == 31) release(&flags[0]);
  }
)"},
    {"AtAnAcquiredFlagTheOtherWayRound", R"(
  if (t >= 12) {
    __syncwarp(0xfffff000u);
    if (t == 31) release(&flags[0]);
  } else {
    acquire(&flags[0]);
    y[t] = s[31 - t];
  }
)"},
    {"AtAFlagInACall", R"(
  if (t < 12) {
    acquire_in_call(&flags[0]);
    y[t] = s[31 - t];
  } else {
    __syncwarp(0xfffff000u);
    if (t == 31) release(&flags[0]);
  }
)"},
    {"AtAVolatileFlag", R"(
  if (t < 12) {
    while (*(volatile int*)&flags[0] == 0) {}
    __threadfence_block();
    y[t] = s[31 - t];
  } else {
    __threadfence_block();
    __syncwarp(0xfffff000u);
    if (t == 31) *(volatile int*)&flags[0] = 1;
  }
)"},
    {"AtFlagsOfEachOther", R"(
  if (t < 12) {
    acquire(&flags[0]);
    y[t] = s[31 - t];
    __syncwarp(0xfffu);
    if (t == 0) release(&flags[1]);
  } else {
    __syncwarp(0xfffff000u);
    if (t == 31) release(&flags[0]);
    acquire(&flags[1]);
    s[t] = 0.0f;
  }
)"},
};

struct WrongYielding {
  const char* name;
  const char* body;
  FaultKind kind = FaultKind::runaway;
  const char* says = "";
};
void PrintTo(const WrongYielding& yielding, std::ostream* out) { *out << yielding.name; }

const WrongYielding kWrongYieldings[] = {
    {"InTwoOfThreeArmsForOneTooMany", R"(
  switch (t / 6) {
    case 0:
      wait(gate);
      y[t] = s[31 - t];
      break;
    case 1:
      wait(gate);
      y[t] = s[31 - t] + 0.0f * t;
      break;
    default:
      if (t < 31) arrive(gate);
  }
)"},
    {"WhereThoseAtASyncwarpHaveNotMet", R"(
  if (t < 4) {
    __syncwarp(0xfu);
    y[t] = s[31 - t];
  } else if (t < 12) {
    wait(gate);
    __syncwarp(0xff0u);
    y[t] = s[31 - t] + 0.0f * t;
  } else {
    arrive(gate);
  }
)",
     FaultKind::race, "element"},
    {"InACallForOneTooMany", R"(
  if (t < 12) {
    wait_in_call(gate);
    y[t] = s[31 - t];
  } else if (t < 31) {
    arrive(gate);
  }
)"},
    {"InCallsOfBothArmsTooEarly", R"(
  if (t < 12) {
    wait_in_call(gate);
    arrive(other);
    y[t] = s[31 - t];
  } else {
    arrive(gate);
    wait_in_call(other);
    s[t] = 0.0f;
  }
)",
     FaultKind::race, "element"},
    {"AtAFlagThatNobodySets", R"(
  if (t < 12) {
    acquire(&flags[0]);
    y[t] = s[31 - t];
  } else {
    __syncwarp(0xfffff000u);
    if (t == 11) release(&flags[0]);
  }
)"},
    {"AtAFlagOfALaneThatHasNotMetTheOthers", R"(
  if (t < 12) {
    acquire(&flags[0]);
    y[t] = s[31 - t];
  } else {
    if (t == 31) release(&flags[0]);
  }
)",
     FaultKind::race, "element"},
};

const bool kYieldingsJoined =
    join(map_to_text(kYieldings, [](const Yielding& each) { return yielding_text(each.body); })) &&
    join(map_to_text(kWrongYieldings, [](const WrongYielding& each) { return yielding_text(each.body); }));

class LanesThatPoll : public testing::TestWithParam<Yielding> {};

TEST_P(LanesThatPoll, LetOthersGoAhead) {
  RunOptions uncounted = kSanitized, apart = kSanitized;
  uncounted.figures = RunOptions::Figures::none;
  uncounted.sanitized_seed = 5;
  apart.lockstep = false;
  for (RunOptions options : {kSanitized, RunOptions{}, uncounted, apart}) {
    options.max_work = 1'000'000;
    Buffer y{"y", std::vector<float>(12)};
    const auto record = Runner().run(yielding_text(GetParam().body), {&y}, options);
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_FALSE(record->fault) << record->fault->line << ": " << record->fault->message;
    for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(y.values[i], static_cast<float>(31 - i)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(GivingWay, LanesThatPoll, testing::ValuesIn(kYieldings),
                         [](const auto& each) { return each.param.name; });

class LanesThatPollWrongly : public testing::TestWithParam<WrongYielding> {};

TEST_P(LanesThatPollWrongly, AreFound) {
  RunOptions options = kSanitized;
  options.max_work = 1'000'000;
  Buffer y{"y", std::vector<float>(12)};
  const auto record = Runner().run(yielding_text(GetParam().body), {&y}, options);
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->fault->kind, GetParam().kind) << record->fault->message;
  EXPECT_THAT(record->fault->message, testing::HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(GivingWay, LanesThatPollWrongly, testing::ValuesIn(kWrongYieldings),
                         [](const auto& each) { return each.param.name; });

// Both arms of each warp wait for the other warps, phase after phase.
std::string phases_text(const char* last) {
  return std::string(R"(#include <roofwalk.cuh>
#include <cuda/barrier>
__global__ void phases(float* y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ float s[2][256];
  const int t = threadIdx.x;
  if (t == 0) init(&bar, blockDim.x);
  s[0][t] = t;
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < 100; ++k) {
    if (t % 2 == 0) {
      bar.arrive_and_wait();
      s[(k + 1) % 2][t] = s[k % 2][(t + 37) % 256] + 1.0f;
    } else {
      bar.arrive_and_wait();
      s[(k + 1) % 2][t] = s[k % 2][(t + 37) % 256];
    }
  })") + last +
         R"(
  y[t] = s[0][(t + 1) % 256];
}
SOLVE(float* y) { phases<<<1, 256>>>(y); }
)";
}
const std::string kPhases = phases_text("\n  bar.arrive_and_wait();"), kPhasesWithoutLast = phases_text("");
const bool kPhasesJoined = join({kPhases, kPhasesWithoutLast});

TEST(GivingWay, ArmsThatWaitForOtherWarpsPhaseAfterPhaseEnd) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    Buffer y{"y", std::vector<float>(256)};
    RunOptions options = kSanitized;
    options.figures = RunOptions::Figures::none;
    options.sanitized_seed = seed;
    options.max_work = 20'000'000;
    const auto record = Runner().run(kPhases, {&y}, options);
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_FALSE(record->fault) << record->fault->message;
  }
}

// Each warp of a block waits in two arms for the one before it.
std::string chain_text(const char* meets) {
  std::string text = yielding_text(std::string(R"(
}
__global__ void chain(float* y) {
  __shared__ unsigned long long gates[9];
  __shared__ float s[9][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned gate = (unsigned)__cvta_generic_to_shared(&gates[warp]);
  if (threadIdx.x < 9)
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"((unsigned)__cvta_generic_to_shared(&gates[threadIdx.x])));
  s[warp][lane] = 0.0f;
  __syncthreads();
  if (threadIdx.x == 0) arrive(gate);
  float x;
  if (lane % 2 == 0) {
    wait(gate);
    x = s[warp][lane] + 1.0f;
  } else {
    wait(gate);
    x = s[warp][lane] + 2.0f;
  }
  s[warp + 1][lane] = x;
  )") + meets + R"(
  if (lane == 0) arrive(gate + 8);
  if (warp == 7) y[32 * blockIdx.x + lane] = s[8][lane];
)");
  text.resize(text.rfind("SOLVE"));
  return text + "SOLVE(float* y) { chain<<<64, 256>>>(y); }\n";
}
const std::string kChain = chain_text("__syncwarp();"), kLooseChain = chain_text("");
const bool kChainJoined = join({kChain, kLooseChain});

TEST(GivingWay, ArmsThatPollInVainGetWhatTheyWaitForSoon) {
  RunOptions options = kSanitized;
  options.figures = RunOptions::Figures::none;
  options.sanitized_seed = 3;
  options.max_work = 1'000'000;
  Buffer y{"y", std::vector<float>(2048)};
  const auto record = Runner().run(kChain, {&y}, options);
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  for (std::size_t i = 0; i < 2048; ++i) ASSERT_EQ(y.values[i], i % 2 == 0 ? 8.0f : 16.0f) << i;
}

TEST(GivingWay, ArmsWhoseWarpHasNotMetBeforeItArrivesRace) {
  Buffer y{"y", std::vector<float>(2048)};
  const auto record = Runner().run(kLooseChain, {&y}, kSanitized);
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->fault->kind, FaultKind::race) << record->fault->message;
}

// The warps of a block add one after the other.
std::string turns_text(const char* waits) {
  return std::string(R"(#include <roofwalk.cuh>
__global__ void turns(float* y) {
  __shared__ volatile int turn;
  __shared__ float sum;
  const int t = threadIdx.x;
  if (t == 0) turn = 0, sum = 0.0f;
  __syncthreads();
  if (t % 32 == 0) {
    )") + waits +
         R"(
    __threadfence_block();
    sum += t;
    __threadfence_block();
    turn = t / 32 + 1;
  }
  __syncthreads();
  if (t == 0) y[blockIdx.x] = sum;
}
SOLVE(float* y) { turns<<<64, 256>>>(y); }
)";
}
const std::string kTurns = turns_text("while (turn != t / 32) {}"), kNoTurns = turns_text("");
const bool kTurnsJoined = join({kTurns, kNoTurns});

TEST(GivingWay, WarpsThatPollAFlagGetWhatTheyWaitForSoon) {
  RunOptions options = kSanitized;
  options.figures = RunOptions::Figures::none;
  options.sanitized_seed = 3;
  options.max_work = 2'000'000;
  Buffer y{"y", std::vector<float>(64)};
  const auto record = Runner().run(kTurns, {&y}, options);
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  EXPECT_EQ(y.values, std::vector<float>(64, 896.0f));
}

TEST(GivingWay, WarpsThatDoNotPollAFlagRace) {
  Buffer y{"y", std::vector<float>(64)};
  const auto record = Runner().run(kNoTurns, {&y}, kSanitized);
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->fault->kind, FaultKind::race) << record->fault->message;
}

TEST(GivingWay, ArmsThatDoNotWaitForTheLastPhaseRace) {
  Buffer y{"y", std::vector<float>(256)};
  RunOptions options = kSanitized;
  options.max_work = 100'000'000;
  const auto record = Runner().run(kPhasesWithoutLast, {&y}, options);
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->fault->kind, FaultKind::race) << record->fault->message;
}

}  // namespace
}  // namespace roofwalk::test
