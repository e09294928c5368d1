// Communication between threads of a warp or block: votes, matches, reductions, shuffles, named and counting barriers;
// and queries of the virtual GPU's properties.
#include <gmock/gmock.h>

#include <bit>
#include <set>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// Returns a kernel with this body. It is launched with one block of n threads.
std::string exchanging_kernel(const std::string& body) {
  return "#include <roofwalk.cuh>\n#include <cstdint>\n__global__ void k(float* out, int n) {\n"
         "  const unsigned t = threadIdx.x, lane = t % 32;\n" +
         body + "\n}\nSOLVE(float* out, int n) { k<<<1, n>>>(out, n); }\n";
}

// Runs it with an `out` of `count` floats.
std::vector<float> values_of(const std::string& text, int threads, std::size_t count) {
  Buffer out{"out", std::vector<float>(count, -1)};
  const auto record = Runner().run(text, {&out, threads});
  EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
  EXPECT_FALSE(record.ok() && record->fault) << record->fault->message;
  return out.values;
}

TEST(WarpExchange, ReductionsOfIntegersAndBits) {
  const auto values = values_of(JOINT(exchanging_kernel(R"(
  int v = 7 * (int)(t % 13) - 40;
  unsigned u = t * 2654435761u;
  out[t] = __reduce_add_sync(~0u, v);
  out[32 + t] = __reduce_min_sync(~0u, v);
  out[64 + t] = __reduce_max_sync(~0u, v);
  out[96 + t] = __reduce_min_sync(~0u, u >> 8);
  out[128 + t] = __reduce_max_sync(~0u, u >> 8);
  out[160 + t] = __reduce_and_sync(~0u, u | 0xf0) >> 4;
  out[192 + t] = __reduce_or_sync(~0u, u & 0xff);
  out[224 + t] = __reduce_xor_sync(~0u, u) & 0xffff;)")),
                                32, 256);
  int sum = 0, low = 1000, high = -1000;
  std::uint32_t least = ~0u, most = 0, all = ~0u, any = 0, odd = 0;
  for (std::uint32_t t = 0; t < 32; ++t) {
    const int v = 7 * static_cast<int>(t % 13) - 40;
    const std::uint32_t u = t * 2654435761u;
    sum += v, low = std::min(low, v), high = std::max(high, v);
    least = std::min(least, u >> 8), most = std::max(most, u >> 8);
    all &= u | 0xf0, any |= u & 0xff, odd ^= u;
  }
  const float expected[] = {float(sum),  float(low),      float(high), float(least),
                            float(most), float(all >> 4), float(any),  float(odd & 0xffff)};
  for (std::size_t t = 0; t < 256; ++t) EXPECT_EQ(values[t], expected[t / 32]) << t;
}

// One instruction for four groups of eight lanes, each group with its own mask. Groups do not affect each other.
TEST(WarpExchange, GroupsWithMasksOfTheirOwn) {
  const auto values = values_of(JOINT(exchanging_kernel(R"(
  const unsigned mask = 0xffu << (lane / 8 * 8);
  out[t] = __reduce_add_sync(mask, (int)t);
  out[32 + t] = __popc(__ballot_sync(mask, t % 3 == 0));
  out[64 + t] = __any_sync(mask, t == 17);
  out[96 + t] = __all_sync(mask, t >= 8);
  out[128 + t] = __uni_sync(mask, t >= 12);
  out[160 + t] = __popc(__match_any_sync(mask, t % 2));
  int same = 0;
  out[192 + t] = __popc(__match_all_sync(mask, t / 8, &same)) + 100 * same;
  out[224 + t] = __popc(__match_all_sync(mask, (long long)t, &same)) + 100 * same;)")),
                                32, 256);
  for (int t = 0; t < 32; ++t) {
    const int group = t / 8;
    const auto at = static_cast<std::size_t>(t);
    EXPECT_EQ(values[at], float(64 * group + 28)) << t;
    int thirds = 0;
    for (int other = 8 * group; other < 8 * group + 8; ++other) thirds += other % 3 == 0;
    EXPECT_EQ(values[32 + at], float(thirds)) << t;
    EXPECT_EQ(values[64 + at], float(group == 2)) << t;
    EXPECT_EQ(values[96 + at], float(group > 0)) << t;
    EXPECT_EQ(values[128 + at], float(group != 1)) << t;
    EXPECT_EQ(values[160 + at], 4) << t;
    EXPECT_EQ(values[192 + at], 108) << t;
    EXPECT_EQ(values[224 + at], 0) << t;
  }
}

// The last warp has 8 live threads, of which only the odd ones take part.
TEST(WarpExchange, DivergedLanesOfAPartialWarp) {
  const auto values = values_of(JOINT(exchanging_kernel(R"(
  if (t % 2 == 1) {
    const unsigned here = __activemask();
    out[t] = __popc(here);
    out[40 + t] = __reduce_add_sync(here, (int)t);
    out[80 + t] = __shfl_xor_sync(here, t, 2);
    out[120 + t] = __match_any_sync(here, t & 2) >> 1;
  })")),
                                40, 160);
  for (std::size_t t = 1; t < 40; t += 2) {
    const bool last = t >= 32;
    EXPECT_EQ(values[t], last ? 4 : 16);
    EXPECT_EQ(values[40 + t], last ? 33 + 35 + 37 + 39 : 256);
    EXPECT_EQ(values[80 + t], float(t ^ 2));
    std::uint32_t same = 0;
    for (std::uint32_t l = 1; l < (last ? 8u : 32u); l += 2) same |= (l & 2) == (t & 2) ? 1u << l : 0u;
    EXPECT_EQ(values[120 + t], float(same >> 1)) << t;
  }
}

TEST(WarpExchange, ShuffleTellsWhetherItsSourceIsInRange) {
  const auto values = values_of(JOINT(exchanging_kernel(R"(
  unsigned v, in;
  asm volatile("{.reg .pred p; shfl.sync.down.b32 %0|p, %2, 3, 0x1f, 0xffffffff; selp.u32 %1, 1, 0, p;}" : "=r"(v), "=r"(in) : "r"(t * 10));
  out[t] = v;
  out[32 + t] = in;)")),
                                32, 64);
  for (std::size_t t = 0; t < 32; ++t) {
    EXPECT_EQ(values[t], t < 29 ? float(10 * (t + 3)) : float(10 * t));
    EXPECT_EQ(values[32 + t], t < 29 ? 1 : 0);
  }
}

TEST(BlockExchange, BarriersThatCount) {
  const auto values = values_of(JOINT(exchanging_kernel(R"(
  out[t] = __syncthreads_count(t % 3 == 0);
  out[100 + t] = __syncthreads_and(t < 100) + 10 * __syncthreads_and(t < 99);
  out[200 + t] = __syncthreads_or(t == 99) + 10 * __syncthreads_or(t > 99);)")),
                                100, 300);
  for (std::size_t t = 0; t < 100; ++t) {
    EXPECT_EQ(values[t], 34);
    EXPECT_EQ(values[100 + t], 1);
    EXPECT_EQ(values[200 + t], 1);
  }
}

// Warp 0 produces, warp 1 consumes; other warps take no part. Barrier 1 signals "produced", barrier 2 "consumed".
// Barrier 2's number is in a register.
TEST(BlockExchange, NamedBarriersForTwoWarps) {
  const auto values = values_of(JOINT(exchanging_kernel(R"(
  __shared__ float slot[32];
  const int full = 1, empty = n / 64;
  if (t < 32) {
    for (int i = 0; i < 3; ++i) {
      if (i > 0) asm volatile("barrier.sync %0, 64;" :: "r"(empty) : "memory");
      slot[lane] = 100 * i + lane;
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
  } else if (t < 64) {
    float sum = 0;
    for (int i = 0; i < 3; ++i) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      sum += slot[31 - lane];
      if (i < 2) asm volatile("barrier.arrive %0, 64;" :: "r"(empty) : "memory");
    }
    out[lane] = sum;
  })")),
                                128, 32);
  for (std::size_t lane = 0; lane < 32; ++lane) EXPECT_EQ(values[lane], float(300 + 3 * (31 - lane)));
}

TEST(BlockExchange, ReductionAtANamedBarrier) {
  const auto values = values_of(JOINT(exchanging_kernel(R"(
  if (t < 64) {
    unsigned count;
    asm volatile("{.reg .pred p; setp.lt.u32 p, %1, 40; bar.red.popc.u32 %0, 3, 64, !p;}" : "=r"(count) : "r"(t) : "memory");
    out[t] = count;
  })")),
                                96, 64);
  for (const float value : values) EXPECT_EQ(value, 24);
}

TEST(MachineQuestions, IdsMasksAndSpaces) {
  const auto values = values_of(JOINT(exchanging_kernel(R"(
  __shared__ float here;
  float mine[2] = {1, 2};
  unsigned id, count, warps, lt, ge;
  asm volatile("mov.u32 %0, %smid;" : "=r"(id));
  asm volatile("mov.u32 %0, %nsmid;" : "=r"(count));
  asm volatile("mov.u32 %0, %nwarpid;" : "=r"(warps));
  asm volatile("mov.u32 %0, %lanemask_lt;" : "=r"(lt));
  asm volatile("mov.u32 %0, %lanemask_ge;" : "=r"(ge));
  float* dynamic = n > 1000 ? mine : out;
  out[t] = (id < count) + 10 * (count > 1) + 100 * (warps >= 2) + 1000 * (__popc(lt) == lane) + 10000 * ((lt ^ ge) == ~0u);
  out[64 + t] = __isGlobal(dynamic) + 10 * __isShared(&here) + 100 * __isLocal(mine) + 1000 * __isShared(dynamic) + 10000 * __isConstant(dynamic);)")),
                                64, 128);
  for (std::size_t t = 0; t < 64; ++t) {
    EXPECT_EQ(values[t], 11111) << t;
    EXPECT_EQ(values[64 + t], 111) << t;
  }
}

// PTX promises no more of a warp's number than that the block's other warps have others, and none that SMs are numbered
// without gaps. Kernels that count on more are wrong here, too.
TEST(MachineQuestions, WarpsAndSmsHaveNumbersOfTheirOwn) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void k(float* out) {
  unsigned warp, warps, sm, sms;
  asm volatile("mov.u32 %0, %warpid;" : "=r"(warp));
  asm volatile("mov.u32 %0, %nwarpid;" : "=r"(warps));
  asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %nsmid;" : "=r"(sms));
  __shared__ unsigned numbers[32];
  numbers[threadIdx.x / 32] = warp;
  __syncthreads();
  unsigned others = 0;
  for (unsigned w = 0; w < blockDim.x / 32; ++w) others += w != threadIdx.x / 32 && numbers[w] == warp;
  const bool is_sound = others == 0 && warp < warps && warp != threadIdx.x / 32 && sm < sms;
  out[blockIdx.x * blockDim.x + threadIdx.x] = is_sound ? sm : -1.0f;
}
SOLVE(float* out, int n) { k<<<8, n>>>(out); }
)");
  Buffer out{"out", std::vector<float>(8 * 1024)};
  ASSERT_TRUE(Runner().run(kText, {&out, 1024}).ok());
  std::set<float> sms(out.values.begin(), out.values.end());
  EXPECT_THAT(sms, testing::ElementsAre(0, 2, 3, 4, 5, 6, 7, 8));
}

// A chain takes as long by the clock of a warp that is alone as by that of one among many blocks.
TEST(MachineQuestions, AClockTellsAWarpItsOwnTime) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void k(float* out) {
  unsigned long long then, now;
  float x = out[blockIdx.x];
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(then) : "f"(x) : "memory");
  const long long before = clock64();
#pragma unroll 1
  for (int i = 0; i < 100; ++i) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
  const long long behind = clock64();
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now) : "f"(x) : "memory");
  if (threadIdx.x == 0) out[2 * blockIdx.x] = behind - before, out[2 * blockIdx.x + 1] = now - then;
}
SOLVE(float* out, int n) { k<<<n, 256>>>(out); }
)");
  Buffer alone{"out", std::vector<float>(128)}, many{"out", std::vector<float>(128)};
  ASSERT_TRUE(Runner().run(kText, {&alone, 1}).ok());
  ASSERT_TRUE(Runner().run(kText, {&many, 64}).ok());
  EXPECT_GT(alone.values[0], 100);
  EXPECT_LT(alone.values[0], 2000);
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(many.values[i], alone.values[i % 2]) << i;
}

TEST(MachineQuestions, ClocksGoForwardAndSleepEnds) {
  const auto values = values_of(JOINT(exchanging_kernel(R"(
  const long long before = clock64();
  unsigned long long then, now;
  unsigned low, high;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(then));
  __nanosleep(100);
  __threadfence(); __threadfence_block(); __threadfence_system();
  asm volatile("fence.acq_rel.gpu; fence.sc.cta;" ::: "memory");
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  asm volatile("mov.u32 %0, %globaltimer_lo;" : "=r"(low));
  asm volatile("mov.u32 %0, %clock_hi;" : "=r"(high));
  out[t] = (clock64() > before) + 10 * (now > then) + 100 * (low >= (unsigned)now) + 1000 * (high == 0);)")),
                                64, 64);
  for (const float value : values) EXPECT_EQ(value, 1111);
}

}  // namespace
}  // namespace roofwalk::test
