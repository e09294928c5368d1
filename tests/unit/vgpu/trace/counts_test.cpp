// Compares counters with exact counts by hand.
#include "common/base/json.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

std::uint64_t count(const RunRecord& record, Counter counter) { return record.counters[counter].value_or(0); }

const std::string& kAdd = joined(R"(#include <roofwalk.cuh>
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
SOLVE(const float* a, const float* b, float* c, int n) { add<<<ceil_div(n, 256), 256>>>(a, b, c, n); }
)");

std::string naive_gemm(const char* row, const char* column, const char* grid) {
  return std::string("#include <roofwalk.cuh>\n") +
         "__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {\n  int row = " + row +
         ";\n  int col = " + column +
         ";\n  if (row >= m || col >= n) return;\n  float sum = 0;\n"
         "  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];\n  c[row * n + col] = sum;\n}\n"
         "SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {\n  gemm<<<" +
         grid + ", dim3(32, 8)>>>(a, b, c, m, n, k);\n}\n";
}

const std::string kCoalesced = naive_gemm("blockIdx.y * 8 + threadIdx.y", "blockIdx.x * 32 + threadIdx.x",
                                          "dim3(ceil_div(n, 32), ceil_div(m, 8))");
const std::string kUncoalesced = naive_gemm("blockIdx.x * 32 + threadIdx.x", "blockIdx.y * 8 + threadIdx.y",
                                            "dim3(ceil_div(m, 32), ceil_div(n, 8))");

const std::string& kTiled = joined(R"(#include <roofwalk.cuh>
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[16][16], bs[16][16];
  int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  for (int t = 0; t < k; t += 16) {
    as[y][x] = a[row * k + t + x];
    bs[y][x] = b[(t + y) * n + col];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += as[y][i] * bs[i][x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}
SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
  gemm<<<dim3(n / 16, m / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
}
)");

const std::string& kOwnArray = joined(R"(#include <roofwalk.cuh>
__global__ void pick(const float* a, const float* b, float* c, int n) {
  float values[4];
  for (unsigned i = 0; i < 4; ++i) values[(i + n) % 4] = a[threadIdx.x];
  c[threadIdx.x] = values[(threadIdx.x + n) % 4];
}
SOLVE(const float* a, const float* b, float* c, int n) { pick<<<1, 32>>>(a, b, c, n); }
)");

void expect_product(const Buffer& a, const Buffer& b, const Buffer& c, int n) {
  for (int i = 0; i < n; i += 5) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a.values[i * n + k] * b.values[k * n + j];
      ASSERT_EQ(c.values[i * n + j], sum) << i << "," << j;  // small integers: exact in any order
    }
  }
}

// Sums of atomics are computed in L2 or in shared memory, so they count as atomic FLOPs, not as FLOPs of an SM. Integer
// atomics count as neither.
TEST(Counts, SumsOfAtomicsApart) {
  Buffer c{"c", std::vector<float>(64)};
  const auto record = Runner().run(R"(#include <roofwalk.cuh>
__global__ void sum(float* c, int n) {
  __shared__ float s;
  __shared__ int k;
  if (threadIdx.x == 0) s = 0, k = 0;
  __syncthreads();
  if (threadIdx.x < 20) atomicAdd(&s, 1.0f);
  atomicAdd(&k, 1);
  __syncthreads();
  atomicAdd(&c[threadIdx.x], s * k);
}
SOLVE(float* c, int n) { sum<<<1, 64>>>(c, n); }
)",
                                   {&c, 64});
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_EQ(c.values, std::vector<float>(64, 20.0f * 64));
  EXPECT_EQ(count(*record, Counter::atomic_flops), 20u + 64u);
  EXPECT_EQ(count(*record, Counter::flops_f32), 64u);
}

// Blocks wait for those behind them by loads that L1 may serve, or by copies; a thread walks along their flags. What
// another block writes comes from L2.
TEST(Counts, PlainPollsPassL1) {
  const std::string& kPolls = JOINT(R"(#include <roofwalk.cuh>
template <bool copies>
__global__ void wait(unsigned* flags) {
  __shared__ unsigned copied;
  const unsigned to = (unsigned)__cvta_generic_to_shared(&copied), next = blockIdx.x + 1;
  unsigned seen = next == gridDim.x;
  while (seen == 0) {
    if (copies) {
      asm volatile("cp.async.ca.shared.global [%1], [%2], 4; cp.async.wait_all; ld.shared.u32 %0, [%1];"
                   : "=r"(seen) : "r"(to), "l"(flags + next) : "memory");
    } else {
      asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(seen) : "l"(flags + next) : "memory");
    }
  }
  atomicExch(flags + blockIdx.x, 1u);
}
__global__ void walk(const unsigned* flags, float* c) {
  unsigned at = 0, seen = 1;
  while (seen != 0) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(seen) : "l"(flags + at++) : "memory");
  c[0] = at;
}
SOLVE(float* c, int n) {
  unsigned* flags = scratch<unsigned>(64);
  cudaMemsetAsync(flags, 0, 256);
  wait<false><<<16, 1>>>(flags);
  cudaMemsetAsync(flags, 0, 256);
  wait<true><<<16, 1>>>(flags);
  walk<<<1, 1>>>(flags, c);
}
)");
  Buffer c{"c", std::vector<float>(1)};
  const auto record = Runner().run(kPolls, {&c, 1}, {});  // sanitized runs reject such polls
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_EQ(c.values[0], 17);
  for (const std::size_t waits : {1, 3}) {
    const Counters& counters = record->kernels[waits].counters;
    EXPECT_GT(counters[Counter::l1_read_sectors], 15u);
    EXPECT_EQ(counters[Counter::l1_read_hit_sectors], 0u);
  }
  EXPECT_EQ(record->kernels[4].counters[Counter::l1_read_hit_sectors], 14u);  // of 17 loads from three sectors
}

// On request, the record names the line that last wrote given bytes, in a kernel or a memset.
TEST(Counts, TheLineThatWroteLast) {
  const std::string& kLines = JOINT(R"(#include <roofwalk.cuh>
__global__ void fill(float* c, int n) {
  c[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x % 2 == 1)
    c[threadIdx.x] = 2;
  if (threadIdx.x == 4)
    atomicAdd(&c[5], 1.0f);
}
SOLVE(float* c, int n) {
  fill<<<1, 32>>>(c, n);
  cudaMemsetAsync(c + 8, 0, 16);
}
)");
  const auto line_of = [&](std::uint64_t element, bool sanitized = true) {
    Runner runner;
    const auto memory = *runner.device().allocate("c", 64 * 4, 4);
    const auto record =
        runner.run(kLines, {memory, 64},
                   {.sanitize = sanitized, .watched_address = memory.address + 4 * element, .watched_bytes = 4});
    EXPECT_TRUE(record.ok() && !record->fault);
    return record.ok() ? record->watched_line : -1;
  };
  EXPECT_EQ(line_of(2), 3);
  EXPECT_EQ(line_of(3), 6);
  EXPECT_EQ(line_of(5), 8);
  EXPECT_EQ(line_of(8), 12);
  EXPECT_EQ(line_of(40), 0);        // no line wrote it
  EXPECT_EQ(line_of(3, false), 0);  // not requested
}

TEST(Counts, CoalescedVectorAdd) {
  constexpr int n = 1 << 20;
  Buffer a{"a", numbers(n)}, b{"b", numbers(n, 11)}, c{"c", std::vector<float>(n)};
  const auto record = Runner().run(kAdd, {&a, &b, &c, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_EQ(count(*record, Counter::flops_f32), 1'048'576u);
  EXPECT_EQ(count(*record, Counter::dram_read_bytes), 8'388'608u);
  EXPECT_EQ(count(*record, Counter::dram_write_bytes), 4'194'304u);
  EXPECT_EQ(count(*record, Counter::l1_read_sectors), 262'144u);
  EXPECT_EQ(count(*record, Counter::l1_write_sectors), 131'072u);
  EXPECT_EQ(count(*record, Counter::l2_read_sectors) + count(*record, Counter::l2_write_sectors), 393'216u);
  EXPECT_EQ(count(*record, Counter::global_load_requests), 65'536u);
  EXPECT_EQ(count(*record, Counter::divergent_branches), 0u);
  for (int i = 0; i < n; ++i) ASSERT_EQ(c.values[i], a.values[i] + b.values[i]);
}

TEST(Counts, TailOfVectorAdd) {
  constexpr int n = 33;  // one whole warp and one thread
  Buffer a{"a", numbers(n)}, b{"b", numbers(n)}, c{"c", std::vector<float>(n)};
  const auto record = Runner().run(kAdd, {&a, &b, &c, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_EQ(count(*record, Counter::flops_f32), 33u);
  EXPECT_EQ(count(*record, Counter::l1_read_sectors), 2u * (4 + 1));
  EXPECT_EQ(count(*record, Counter::l1_write_sectors), 4u + 1);
  EXPECT_EQ(count(*record, Counter::divergent_branches), 1u);
  // The last sector of c is written only in part, so its write-back costs one read from DRAM.
  EXPECT_EQ(count(*record, Counter::dram_read_bytes), 32u * (2 * 5 + 1));
  EXPECT_EQ(count(*record, Counter::dram_write_bytes), 32u * 5);
}

// Each thread writes all words of a local array and reads one. Each global access is by a whole warp, to four sectors.
TEST(Counts, LocalMemoryIsCountedApart) {
  constexpr int n = 32;
  Buffer a{"a", numbers(n)}, b{"b", numbers(n)}, c{"c", std::vector<float>(n)};
  const auto record = Runner().run(kOwnArray, {&a, &b, &c, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  const auto all = count(*record, Counter::l1_read_sectors) + count(*record, Counter::l1_write_sectors);
  const auto global = count(*record, Counter::global_load_requests) + count(*record, Counter::global_store_requests);
  EXPECT_GT(count(*record, Counter::local_sectors), 0u);
  EXPECT_EQ(count(*record, Counter::local_sectors), all - 4 * global);
  // All other writes to L1 are the four sectors of c.
  EXPECT_EQ(count(*record, Counter::local_write_sectors), count(*record, Counter::l1_write_sectors) - 4);
  EXPECT_EQ(record->kernels[0].spilled_bytes_per_thread, 0u);  // an array of the kernel is no spill
}

TEST(Counts, NaiveGemmCoalesced) {
  constexpr int n = 256;
  Buffer a{"a", numbers(n * n)}, b{"b", numbers(n * n, 5)}, c{"c", std::vector<float>(n * n)};
  const auto record = Runner().run(kCoalesced, {&a, &b, &c, n, n, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_EQ(count(*record, Counter::flops_f32), 2ull * n * n * n);
  // For each warp and k: one sector of a (a broadcast) and four of b.
  EXPECT_EQ(count(*record, Counter::l1_read_sectors), 2'621'440u);
  EXPECT_EQ(count(*record, Counter::l1_write_sectors), 8'192u);
  EXPECT_EQ(count(*record, Counter::dram_write_bytes), 4ull * n * n);
  EXPECT_EQ(count(*record, Counter::shared_wavefronts), 0u);
  expect_product(a, b, c, n);
}

TEST(Counts, NaiveGemmUncoalesced) {
  constexpr int n = 256;
  Buffer a{"a", numbers(n * n)}, b{"b", numbers(n * n, 5)}, c{"c", std::vector<float>(n * n)};
  const auto record = Runner().run(kUncoalesced, {&a, &b, &c, n, n, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  // For each warp and k: 32 sectors of a (one per row) and one of b. 2n^3 / (32 x 33/32 x n^3 bytes) = 0.0606 FLOP/B.
  EXPECT_EQ(count(*record, Counter::l1_read_sectors), 33ull * n * n * n / 32);
  EXPECT_EQ(count(*record, Counter::l1_write_sectors), 1ull * n * n);
  expect_product(a, b, c, n);
}

TEST(Counts, TiledGemm) {
  constexpr int n = 256;
  Buffer a{"a", numbers(n * n)}, b{"b", numbers(n * n, 5)}, c{"c", std::vector<float>(n * n)};
  const auto record = Runner().run(kTiled, {&a, &b, &c, n, n, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_EQ(count(*record, Counter::flops_f32), 2ull * n * n * n);
  // Each element of a and b is read for 16 tiles of c: 2 x 16 x n^2 x 4 bytes, or 8 sectors per warp and pair of tiles
  // (4 of a, 4 of b).
  EXPECT_EQ(count(*record, Counter::l1_read_sectors), 2ull * 16 * n * n / 8);
  // For each warp and pair of tiles: 2 stores, 16 loads of `bs` and 4 of `as`, all without conflicts. A store writes
  // two rows of 16 words; a load of `bs` reads one row. ptxas merges four loads at neighbouring columns of `as` into
  // one of 16 bytes; the lanes of each half warp load the same ones, so it takes a wavefront for each half.
  constexpr std::uint64_t kWarpTiles = std::uint64_t{n} * n / 32 * (n / 16);
  EXPECT_EQ(record->kernels[0].shared_counts_from, CountsFrom::sass);
  EXPECT_EQ(count(*record, Counter::shared_load_requests), kWarpTiles * (16 + 4));
  EXPECT_EQ(count(*record, Counter::shared_store_requests), kWarpTiles * 2);
  EXPECT_EQ(count(*record, Counter::shared_wavefronts), kWarpTiles * (2 + 16 + 4 * 2));
  // Bytes are those of the PTX: two words a lane for each step along k.
  EXPECT_EQ(count(*record, Counter::shared_bytes), kWarpTiles * 32 * 4 * (2 + 2 * 16));
  EXPECT_EQ(count(*record, Counter::shared_bank_conflicts), 0u);
  EXPECT_EQ(count(*record, Counter::barriers), kWarpTiles * 2);
  expect_product(a, b, c, n);
}

TEST(Counts, EveryByteBelongsToOneLine) {
  constexpr int n = 64;
  Buffer a{"a", numbers(n * n)}, b{"b", numbers(n * n, 5)}, c{"c", std::vector<float>(n * n)};
  const auto record = Runner().run(kTiled, {&a, &b, &c, n, n, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (!is_of_lines(counter)) continue;
    std::uint64_t of_lines = 0;
    for (const LineCounters& line : record->kernels[0].lines) of_lines += line.counters[counter].value_or(0);
    EXPECT_EQ(of_lines, count(*record, counter)) << counter_name(counter);
  }
}

TEST(Counts, StridesCostTheirSectors) {
  const std::string& kStride = JOINT(R"(#include <roofwalk.cuh>
__global__ void pick(const float* a, float* c, int stride) { c[threadIdx.x] = a[threadIdx.x * stride]; }
SOLVE(const float* a, float* c, int stride) { pick<<<1, 32>>>(a, c, stride); }
)");
  for (const int stride : {1, 2, 4, 8, 16, 32}) {
    Buffer a{"a", numbers(32 * 32)}, c{"c", std::vector<float>(32)};
    const auto record = Runner().run(kStride, {&a, &c, stride});
    ASSERT_TRUE(record.ok()) << record.error().text();
    EXPECT_EQ(count(*record, Counter::l1_read_sectors), std::min(4u * stride, 32u)) << stride;
  }
}

TEST(Counts, OneElementForAllThreadsIsOneSector) {
  const std::string& kSame = JOINT(R"(#include <roofwalk.cuh>
__global__ void same(const float* a, float* c) { c[5] = a[3]; }
SOLVE(const float* a, float* c) { same<<<1, 64>>>(a, c); }
)");
  Buffer a{"a", numbers(32)}, c{"c", std::vector<float>(32)};
  const auto record = Runner().run(kSame, {&a, &c});
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_EQ(count(*record, Counter::l1_read_sectors), 2u);
  EXPECT_EQ(count(*record, Counter::l1_write_sectors), 2u);
  EXPECT_EQ(count(*record, Counter::dram_write_bytes), 32u);
  EXPECT_EQ(count(*record, Counter::dram_read_bytes), 64u);  // a's sector, and the fill of c's partly written one
  EXPECT_EQ(c.values[5], a.values[3]);
}

TEST(Counts, BankConflictsCostTheirWavefronts) {
  const std::string& kBanks = JOINT(R"(#include <roofwalk.cuh>
__global__ void pick(const float* a, float* c, int stride) {
  __shared__ float s[32 * 33];
  for (int i = threadIdx.x; i < 32 * 33; i += 32) s[i] = a[i % 32];
  __syncthreads();
  c[threadIdx.x] = s[threadIdx.x * stride];
}
SOLVE(const float* a, float* c, int stride) { pick<<<1, 32>>>(a, c, stride); }
)");
  for (const int stride : {0, 1, 2, 4, 8, 16, 32, 33}) {
    Buffer a{"a", numbers(32)}, c{"c", std::vector<float>(32)};
    const auto record = Runner().run(kBanks, {&a, &c, stride});
    ASSERT_TRUE(record.ok()) << record.error().text();
    const std::uint64_t ways = stride == 0 || stride == 33 ? 1 : stride;
    EXPECT_EQ(count(*record, Counter::shared_wavefronts), 33 + ways) << stride;
    EXPECT_EQ(count(*record, Counter::shared_bank_conflicts), ways - 1) << stride;
  }
}

// 48 threads of two warps; 40 take part. Every second one counts in global memory, and all count in shared memory.
TEST(Counts, AtomicsCountTheirLanes) {
  const std::string& kAtomics = JOINT(R"(#include <roofwalk.cuh>
__device__ void count_at(int* at) { atomicAdd(at, 1); }
__global__ void tally(float* c, int n, int nowhere) {
  __shared__ int s[4];
  if (threadIdx.x < 4) s[threadIdx.x] = 0;
  __syncthreads();
  int i = threadIdx.x;
  if (i < n) {
    atomicAdd(&s[i % 4], 1);
    if (i % 2 == 0) atomicAdd(&c[0], 1.0f);
    if (i == 7) atomicExch(&c[1], 3.0f);
    count_at(i % 4 == nowhere ? (int*)&c[2] : &s[0]);
  }
}
SOLVE(float* c, int n, int nowhere) { tally<<<1, 48>>>(c, n, nowhere); }
)");
  Buffer c{"c", std::vector<float>(4)};
  const auto record = Runner().run(kAtomics, {&c, 40, 3});
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_EQ(c.values[0], 20);
  EXPECT_EQ(count(*record, Counter::atomic_operations), 20u + 1u + 10u);
  EXPECT_EQ(count(*record, Counter::atomic_flops), 20u);
}

// One block of two warps on one SM of eight: the other SMs have nothing to do. The warps leave the barrier together.
TEST(Counts, SmsAndWarpsAreCountedOverTheWholeTime) {
  const std::string& kFew = JOINT(R"(#include <roofwalk.cuh>
__global__ void few(float* c, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum = sum * 0.5f + 1;
  __syncthreads();
  c[blockIdx.x * 64 + threadIdx.x] = sum;
}
SOLVE(float* c, int blocks, int n) { few<<<blocks, 64>>>(c, n); }
)");
  const auto machine = load_machine("classroom");
  ASSERT_TRUE(machine.ok());
  double active_of_one = 0;
  for (const int blocks : {1, 8}) {
    Buffer c{"c", std::vector<float>(512)};
    const auto record = Runner().run(kFew, {&c, blocks, 10'000});
    ASSERT_TRUE(record.ok()) << record.error().text();
    const double cycles = record->elapsed_ns * 1e-9 * machine->clock_hz;
    const auto of = [&](Counter counter) { return static_cast<double>(count(*record, counter)); };
    EXPECT_NEAR(of(Counter::sm_cycles), 8 * cycles, 1);
    EXPECT_LE(of(Counter::sm_active_cycles), blocks * cycles);
    EXPECT_GE(of(Counter::sm_active_cycles), 0.9 * blocks * cycles);
    EXPECT_NEAR(of(Counter::scheduler_cycles), machine->schedulers_per_sm * of(Counter::sm_active_cycles), 4);
    EXPECT_NEAR(of(Counter::resident_warp_cycles), 2 * of(Counter::sm_active_cycles), 0.01 * blocks * cycles);
    EXPECT_FALSE(record->counters[Counter::machine_warp_instructions].has_value());
    if (blocks == 1) active_of_one = of(Counter::sm_active_cycles);
    EXPECT_NEAR(of(Counter::sm_active_cycles), blocks * active_of_one, 0.01 * blocks * cycles);
  }
}

TEST(Counts, OperationsOnIntegersCount) {
  const std::string& kIntegers = JOINT(R"(#include <roofwalk.cuh>
__global__ void sums(const float* a, float* c, int n) {
  const int* from = (const int*)a;
  int x = from[0], sum = 0;
  for (int i = 0; i < n; ++i) sum = sum * x + x;
  ((int*)c)[0] = sum;
}
SOLVE(const float* a, float* c, int n) { sums<<<1, 1>>>(a, c, n); }
)");
  const auto operations = [&](int n) {
    Buffer a{"a", numbers(4)}, c{"c", std::vector<float>(4)};
    const auto record = Runner().run(kIntegers, {&a, &c, n});
    EXPECT_TRUE(record.ok()) << record.error().text();
    EXPECT_EQ(count(*record, Counter::flops_f32), 0u);
    return count(*record, Counter::integer_operations);
  };
  // A round is one multiplication and one addition; the loop counts up by one, once for each group of rounds.
  const std::uint64_t more = operations(1400) - operations(600);
  EXPECT_GE(more, 800u * 2);
  EXPECT_LE(more, 800u * 3);
}

TEST(Counts, MemsetAndCopyCount) {
  const std::string& kSteps = JOINT(R"(#include <roofwalk.cuh>
__global__ void touch(float* c) { c[threadIdx.x] += 1; }
SOLVE(const float* a, float* c, int n) {
  float* s = scratch<float>(n);
  cudaMemsetAsync(s, 0, n * 4);
  cudaMemcpyAsync(c, a, n * 4, cudaMemcpyDeviceToDevice);
  cudaMemcpyAsync(c, s, 128, cudaMemcpyDeviceToDevice);
  touch<<<1, 32>>>(c);
  cudaDeviceSynchronize();
  if (cudaGetLastError() != cudaSuccess) return;
}
)");
  constexpr int n = 1024;
  Buffer a{"a", numbers(n)}, c{"c", std::vector<float>(n)};
  const auto record = Runner().run(kSteps, {&a, &c, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_EQ(record->kernels.size(), 4u);
  EXPECT_EQ(record->kernels[0].name, "memset");
  EXPECT_EQ(record->kernels[1].name, "memcpy");
  EXPECT_EQ(record->kernels[3].name, "touch");
  EXPECT_EQ(record->kernels[0].line, 5);
  // DRAM reads: only a, because the scratch is still in L2. DRAM writes: the scratch and c, once each, at the end.
  EXPECT_EQ(count(*record, Counter::dram_read_bytes), 4096u);
  EXPECT_EQ(count(*record, Counter::dram_write_bytes), 2 * 4096u);
  for (int i = 0; i < n; ++i) ASSERT_EQ(c.values[i], i < 32 ? 1.0f : a.values[i]) << i;
}

TEST(Counts, RepeatToTheBit) {
  constexpr int n = 128;
  Buffer a{"a", numbers(n * n)}, b{"b", numbers(n * n, 5)}, c{"c", std::vector<float>(n * n)};
  Runner runner;
  const auto artifact = compile(kUncoalesced);
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  const auto first = runner.run(*artifact, {&a, &b, &c, n, n, n});
  Buffer other{"x", numbers(999)};
  const auto between = runner.run(kAdd, {&other, &other, &other, 999});
  const auto second = runner.run(*artifact, {&a, &b, &c, n, n, n});
  ASSERT_TRUE(first.ok() && between.ok() && second.ok());
  EXPECT_EQ(json_line(to_json(*first)), json_line(to_json(*second)));
}

}  // namespace
}  // namespace roofwalk::test
