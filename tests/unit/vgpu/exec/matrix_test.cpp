// mma, ldmatrix and cp.async from CUDA: compares results with references in double, and counts with counts by hand.
#include <bit>
#include <cmath>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

std::uint64_t count(const RunRecord& record, Counter counter) { return record.counters[counter].value_or(0); }

RunRecord must_run(const std::string& text, const std::vector<Runner::Argument>& arguments) {
  const auto record = Runner().run(text, arguments);
  EXPECT_TRUE(record.ok()) << record.error().text();
  if (!record) return {};
  EXPECT_FALSE(record->fault) << record->fault->message;
  return *record;
}

// Expects c (m x n) = a (m x k) b (k x n), row-major. All elements are whole numbers, so every sum is exact in float.
void expect_product(const Buffer& a, const Buffer& b, const Buffer& c, int m, int n, int k) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int x = 0; x < k; ++x) sum += static_cast<double>(a.values[i * k + x]) * b.values[x * n + j];
      ASSERT_EQ(c.values[i * n + j], sum) << i << "," << j;
    }
  }
}

// Returns a kernel in which one warp multiplies one tile, with fragments in the layouts of the PTX ISA.
std::string tile_kernel(const std::string& instruction, int k, int held, const std::string& factor) {
  const int wide = 4 * held, of_a = 2 * k / wide, of_b = k / wide;
  const std::string shape = "constexpr int K = " + std::to_string(k) + ", HELD = " + std::to_string(held) +
                            ", A = " + std::to_string(of_a) + ", B = " + std::to_string(of_b) + ";\n";
  const auto registers = [](char constraint, const char* name, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += std::string(i == 0 ? "" : ", ") + "\"" + constraint + "\"(" + name + "[" + std::to_string(i) + "])";
    }
    return text;
  };
  const auto names = [](int first, int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += (i == 0 ? "%" : ", %") + std::to_string(first + i);
    return text + "}";
  };
  return "#include <roofwalk.cuh>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" + shape + factor + R"(
__global__ void tile(const float* a, const float* b, float* c) {
  const int group = threadIdx.x / 4, place = threadIdx.x % 4;
  unsigned fa[A], fb[B];
  for (int r = 0; r < A; ++r) {
    unsigned bits = 0;
    for (int h = 0; h < HELD; ++h) {
      bits |= factor(a[(group + r % 2 * 8) * K + r / 2 * 4 * HELD + place * HELD + h]) << (32 / HELD * h % 32);
    }
    fa[r] = bits;
  }
  for (int r = 0; r < B; ++r) {
    unsigned bits = 0;
    for (int h = 0; h < HELD; ++h) bits |= factor(b[(r * 4 * HELD + place * HELD + h) * 8 + group]) << (32 / HELD * h % 32);
    fb[r] = bits;
  }
  float d[4];
  for (int r = 0; r < 4; ++r) d[r] = c[(group + r / 2 * 8) * 8 + place * 2 + r % 2];
  asm volatile("mma.sync.aligned.)" +
         instruction + " " + names(0, 4) + ", " + names(4, of_a) + ", " + names(4 + of_a, of_b) + ", " + names(0, 4) +
         ";\" : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]) : " + registers('r', "fa", of_a) + ", " +
         registers('r', "fb", of_b) + R"();
  for (int r = 0; r < 4; ++r) c[(group + r / 2 * 8) * 8 + place * 2 + r % 2] = d[r];
}
SOLVE(const float* a, const float* b, float* c) { tile<<<1, 32>>>(a, b, c); }
)";
}

constexpr const char* kHalfFactor =
    "__device__ unsigned factor(float x) { return __half_as_ushort(__float2half_rn(x)); }\n";
constexpr const char* kBfloatFactor =
    "__device__ unsigned factor(float x) { return __bfloat16_as_ushort(__float2bfloat16_rn(x)); }\n";
// Sets the low bits of a tf32 register, which must not matter.
constexpr const char* kTf32Factor = R"(__device__ unsigned factor(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits | 0x155;
}
)";

struct TileCase {
  const char* instruction;
  int k, held;
  const char* factor;
};

constexpr TileCase kTiles[] = {{"m16n8k16.row.col.f32.f16.f16.f32", 16, 2, kHalfFactor},
                               {"m16n8k8.row.col.f32.f16.f16.f32", 8, 2, kHalfFactor},
                               {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 2, kBfloatFactor},
                               {"m16n8k8.row.col.f32.bf16.bf16.f32", 8, 2, kBfloatFactor},
                               {"m16n8k8.row.col.f32.tf32.tf32.f32", 8, 1, kTf32Factor},
                               {"m16n8k4.row.col.f32.tf32.tf32.f32", 4, 1, kTf32Factor}};
const bool kTilesJoined =
    join(map_to_text(kTiles, [](const TileCase& of) { return tile_kernel(of.instruction, of.k, of.held, of.factor); }));

class Tile : public ::testing::TestWithParam<TileCase> {};

TEST_P(Tile, IsTheProductPlusC) {
  const TileCase& of = GetParam();
  Buffer a{"a", numbers(16 * of.k, 61)}, b{"b", numbers(of.k * 8, 37)}, c{"c", numbers(16 * 8, 9)};
  const std::vector<float> before = c.values;
  const RunRecord record = must_run(tile_kernel(of.instruction, of.k, of.held, of.factor), {&a, &b, &c});
  for (std::size_t i = 0; i < before.size(); ++i) c.values[i] -= before[i];
  expect_product(a, b, c, 16, 8, of.k);
  EXPECT_EQ(count(record, Counter::flops_tensor), 2u * 16 * 8 * of.k);
  EXPECT_EQ(count(record, Counter::flops_f32), 0u);
}

INSTANTIATE_TEST_SUITE_P(Mma, Tile, ::testing::ValuesIn(kTiles));

TEST(Mma, AddsInTheOrderOfK) {
  // Sums are added from left to right in f32: 2^24 + 1 loses the 1; after -2^24, the next addend is not lost.
  Buffer a{"a", std::vector<float>(16 * 16, 0)}, b{"b", std::vector<float>(16 * 8, 1)};
  Buffer c{"c", std::vector<float>(16 * 8, 0x1p24f)};
  a.values[0] = 1, a.values[1] = -4096, a.values[2] = 1;
  for (int j = 0; j < 8; ++j) b.values[8 + j] = 4096;
  must_run(tile_kernel("m16n8k16.row.col.f32.f16.f16.f32", 16, 2, kHalfFactor), {&a, &b, &c});
  EXPECT_EQ(c.values[0], 1.0f);
}

TEST(Mma, NeedsTheWholeWarp) {
  std::string text = tile_kernel("m16n8k8.row.col.f32.f16.f16.f32", 8, 2, kHalfFactor);
  text.replace(text.find("<<<1, 32>>>"), 11, "<<<1, 24>>>");
  Buffer a{"a", numbers(16 * 8)}, b{"b", numbers(8 * 8)}, c{"c", numbers(16 * 8)};
  const auto record = Runner().run(text, {&a, &b, &c});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault.has_value());
  EXPECT_EQ(record->fault->kind, FaultKind::barrier_deadlock);
  EXPECT_EQ(record->fault->message, "mma reached by only 24 threads of the warp: all 32 must execute it together");
}

TEST(Mma, RoundsToTf32AwayFromZeroInTies) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void k(const float* x, float* y) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x[threadIdx.x]));
  y[threadIdx.x] = __uint_as_float(bits);
}
SOLVE(const float* x, float* y) { k<<<1, 4>>>(x, y); }
)");
  Buffer x{"x", {1 + 0x1p-11f, -1 - 0x1p-11f, 1 + 0x1.fp-12f, 0x1.fffffep127f}}, y{"y", std::vector<float>(4)};
  must_run(kText, {&x, &y});
  EXPECT_EQ(y.values, (std::vector<float>{1 + 0x1p-10f, -1 - 0x1p-10f, 1, INFINITY}));
}

// Returns a kernel that stores in y what each thread gets from ldmatrix. The rows hold numbered halves and are
// `pitch_bytes` apart.
std::string load_matrix_kernel(int matrices, bool transposed, int pitch_bytes) {
  const std::string outputs[] = {"{%0}", "{%0, %1}", "{%0, %1, %2, %3}"};
  const int kind = matrices == 4 ? 2 : matrices - 1;
  const std::string address = "%" + std::to_string(matrices);
  std::string results;
  for (int i = 0; i < matrices; ++i) {
    results += std::string(i == 0 ? "" : ", ") + "\"=r\"(r[" + std::to_string(i) + "])";
  }
  return "#include <roofwalk.cuh>\nconstexpr int PITCH = " + std::to_string(pitch_bytes / 2) +
         ", N = " + std::to_string(matrices) + R"(;
__global__ void k(float* y) {
  __shared__ __align__(16) unsigned short s[32 * PITCH];
  for (int i = threadIdx.x; i < 8 * N * 8; i += 32) s[i / 8 * PITCH + i % 8] = i;
  __syncthreads();
  unsigned r[N], at = (unsigned)__cvta_generic_to_shared(s + threadIdx.x % (8 * N) * PITCH);
  asm volatile("ldmatrix.sync.aligned.m8n8.x)" +
         std::to_string(matrices) + (transposed ? ".trans" : "") + ".shared.b16 " + outputs[kind] + ", [" + address +
         "];\" : " + results + R"( : "r"(at));
  for (int i = 0; i < N; ++i) {
    y[(i * 32 + threadIdx.x) * 2] = r[i] & 0xffff;
    y[(i * 32 + threadIdx.x) * 2 + 1] = r[i] >> 16;
  }
}
SOLVE(float* y) { k<<<1, 32>>>(y); }
)";
}

// Bytes between rows, and in how many turns a matrix is then loaded. Rows 16 bytes apart cover the 32 banks; with 32
// bytes, two rows conflict; with 128, all eight; with 144, none.
constexpr std::pair<int, int> kPitches[] = {{16, 1}, {32, 2}, {64, 4}, {128, 8}, {144, 1}, {80, 1}};

const bool kLoadMatrixJoined = [] {
  std::vector<std::string> texts =
      map_to_text(kPitches, [](const auto& pitch) { return load_matrix_kernel(4, false, pitch.first); });
  for (const int matrices : {1, 2, 4}) {
    for (const bool transposed : {false, true}) texts.push_back(load_matrix_kernel(matrices, transposed, 16));
  }
  return join(texts);
}();

TEST(LoadMatrix, GivesEachThreadTwoNeighboursOfItsRowOrColumn) {
  for (const int matrices : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      Buffer y{"y", std::vector<float>(static_cast<std::size_t>(matrices) * 64)};
      const RunRecord record = must_run(load_matrix_kernel(matrices, transposed, 16), {&y});
      for (int i = 0; i < matrices; ++i) {
        for (int l = 0; l < 32; ++l) {
          for (int h = 0; h < 2; ++h) {
            const int major = l / 4, minor = l % 4 * 2 + h;
            const int row = transposed ? minor : major, column = transposed ? major : minor;
            ASSERT_EQ(y.values[(i * 32 + l) * 2 + h], (i * 8 + row) * 8 + column) << matrices << transposed << l;
          }
        }
      }
      EXPECT_EQ(count(record, Counter::shared_load_requests), 1u);
    }
  }
}

TEST(LoadMatrix, TakesOneTurnAMatrixUnlessRowsMeetInABank) {
  for (const auto& [pitch, turns] : kPitches) {
    Buffer y{"y", std::vector<float>(256)};
    const RunRecord record = must_run(load_matrix_kernel(4, false, pitch), {&y});
    for (const LineCounters& line : record.kernels[0].lines) {
      if (line.counters[Counter::shared_load_requests] == 0u) continue;
      EXPECT_EQ(line.counters[Counter::shared_wavefronts], 4u * turns) << pitch;
      EXPECT_EQ(line.counters[Counter::shared_bank_conflicts], 4u * (turns - 1)) << pitch;
      EXPECT_EQ(line.counters[Counter::shared_bytes], 512u) << pitch;
    }
  }
}

TEST(LoadMatrix, RowsAreMultiplesOf16Bytes) {
  std::string text = load_matrix_kernel(1, false, 16);
  text.replace(text.find("\"r\"(at)"), 7, "\"r\"(at + 8)");
  Buffer y{"y", std::vector<float>(64)};
  const auto record = Runner().run(text, {&y});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault.has_value());
  EXPECT_EQ(record->fault->message,
            "misaligned: reads 16 bytes at byte 8 of shared memory, which is not a multiple of 16");
}

// Returns a plan of two launches in which one warp copies 32 pieces, one per lane, and stores them to y.
std::string copy_kernel(const std::string& instruction, int bytes, const std::string& read = "") {
  return "#include <roofwalk.cuh>\nconstexpr int WORDS = " + std::to_string(bytes / 4) + R"(;
__global__ void k(const float* x, float* y, int n) {
  __shared__ __align__(16) float s[32 * 4];
  for (int w = 0; w < WORDS; ++w) s[threadIdx.x * WORDS + w] = -1;
  const float* from = x + threadIdx.x * WORDS;
  unsigned to = (unsigned)__cvta_generic_to_shared(s + threadIdx.x * WORDS);
  asm volatile("cp.async.)" +
         instruction + " [%0], [%1], " + std::to_string(bytes) + (read.empty() ? "" : ", %2") + R"(;"
    :: "r"(to), "l"(__cvta_generic_to_global(from)))" +
         (read.empty() ? "" : ", \"r\"(" + read + ")") + R"( : "memory");
  asm volatile("cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;" ::: "memory");
  __syncwarp();
  for (int w = 0; w < WORDS; ++w) y[threadIdx.x * WORDS + w] = s[threadIdx.x * WORDS + w];
}
SOLVE(const float* x, float* y, int n) { k<<<1, 32>>>(x, y, n); k<<<1, 32>>>(x, y, n); }
)";
}

const bool kCopiesJoined =
    join({copy_kernel("ca.shared.global", 4), copy_kernel("ca.shared.global", 8), copy_kernel("ca.shared.global", 16),
          copy_kernel("cg.shared.global.L2::128B", 16), copy_kernel("cg.shared.global", 16),
          copy_kernel("ca.shared.global", 16, "threadIdx.x % 5 * 4"), copy_kernel("ca.shared.global", 16, "n")});

// Returns the counters of the copy's line, in one of the two launches.
Counters of_copy(const RunRecord& record, std::size_t launch) {
  for (const LineCounters& line : record.kernels.at(launch).lines) {
    if (line.counters[Counter::global_load_requests].value_or(0) != 0) return line.counters;
  }
  return {};
}

TEST(AsyncCopy, CountsAsALoadAndAsAStoreOfShared) {
  for (const int bytes : {4, 8, 16}) {
    for (const bool past_l1 : {false, true}) {
      if (past_l1 && bytes != 16) continue;
      const auto words = static_cast<std::size_t>(bytes) * 8;
      Buffer x{"x", numbers(words, 1001)}, y{"y", std::vector<float>(words)};
      const char* instruction = past_l1 ? "cg.shared.global.L2::128B" : "ca.shared.global";
      const RunRecord record = must_run(copy_kernel(instruction, bytes), {&x, &y, 0});
      EXPECT_EQ(y.values, x.values) << bytes;
      const Counters counters = of_copy(record, 0);
      EXPECT_EQ(counters[Counter::global_load_requests], 1u);
      EXPECT_EQ(counters[Counter::shared_store_requests], 1u);
      EXPECT_EQ(counters[Counter::l1_read_sectors], static_cast<std::uint64_t>(bytes));
      EXPECT_EQ(counters[Counter::l1_lines], static_cast<std::uint64_t>(bytes) / 4);
      EXPECT_EQ(counters[Counter::l1_read_hit_sectors], 0u);
      EXPECT_EQ(counters[Counter::l2_read_sectors], static_cast<std::uint64_t>(bytes));
      EXPECT_EQ(counters[Counter::dram_read_bytes], 32u * static_cast<std::uint64_t>(bytes));
      EXPECT_EQ(counters[Counter::shared_bytes], 32u * static_cast<std::uint64_t>(bytes));
      EXPECT_EQ(counters[Counter::shared_wavefronts], static_cast<std::uint64_t>(bytes) / 4);
      EXPECT_EQ(counters[Counter::shared_bank_conflicts], 0u);
      // The second launch finds the data in L2.
      EXPECT_EQ(of_copy(record, 1)[Counter::l2_read_hit_sectors], static_cast<std::uint64_t>(bytes));
    }
  }
}

TEST(AsyncCopy, FillsL1OnlyThroughIt) {
  for (const char* cache : {"ca", "cg"}) {
    const std::string text = std::string(R"(#include <roofwalk.cuh>
__global__ void k(const float* x, float* y) {
  __shared__ __align__(16) float s[32 * 4];
  unsigned to = (unsigned)__cvta_generic_to_shared(s + threadIdx.x * 4);
  for (int i = 0; i < 2; ++i) {
    asm volatile("cp.async.)") +
                             cache + R"(.shared.global [%0], [%1], 16; cp.async.wait_all;"
                 :: "r"(to), "l"(x + threadIdx.x * 4) : "memory");
  }
  __syncwarp();
  y[threadIdx.x] = s[threadIdx.x] + x[threadIdx.x * 4];
}
SOLVE(const float* x, float* y) { k<<<1, 32>>>(x, y); }
)";
    Buffer x{"x", numbers(128)}, y{"y", std::vector<float>(32)};
    const RunRecord record = must_run(text, {&x, &y});
    const bool through = std::string(cache) == "ca";
    // The copies read 16 sectors twice, and the load reads all of them again.
    EXPECT_EQ(count(record, Counter::l1_read_sectors), 48u);
    EXPECT_EQ(count(record, Counter::l1_read_hit_sectors), through ? 32u : 0u) << cache;
    EXPECT_EQ(count(record, Counter::l2_read_sectors), through ? 16u : 48u) << cache;
  }
}

TEST(AsyncCopy, FillsWhatItDoesNotReadWithZeros) {
  Buffer x{"x", numbers(128, 1001)}, y{"y", std::vector<float>(128)};
  const RunRecord record = must_run(copy_kernel("ca.shared.global", 16, "threadIdx.x % 5 * 4"), {&x, &y, 0});
  for (int i = 0; i < 128; ++i) EXPECT_EQ(y.values[i], i % 4 < i / 4 % 5 ? x.values[i] : 0.0f) << i;
  EXPECT_EQ(of_copy(record, 0)[Counter::shared_bytes], 512u);

  // A lane that reads nothing may have any address and counts nothing; here all lanes do so.
  Buffer all{"x", numbers(4)}, zeros{"y", std::vector<float>(128, 5)};
  const RunRecord none = must_run(copy_kernel("ca.shared.global", 16, "n"), {&all, &zeros, 0});
  EXPECT_EQ(zeros.values, std::vector<float>(128, 0));
  EXPECT_EQ(count(none, Counter::global_load_requests), 0u);
  EXPECT_EQ(count(none, Counter::l1_read_sectors), 0u);
}

TEST(AsyncCopy, FaultsOnBothSides) {
  const auto fault = [](const std::string& text, std::size_t words, int n) {
    Buffer x{"x", numbers(words)}, y{"y", std::vector<float>(128)};
    const auto record = Runner().run(text, {&x, &y, n});
    EXPECT_TRUE(record.ok()) << record.error().text();
    return record && record->fault ? record->fault->message : "none";
  };
  const std::string plain = copy_kernel("cg.shared.global", 16);
  EXPECT_EQ(fault(plain, 120, 0),
            "out of bounds: reads x[120] (16 bytes at once), but x holds 120 elements of 4 bytes");
  std::string odd = plain, beyond = plain;
  odd.replace(odd.find("\"l\"(__cvta_generic_to_global(from)"), 34, "\"l\"(__cvta_generic_to_global(from + 1)");
  EXPECT_EQ(fault(odd, 200, 0), "misaligned: reads 16 bytes at byte 4 of x, which is not a multiple of 16");
  beyond.replace(beyond.find("\"r\"(to)"), 7, "\"r\"(to + 16)");
  EXPECT_EQ(fault(beyond, 200, 0),
            "out of bounds: writes element 128 of s, which is outside: the block has 512 bytes of shared memory");
  EXPECT_EQ(fault(copy_kernel("ca.shared.global", 16, "n"), 128, 17),
            "out of bounds: copies 16 bytes to shared memory, but is told to read 17");
  // Only 12 of the last 16 bytes exist.
  EXPECT_EQ(fault(copy_kernel("ca.shared.global", 16, "threadIdx.x == 31 ? n : 16"), 127, 12), "none");
  EXPECT_EQ(fault(copy_kernel("ca.shared.global", 16, "threadIdx.x == 31 ? n : 16"), 127, 16),
            "out of bounds: reads x[124] (16 bytes at once), but x holds 127 elements of 4 bytes");
}

// Scales tiles of 256 floats: the next tile is loaded while the current one is scaled.
TEST(AsyncCopy, DoubleBufferedTilesByThePipelinePrimitives) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
#include <cuda_pipeline.h>
__global__ void scale(const float* x, float* y, int n, float f) {
  __shared__ __align__(16) float tile[2][256];
  const int tiles = ceil_div(n, 256), t = threadIdx.x;
  const auto fetch = [&](int which) {
    const int at = which * 256 + t * 4;
    const int left = n - at;
    const int words = left < 0 ? 0 : left > 4 ? 4 : left;
    __pipeline_memcpy_async(&tile[which % 2][t * 4], x + (words == 0 ? 0 : at), 16, 16 - words * 4);
  };
  fetch(0);
  __pipeline_commit();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) fetch(i + 1);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int j = t; j < 256 && i * 256 + j < n; j += 64) y[i * 256 + j] = f * tile[i % 2][j];
    __syncthreads();
  }
}
SOLVE(const float* x, float* y, int n, float f) { scale<<<1, 64>>>(x, y, n, f); }
)");
  constexpr int n = 2000 - 2;
  Buffer x{"x", numbers(n, 1001)}, y{"y", std::vector<float>(n)};
  const RunRecord record = must_run(kText, {&x, &y, n, 0.5f});
  for (int i = 0; i < n; ++i) ASSERT_EQ(y.values[i], 0.5f * x.values[i]) << i;
  // 250 sectors hold x. nvcc uses one instruction per number of bytes, so the thread that reads only two floats
  // requests the last sector once more.
  EXPECT_EQ(count(record, Counter::l1_read_sectors), 251u);
  EXPECT_EQ(count(record, Counter::l1_read_hit_sectors), 0u);
}

// fp16 tiles in shared memory, padded so that rows do not conflict; four warps compute 32 x 32 each.
TEST(Mma, GemmWithLoadMatrixAndAsyncCopies) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
#include <cuda_fp16.h>
constexpr int N = 64, PITCH = N + 8;
__global__ void narrow(const float* x, half* y) { y[blockIdx.x * 256 + threadIdx.x] = __float2half_rn(x[blockIdx.x * 256 + threadIdx.x]); }
__global__ void gemm(const half* a, const half* b, float* c) {
  __shared__ __align__(16) half as[N * PITCH], bs[N * PITCH];
  for (int i = threadIdx.x * 8; i < N * N; i += 128 * 8) {
    const int at = i / N * PITCH + i % N;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(as + at)), "l"(a + i));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(bs + at)), "l"(b + i));
  }
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp / 2 * 32, column = warp % 2 * 32;
  float sums[2][4][4] = {};
  for (int k = 0; k < N; k += 16) {
    unsigned fa[2][4], fb[4][2];
    for (int i = 0; i < 2; ++i) {
      const half* at = as + (row + i * 16 + lane % 16) * PITCH + k + lane / 16 * 8;
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3])
                   : "r"((unsigned)__cvta_generic_to_shared(at)));
    }
    for (int j = 0; j < 4; ++j) {
      const half* at = bs + (k + lane % 16) * PITCH + column + j * 8;
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                   : "=r"(fb[j][0]), "=r"(fb[j][1]) : "r"((unsigned)__cvta_generic_to_shared(at)));
    }
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 4; ++j) {
        float* d = sums[i][j];
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]));
      }
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int h = 0; h < 2; ++h) {
        float2* at = (float2*)(c + (row + i * 16 + lane / 4 + h * 8) * N + column + j * 8 + lane % 4 * 2);
        *at = make_float2(sums[i][j][2 * h], sums[i][j][2 * h + 1]);
      }
    }
  }
}
SOLVE(const float* a, const float* b, float* c) {
  half* ha = scratch<half>(N * N);
  half* hb = scratch<half>(N * N);
  narrow<<<16, 256>>>(a, ha);
  narrow<<<16, 256>>>(b, hb);
  gemm<<<1, 128>>>(ha, hb, c);
}
)");
  constexpr int n = 64;
  Buffer a{"a", numbers(n * n, 61)}, b{"b", numbers(n * n, 37)}, c{"c", std::vector<float>(n * n)};
  const RunRecord record = must_run(kText, {&a, &b, &c});
  expect_product(a, b, c, n, n, n);
  ASSERT_EQ(record.kernels.size(), 3u);
  const Counters& gemm = record.kernels[2].counters;
  EXPECT_EQ(gemm[Counter::flops_tensor], 2u * n * n * n);
  // Global memory: each 16-bit element is read once, 2 matrices x 8 KiB. Shared memory: these 16 KiB are written, and 4
  // warps x 4 steps read (2 x 512 + 4 x 256) bytes.
  EXPECT_EQ(gemm[Counter::l1_read_sectors], 512u);
  EXPECT_EQ(gemm[Counter::shared_bytes], 16384u + 4 * 4 * 2048);
  EXPECT_EQ(gemm[Counter::shared_bank_conflicts], 0u);
  EXPECT_EQ(gemm[Counter::shared_wavefronts], (16384u + 4 * 4 * 2048) / 128);
}

}  // namespace
}  // namespace roofwalk::test
