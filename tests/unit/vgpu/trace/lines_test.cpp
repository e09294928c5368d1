// Compares counters per source line with counts by hand. Where requests are counted, the kernel runs one warp, so each
// access is one request.
#include <algorithm>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

const std::string& kLook = joined(R"(#include <roofwalk.cuh>
__device__ float at_stride(const float* a, int stride) {
  return a[threadIdx.x * stride];  // 3: in a function
}
template <int kStride>
__device__ float from_bank(const float* s) {
  return s[threadIdx.x * kStride];  // 7: in a template
}
__global__ void look(const float* a, float* c, int stride) {
  __shared__ float s[32 * 32];
  for (int i = threadIdx.x; i < 32 * 32; i += 32) s[i] = 1;
  __syncthreads();
  float sum = a[threadIdx.x];
  sum += at_stride(a, stride);
  sum += from_bank<32>(s);
  sum += s[threadIdx.x * 2];
  if (threadIdx.x < 8) {
    sum = sum * a[threadIdx.x + 64];
  }
  sum += __shfl_xor_sync(0xffffffff, sum, 1);
  const float4 wide = reinterpret_cast<const float4*>(a)[threadIdx.x * 2];
  c[threadIdx.x] = sum + wide.x + wide.y + wide.z + wide.w;
}
SOLVE(const float* a, float* c, int stride) { look<<<1, 32>>>(a, c, stride); }
)");

class Lines : public ::testing::Test {
 protected:
  Lines() {
    Buffer a{"a", numbers(1024)}, c{"c", std::vector<float>(32)};
    auto record = Runner().run(kLook, {&a, &c, 8});
    EXPECT_TRUE(record.ok()) << record.error().text();
    if (record) kernel_ = record->kernels.at(0);
  }

  std::uint64_t count(int line, Counter counter) const {
    for (const LineCounters& of_line : kernel_.lines) {
      if (of_line.line == line) return of_line.counters[counter].value_or(0);
    }
    return 0;
  }
  std::uint64_t sectors(int line) const { return count(line, Counter::l1_read_sectors); }
  std::uint64_t ideal(int line) const { return count(line, Counter::l1_ideal_sectors); }

  KernelRecord kernel_;
};

TEST_F(Lines, ALoadSideBySideTakesTheFewestSectors) {
  EXPECT_EQ(sectors(13), 4u);  // 32 x 4 bytes
  EXPECT_EQ(ideal(13), 4u);
}

TEST_F(Lines, AStridedLoadCountsAtTheFunctionThatWasInlined) {
  EXPECT_EQ(count(3, Counter::global_load_requests), 1u);
  EXPECT_EQ(sectors(3), 32u);
  EXPECT_EQ(ideal(3), 4u);
  EXPECT_EQ(sectors(14), 0u);  // the line of the call counts none
  const auto line = std::find_if(kernel_.lines.begin(), kernel_.lines.end(), [](const auto& l) { return l.line == 3; });
  EXPECT_EQ(line->callers, std::vector<int>{14});
  ASSERT_EQ(line->loads.size(), 1u);
  EXPECT_EQ(line->loads[0].sectors, 32);
}

TEST_F(Lines, AWideLoadIsHeldAgainstAllOfItsBytes) {
  EXPECT_EQ(sectors(21), 32u);  // every second float4 is read, so half of each sector is used
  EXPECT_EQ(ideal(21), 16u);
}

TEST_F(Lines, BankConflictsCountTheirWays) {
  EXPECT_EQ(count(7, Counter::shared_wavefronts), 32u);
  EXPECT_EQ(count(7, Counter::shared_bank_conflicts), 31u);
  EXPECT_EQ(count(16, Counter::shared_wavefronts), 2u);
  EXPECT_EQ(count(16, Counter::shared_bank_conflicts), 1u);
  EXPECT_EQ(count(11, Counter::shared_wavefronts), 32u);  // 32 stores of one wavefront each
  EXPECT_EQ(count(11, Counter::shared_bank_conflicts), 0u);
}

TEST_F(Lines, ADivergentBranchLeavesLanesIdleInItsBody) {
  EXPECT_EQ(count(17, Counter::divergent_branches), 1u);
  EXPECT_EQ(count(18, Counter::thread_instructions), 8 * count(18, Counter::warp_instructions));
  EXPECT_EQ(count(18, Counter::flops_f32), 8u);
  EXPECT_EQ(sectors(18), 1u);  // 8 x 4 bytes
  EXPECT_EQ(ideal(18), 1u);
  EXPECT_EQ(count(13, Counter::thread_instructions), 32 * count(13, Counter::warp_instructions));
}

TEST_F(Lines, CodeOfAHeaderCountsAtTheLineThatCallsIt) {
  EXPECT_EQ(count(20, Counter::flops_f32), 32u);
  EXPECT_GT(count(20, Counter::warp_instructions), 1u);  // the shuffle's own line is in a header of the toolkit
}

TEST_F(Lines, AddUpToTheKernel) {
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (!is_of_lines(counter)) continue;
    std::uint64_t all = 0;
    for (const LineCounters& line : kernel_.lines) all += line.counters[counter].value_or(0);
    EXPECT_EQ(all, kernel_.counters[counter].value_or(~0ull)) << counter_name(counter);
  }
  WarpCycles waits;
  for (const LineCounters& line : kernel_.lines) waits.add(line.waits);
  EXPECT_NEAR(waits.total(), kernel_.waits.total() - kernel_.waits[Wait::tail], 1e-6 * kernel_.waits.total());
}

// The ideal sectors of cp.async follow from the number of bytes that it copies. Waits for copies are not requests.
TEST(LinesOfCopies, HaveTheirFewestSectorsToo) {
  const std::string& kCopy = JOINT(
      "#include <cuda_pipeline.h>\n"
      R"(#include <roofwalk.cuh>
__global__ void copy(const float* a, float* c) {
  __shared__ float s[32];
  __pipeline_memcpy_async(&s[threadIdx.x], &a[threadIdx.x * 8], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  c[threadIdx.x] = s[threadIdx.x];
}
SOLVE(const float* a, float* c) { copy<<<1, 32>>>(a, c); }
)");
  Buffer a{"a", numbers(256)}, c{"c", std::vector<float>(32)};
  const auto record = Runner().run(kCopy, {&a, &c});
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_EQ(record->counters[Counter::l1_read_sectors], 32u);
  EXPECT_EQ(record->counters[Counter::l1_ideal_sectors], 4u + 4u);  // the second 4 are the store of c
  EXPECT_EQ(record->counters[Counter::l1_uncoalesced_sectors], 32u);
  EXPECT_EQ(record->counters[Counter::l1_uncoalesced_ideal_sectors], 4u);
}

// Groups of four lanes load the same vector, which is half a sector; groups of eight lanes load the same word.
TEST(LinesOfSharedElements, CountWhatLanesShareOnce) {
  const std::string& kShared = JOINT(R"(#include <roofwalk.cuh>
__global__ void share(const float* a, float* c) {
  const float4 v = *(const float4*)(a + threadIdx.x % 8 * 32);
  const float w = a[threadIdx.x % 4 * 32];
  c[threadIdx.x] = v.x + v.y + v.z + v.w + w;
}
SOLVE(const float* a, float* c) { share<<<1, 32>>>(a, c); }
)");
  Buffer a{"a", numbers(256)}, c{"c", std::vector<float>(32)};
  const auto record = Runner().run(kShared, {&a, &c});
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_EQ(record->counters[Counter::l1_read_sectors], 8u + 4u);
  EXPECT_EQ(record->counters[Counter::l1_ideal_sectors], 4u + 4u + 4u);  // the last 4 are the store of c
  EXPECT_EQ(record->counters[Counter::l1_uncoalesced_sectors], 8u);  // the vectors: 32 lanes need 4 sectors at least
  EXPECT_EQ(record->counters[Counter::l1_uncoalesced_ideal_sectors], 4u);
}

// One instruction loads a column, and then a word for all lanes: the sectors that the second request shares do not make
// up for those that the first one wastes. One cp.async reads a column of a, half of each copy's bytes, and then none.
TEST(LinesOfMixedRequests, HaveTheFewestSectorsOfEachRequest) {
  const std::string& kMix = JOINT(R"(#include <roofwalk.cuh>
__global__ void mix(const float* a, float* c) {
  __shared__ alignas(8) float s[64];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&s[threadIdx.x * 2]));
  float sum = 0;
#pragma unroll 1
  for (int i = 8; i >= 0; i -= 8) {
    sum += a[threadIdx.x * i];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(a + threadIdx.x * 8), "r"(i / 2));
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
  c[threadIdx.x] = sum + s[threadIdx.x * 2];
}
SOLVE(const float* a, float* c) { mix<<<1, 32>>>(a, c); }
)");
  Buffer a{"a", numbers(256)}, c{"c", std::vector<float>(32)};
  const auto record = Runner().run(kMix, {&a, &c});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  const auto count = [&](int number, Counter counter) {
    for (const LineCounters& line : record->kernels[0].lines) {
      if (line.line == number) return line.counters[counter].value_or(0);
    }
    return std::uint64_t{0};
  };
  EXPECT_EQ(count(8, Counter::l1_read_sectors), 32u + 1u);
  EXPECT_EQ(count(8, Counter::l1_ideal_sectors), 4u + 1u);
  EXPECT_EQ(count(9, Counter::l1_read_sectors), 32u);
  EXPECT_EQ(count(9, Counter::l1_ideal_sectors), 4u);
}

// At each barrier one warp is late: at the first because of a load; at the second, long after all loads, because of a
// dependent chain through shared memory.
TEST(LinesOfBarriers, KnowWhatTheLastWarpWaitedFor) {
  const std::string& kHold = JOINT(R"(#include <roofwalk.cuh>
__global__ void hold(const float* a, float* c) {
  __shared__ int next[64];
  next[threadIdx.x] = (threadIdx.x + 1) % 64;
  if (threadIdx.x < 32) {
    next[threadIdx.x] = __float_as_int(a[threadIdx.x]);
  }
  __syncthreads();
  int at = threadIdx.x;
  if (threadIdx.x >= 32) {
    for (int i = 0; i < 64; ++i) at = next[at];
  }
  __syncthreads();
  c[threadIdx.x] = at;
}
SOLVE(const float* a, float* c) { hold<<<1, 64>>>(a, c); }
)");
  Buffer a{"a", std::vector<float>(32)}, c{"c", std::vector<float>(64)};
  const auto record = Runner().run(kHold, {&a, &c});
  ASSERT_TRUE(record.ok()) << record.error().text();
  const auto held_up = [&](int number) {
    for (const LineCounters& line : record->kernels[0].lines) {
      if (line.line == number) return line.held_up;
    }
    return std::vector<HeldUpBy>{};
  };
  ASSERT_FALSE(held_up(8).empty());
  EXPECT_EQ(held_up(8)[0].line, 6);
  EXPECT_EQ(wait_name(held_up(8)[0].wait), "dram");
  ASSERT_FALSE(held_up(13).empty());
  EXPECT_EQ(held_up(13)[0].line, 11);
  EXPECT_EQ(wait_name(held_up(13)[0].wait), "shared");
  for (const HeldUpBy& part : held_up(13)) EXPECT_NE(wait_name(part.wait), "dram");
}

}  // namespace
}  // namespace roofwalk::test
