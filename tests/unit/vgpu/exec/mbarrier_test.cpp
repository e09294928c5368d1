// mbarriers in shared memory: used by PTX instructions, and by libcu++ for cuda::barrier and cuda::pipeline on sm_80.
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

TEST(Mbarrier, PhasesCountsAndStates) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
#include <cstdint>
__global__ void k(float* out) {
  __shared__ uint64_t barrier;
  const unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    uint64_t state, other;
    unsigned pending, over, early;
    asm volatile("mbarrier.init.shared.b64 [%0], 5;" :: "r"(at) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    out[0] = pending;
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;" : "=l"(other) : "r"(at) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(other));
    out[1] = pending;
    asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(early) : "r"(at), "l"(state) : "memory");
    out[2] = early;
    asm volatile("mbarrier.arrive_drop.shared.b64 _, [%0];" :: "r"(at) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(other) : "r"(at) : "memory");
    asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(over) : "r"(at), "l"(state) : "memory");
    out[3] = over;
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(over) : "r"(at) : "memory");
    out[4] = over;
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 1; selp.u32 %0, 1, 0, p;}" : "=r"(over) : "r"(at) : "memory");
    out[5] = over;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    out[6] = pending;
    asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(at) : "memory");
  }
}
SOLVE(float* out) { k<<<1, 32>>>(out); }
)");
  Buffer out{"out", std::vector<float>(7, -1)};
  const auto record = Runner().run(kText, {&out});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  EXPECT_EQ(out.values, (std::vector<float>{5, 4, 0, 1, 1, 0, 4}));
}

const std::string& kBarrier = joined(R"(#include <roofwalk.cuh>
#include <cuda/barrier>
__global__ void k(const float* x, float* y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ float t[200];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  for (int round = 0; round < 3; ++round) {
    t[threadIdx.x] = x[threadIdx.x] + round;
    auto token = bar.arrive();
    bar.wait(std::move(token));
    y[200 * round + threadIdx.x] = t[199 - threadIdx.x];
    bar.arrive_and_wait();
  }
  if (threadIdx.x >= 100) { bar.arrive_and_drop(); return; }
  t[threadIdx.x] = 7;
  bar.arrive_and_wait();
  y[threadIdx.x] += t[99 - threadIdx.x];
}
SOLVE(const float* x, float* y) { k<<<1, 200>>>(x, y); }
)");

// Returns the text without the first place of `part`, in which `rest` stands instead.
std::string without(std::string text, const std::string& part, const std::string& rest = "") {
  return text.replace(text.find(part), part.size(), rest);
}

const std::string kBarrierOfOneWait = without(kBarrier, "    bar.arrive_and_wait();\n  }", "  }");
const bool kBarriersJoined = join({kBarrier, kBarrierOfOneWait});

TEST(Mbarrier, BarrierOfLibcuxx) {
  Buffer x{"x", numbers(200)}, y{"y", std::vector<float>(600)};
  const auto record = Runner().run(kBarrier, {&x, &y});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  for (std::size_t i = 0; i < 600; ++i) {
    const float more = i < 100 ? 7 : 0;
    ASSERT_EQ(y.values[i], x.values[199 - i % 200] + static_cast<float>(i / 200) + more) << i;
  }
}

// The second wait is missing: the next round's writer does not know that all threads have read this round's value.
TEST(Mbarrier, SanitizerSeesAMissingWait) {
  Buffer x{"x", numbers(200)}, y{"y", std::vector<float>(600)};
  const auto record = Runner().run(kBarrierOfOneWait, {&x, &y});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->fault->kind, FaultKind::race) << record->fault->message;
  EXPECT_EQ(record->fault->line, 9) << record->fault->message;
  EXPECT_NE(record->fault->message.find("reads at line 12"), std::string::npos) << record->fault->message;
}

const std::string& kPipeline = joined(R"(#include <roofwalk.cuh>
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
__global__ void k(const float* x, float* y, int n) {
  alignas(16) __shared__ float tile[2][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const float* mine = x + blockIdx.x * n * 128;
  float sum = 0;
  for (int fetched = 0, used = 0; used < n; ++used) {
    for (; fetched < n && fetched < used + 2; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile[fetched % 2], mine + 128 * fetched, cuda::aligned_size_t<16>(512), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += tile[used % 2][127 - threadIdx.x];
    pipe.consumer_release();
  }
  y[blockIdx.x * 128 + threadIdx.x] = sum;
}
SOLVE(const float* x, float* y, int n) { k<<<3, 128>>>(x, y, n); }
)");

const std::string kPipelineWithoutWait = without(kPipeline, "    pipe.consumer_wait();\n");
const bool kPipelinesJoined = join({kPipeline, kPipelineWithoutWait});

TEST(Mbarrier, PipelineOfTheBlock) {
  constexpr int n = 5;
  Buffer x{"x", numbers(3 * n * 128, 19)}, y{"y", std::vector<float>(3 * 128)};
  const auto record = Runner().run(kPipeline, {&x, &y, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    float sum = 0;
    for (std::size_t tile = 0; tile < n; ++tile) sum += x.values[(i / 128 * n + tile) * 128 + 127 - i % 128];
    ASSERT_EQ(y.values[i], sum) << i;
  }
}

TEST(Mbarrier, SanitizerSeesAPipelineThatDoesNotWait) {
  constexpr int n = 5;
  Buffer x{"x", numbers(3 * n * 128, 19)}, y{"y", std::vector<float>(3 * 128)};
  const auto record = Runner().run(kPipelineWithoutWait, {&x, &y, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->fault->kind, FaultKind::missing_wait) << record->fault->message;
  EXPECT_EQ(record->fault->line, 18);
}

// Two mbarriers for the `n` arrivals of a kernel's lanes, which part before they wait.
std::string parting_kernel(const std::string& body) {
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
__global__ void k(float* y, int n) {
  __shared__ unsigned long long gates[2];
  __shared__ float s[32];
  const int t = threadIdx.x;
  const unsigned gate = (unsigned)__cvta_generic_to_shared(gates), other = gate + 8;
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32; mbarrier.init.shared.b64 [%1], 12;"
                           ::"r"(gate), "r"(other) : "memory");
  __syncthreads();
  s[t] = t;
)" + body +
         "}\nSOLVE(float* y) { k<<<1, 32>>>(y, 12); }\n";
}

struct Parting {
  const char* name;
  const char* body;
};
void PrintTo(const Parting& parting, std::ostream* out) { *out << parting.name; }

const Parting kPartings[] = {
    {"OfATailThatArrivesAndEnds", R"(
  if (t >= n) {
    arrive(gate);
    return;
  }
  arrive(gate);
  wait(gate);
  y[t] = s[31 - t];
)"},
    {"OfAHeadThatArrivesAndEnds", R"(
  if (t < 32 - n) {
    arrive(gate);
    return;
  }
  arrive(gate);
  wait(gate);
  y[31 - t] = s[31 - t] + 31 - 2 * (31 - t);
)"},
    {"OfArmsThatWaitForEachOther", R"(
  arrive(gate);
  if (t < n) {
    wait(gate);
    y[t] = s[31 - t];
    arrive(other);
  } else {
    wait(other);
    s[t] = 0;
  }
)"},
    {"OfAThirdArm", R"(
  if (t < n) {
    arrive(gate);
    if (t % 3 == 0) {
      wait(other);
    } else {
      wait(gate);
      for (int i = 0; i < (t == 1 ? 5 : 1); ++i) arrive(other);
    }
    y[t] = s[31 - t];
  } else {
    arrive(gate);
  }
)"},
};

std::string parting_text(const Parting& parting) { return parting_kernel(parting.body); }
// Half of the tail never arrives.
const std::string kStuck = parting_kernel(
    "  if (t >= n) {\n    if (t % 2 == 0) arrive(gate);\n    return;\n  }\n"
    "  arrive(gate);\n  wait(gate);\n  y[t] = s[31 - t];\n");
const bool kPartingsJoined = join(map_to_text(kPartings, parting_text)) && join({kStuck});

class LanesThatPart : public testing::TestWithParam<Parting> {};

TEST_P(LanesThatPart, WaitForEachOtherAtAnMbarrier) {
  for (RunOptions options : {kSanitized, RunOptions{}}) {
    options.max_work = 50'000'000;
    Buffer y{"y", std::vector<float>(12)};
    const auto record = Runner().run(parting_text(GetParam()), {&y}, options);
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_FALSE(record->fault) << record->fault->message;
    for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(y.values[i], static_cast<float>(31 - i)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Mbarrier, LanesThatPart, testing::ValuesIn(kPartings),
                         [](const auto& each) { return each.param.name; });

TEST(Mbarrier, LanesThatNeverArriveAreWaitedForInVain) {
  Buffer y{"y", std::vector<float>(12)};
  RunOptions options;
  options.max_work = 5'000'000;
  const auto record = Runner().run(kStuck, {&y}, options);
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->fault->kind, FaultKind::runaway) << record->fault->message;
}

// Lane 31 of each warp fills stages that its lanes 0 to 3 use.
const std::string kPipelineOfAWarp = [] {
  std::string text = parting_kernel(R"(
}
__global__ void pipeline(float* y, const float* x, int n) {
  __shared__ unsigned long long gates[8][4];
  __shared__ float tile[8][2][4];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const unsigned full = (unsigned)__cvta_generic_to_shared(&gates[warp][0]), empty = full + 16;
  if (lane < 2) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(full + 8 * lane) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 4;" ::"r"(empty + 8 * lane) : "memory");
  }
  __syncwarp();
  if (lane == 31) {
    for (int k = 0; k < 8; ++k) {
      if (k >= 2) wait(empty + k % 2 * 8, (k / 2 - 1) % 2);
      for (int j = 0; j < 4; ++j) tile[warp][k % 2][j] = x[32 * warp + 4 * k + j];
      arrive(full + k % 2 * 8);
    }
  } else if (lane < 4) {
    for (int k = 0; k < 8; ++k) {
      wait(full + k % 2 * 8, k / 2 % 2);
      y[32 * warp + 4 * k + lane] = tile[warp][k % 2][lane];
      arrive(empty + k % 2 * 8);
    }
  }
)");
  text.resize(text.rfind("SOLVE"));
  return text + "SOLVE(float* y, const float* x) { pipeline<<<1, 256>>>(y, x, 256); }\n";
}();
const bool kPipelineOfAWarpJoined = join({kPipelineOfAWarp});

// On a GPU, both sides proceed at once. Here they take turns, at once, and not after a thousand vain polls.
TEST(Mbarrier, LanesOfAWarpThatAreAPipelineWaitForEachOtherBriefly) {
  for (const RunOptions& options : {kSanitized, RunOptions{}}) {
    Buffer x{"x", numbers(256, 19)}, y{"y", std::vector<float>(256)};
    const auto record = Runner().run(kPipelineOfAWarp, {&y, &x}, options);
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_FALSE(record->fault) << record->fault->message;
    EXPECT_EQ(y.values, x.values);
    if (record->time_is_modelled) {
      EXPECT_LT(record->elapsed_ns, 30e3);
    }
  }
}

// As in an atomic, lanes that arrive at one object take turns; those at other objects in other banks share one.
TEST(Mbarrier, ArrivalsAtOneObjectTakeTurns) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
#include <cstdint>
__global__ void k(float* y, int objects) {
  __shared__ uint64_t barriers[32];
  const unsigned at = (unsigned)__cvta_generic_to_shared(&barriers[threadIdx.x % objects]);
  asm volatile("mbarrier.init.shared.b64 [%0], 1000;" ::"r"((unsigned)__cvta_generic_to_shared(&barriers[threadIdx.x])) : "memory");
  __syncwarp();
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory");
  y[threadIdx.x] = 1;
}
SOLVE(float* y) { k<<<1, 32>>>(y, 1); k<<<1, 32>>>(y, 32); }
)");
  Buffer y{"y", std::vector<float>(32)};
  const auto record = Runner().run(kText, {&y});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  ASSERT_EQ(record->kernels.size(), 2u);
  EXPECT_EQ(record->kernels[0].counters[Counter::shared_wavefronts], 2u + 32u);
  EXPECT_EQ(record->kernels[1].counters[Counter::shared_wavefronts], 2u + 2u);
}

TEST(Mbarrier, TooManyArrivalsAreAFault) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
#include <cuda/barrier>
__global__ void k(float* y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, 2);
  __syncthreads();
  bar.arrive(5);
  y[threadIdx.x] = 1;
}
SOLVE(float* y) { k<<<1, 32>>>(y); }
)");
  Buffer y{"y", std::vector<float>(32)};
  const auto record = Runner().run(kText, {&y});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->fault->kind, FaultKind::barrier_deadlock);
  EXPECT_EQ(record->fault->line, 7);
}

}  // namespace
}  // namespace roofwalk::test
