// Accesses to shared memory that only something orders which, by the rules, orders no memory: they give a warning.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// The body of a kernel after `kLuckHead`, run with 64 threads and two blocks. `// @` marks the line of the warning, if
// any.
struct Luck {
  const char* name;
  const char* body;
  const char* says = "";
};

constexpr const char* kLuckHead = R"(#include <roofwalk.cuh>
__global__ void k(float* c) {
  __shared__ float s[64];
  __shared__ volatile int flag;
  __shared__ int lock;
  const int t = threadIdx.x, lane = t % 32;
  float x = 0;
  s[t] = 0;
  if (t == 0) flag = lock = 0;
  __syncthreads();
)";

const Luck kOnlyExchanges[] = {
    {"Shuffle", R"(
  s[t] = t;
  const int one = __shfl_sync(~0u, 1, 0);
  x = s[t ^ one];  // @
)",
     "race by luck: reads element 1 of s, which thread (1, 0, 0) writes at line "},
    {"ShuffleOfAHalf", R"(
  s[t] = t;
  if (lane < 16) {
    const int one = __shfl_sync(0xffffu, 1, 0);
    x = s[t ^ one];  // @
  }
)",
     "only an exchange of the warp (a shuffle, vote, match, reduction or matrix load) lies between"},
    {"MatrixLoad", R"(
  __shared__ __align__(32) unsigned short tile[256];
  for (int i = t; i < 256; i += 64) tile[i] = 0;
  __syncthreads();
  s[t] = t;
  unsigned r[8];
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], 16;"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
               : "r"((unsigned)__cvta_generic_to_shared(tile)) : "memory");
  x = s[t ^ 1] + r[0];  // @
)",
     "race by luck: reads element 1 of s, which thread (1, 0, 0) writes at line "},
    {"Vote", R"(
  x = s[t ^ 1];
  if (__any_sync(~0u, lane == 3)) s[t] = t;  // @
)",
     "race by luck: writes element"},
    {"ShuffleThatTellsWhatOneLaneWaitedFor", R"(
  if (t >= 32) {
    s[t] = t;
    __syncwarp();
    __threadfence_block();
    if (t == 32) flag = 1;
  } else {
    if (t == 0) while (flag == 0) {}
    const int next = __shfl_sync(~0u, 32, 0);
    x = s[t + next];  // @
  }
)",
     "lies between, which orders no memory: put a __syncwarp() there"},
    {"ShuffleBehindASyncwarpOfSome", R"(
  s[t] = t;
  __syncwarp(lane < 16 ? 0xffffu : 0xffff0000u);
  x = s[t ^ 1];
  const int distance = __shfl_sync(~0u, 16, 0);
  x += s[t ^ distance];  // @
)",
     "race by luck: reads element"},
};

const Luck kVolatile[] = {
    {"ALoadBehindAStore", R"(
  volatile float* const v = s;
  v[t] = t;
  x = v[t ^ 1];  // @
)",
     "race by luck: reads element 1 of s, which thread (1, 0, 0) writes at line "},
    {"AStoreBehindALoad", R"(
  volatile float* const v = s;
  x = v[t ^ 1];
  v[t] = x;  // @
)",
     "race by luck: writes element 0 of s, which thread (1, 0, 0) reads at line "},
    {"TheTailOfASum", R"(
  volatile float* const v = s;
  v[t] = t;
  __syncthreads();
  if (lane < 16) {
    v[t] += v[t + 16];
    v[t] += v[t + 8];  // @
  }
)",
     "and volatile orders nothing, not even within a warp: put a __syncwarp() between the two"},
};

const Luck kUnfenced[] = {
    {"VolatileFlag", R"(
  if (t == 32) {
    s[0] = 5;
    flag = 1;
  }
  if (t == 0) {
    while (flag == 0) {}
    x = s[0];  // @
  }
)",
     "race by luck: reads element 0 of s, which thread (32, 0, 0) writes at line "},
    {"FenceTooEarly", R"(
  if (t == 32) {
    __threadfence_block();
    s[0] = 5;
    flag = 1;
  }
  if (t == 0) {
    while (flag == 0) {}
    __threadfence_block();
    x = s[0];  // @
  }
)",
     "with no fence before it: put a __threadfence_block() between the two"},
    {"RelaxedStore", R"(
  const unsigned at = (unsigned)__cvta_generic_to_shared(&lock);
  if (t == 32) {
    s[0] = 5;
    asm volatile("st.relaxed.cta.shared.s32 [%0], 1;" ::"r"(at) : "memory");
  }
  if (t == 0) {
    int seen = 0;
    while (seen == 0) asm volatile("ld.acquire.cta.shared.s32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
    x = s[0];  // @
  }
)",
     "race by luck: reads element 0 of s"},
    {"Lock", R"(
  if (lane == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    s[1] = s[1] + 1;  // @
    atomicExch(&lock, 0);
  }
)",
     "race by luck: reads element 1 of s"},
    {"TwoStepsOfWhichOneIsFenced", R"(
  volatile int* const second = &lock;
  if (t == 32) {
    s[0] = 5;
    flag = 1;
  }
  if (t == 0) {
    while (flag == 0) {}
    __threadfence_block();
    *second = 1;
  }
  if (t == 1) {
    while (*second == 0) {}
    x = s[0];  // @
  }
)",
     "race by luck: reads element 0 of s"},
};

const Luck kOrdered[] = {
    {"MatrixLoadBehindASyncwarp", R"(
  __shared__ __align__(32) unsigned short tile[256];
  for (int i = t; i < 256; i += 64) tile[i] = 0;
  __syncthreads();
  s[t] = t;
  __syncwarp();
  unsigned r[8];
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], 16;"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
               : "r"((unsigned)__cvta_generic_to_shared(tile)) : "memory");
  x = s[t ^ 1] + r[0];
)"},
    {"FencedFlag", R"(
  if (t == 32) {
    s[0] = 5;
    __threadfence_block();
    flag = 1;
  }
  if (t == 0) {
    while (flag == 0) {}
    x = s[0];
  }
)"},
    {"FencedFlagOfALeader", R"(
  if (t >= 32) {
    s[t] = t;
    __syncwarp();
    if (lane == 0) {
      __threadfence_block();
      flag = 1;
    }
  } else {
    while (flag == 0) {}
    __syncwarp();
    x = s[63 - t];
  }
)"},
    {"FenceOfAllBeforeAFlagOfALeader", R"(
  if (t >= 32) {
    s[t] = t;
    __threadfence_block();
    __syncwarp();
    if (lane == 0) flag = 1;
  } else {
    while (flag == 0) {}
    __syncwarp();
    x = s[63 - t];
  }
)"},
    {"ReleaseAndAcquire", R"(
  const unsigned at = (unsigned)__cvta_generic_to_shared(&lock);
  if (t == 32) {
    s[0] = 5;
    asm volatile("st.release.cta.shared.s32 [%0], 1;" ::"r"(at) : "memory");
  }
  if (t == 0) {
    int seen = 0;
    while (seen == 0) asm volatile("ld.acquire.cta.shared.s32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
    x = s[0];
  }
)"},
    {"FencedLock", R"(
  if (lane == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence_block();
    s[1] = s[1] + 1;
    __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  x = s[1];
)"},
    {"FlagThatTellsNothingElse", R"(
  if (t == 32) {
    s[0] = 5;
    flag = 7;
  }
  if (t == 0) {
    while (flag == 0) {}
    x = flag;
  }
  __syncthreads();
  x += s[0];
)"},
    {"FlagBehindABarrier", R"(
  s[t] = t;
  __syncthreads();
  if (t == 32) flag = 1;
  if (t < 32) {
    while (flag == 0) {}
    x = s[t ^ 32];
  }
)"},
    {"SyncwarpBesideAShuffle", R"(
  s[t] = t;
  const int one = __shfl_sync(~0u, 1, 0);
  __syncwarp();
  x = s[t ^ one];
)"},
    {"SyncwarpOfSomeBesideAShuffle", R"(
  s[t] = t;
  const int one = __shfl_sync(~0u, 1, 0);
  __syncwarp(lane < 16 ? 0xffffu : 0xffff0000u);
  x = s[t ^ one];
)"},
    {"SyncwarpOfSomeBeforeAShuffle", R"(
  s[t] = t;
  __syncwarp(lane < 16 ? 0xffffu : 0xffff0000u);
  const int one = __shfl_sync(~0u, 1, 0);
  x = s[t ^ one];
)"},
    {"BarrierBehindAShuffle", R"(
  s[t] = t;
  const int one = __shfl_sync(~0u, 1, 0);
  __syncthreads();
  x = s[t ^ one];
)"},
    {"VolatileWithSyncwarps", R"(
  volatile float* const v = s;
  v[t] = t;
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    const float other = v[t ^ d];
    __syncwarp();
    v[t] += other;
    __syncwarp();
  }
  x = v[t ^ 1];
)"},
    {"VolatileOwnElements", R"(
  volatile float* const v = s;
  for (int i = 0; i < 4; ++i) v[t] += i;
  x = v[t];
)"},
    {"OwnElements", R"(
  for (int i = 0; i < 4; ++i) s[t] += __shfl_xor_sync(~0u, s[t], 1);
  x = s[t];
)"},
    {"SumsOfWarps", R"(
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, c[t], d);
  if (lane == 0) s[t / 32] = x;
  __syncthreads();
  if (t < 32) x = __shfl_sync(~0u, s[t % 2], 1) + __shfl_sync(~0u, s[t % 2], 0);
)"},
    {"ReadsOnBothSides", R"(
  x = s[t ^ 1];
  x += __shfl_xor_sync(~0u, x, 1);
  x += s[t ^ 2];
)"},
};

void PrintTo(const Luck& luck, std::ostream* out) { *out << luck.name; }

std::string luck_text(const Luck& luck) {
  return std::string(kLuckHead) + luck.body + "  c[t] = x;\n}\nSOLVE(float* c) { k<<<2, 64>>>(c); }\n";
}

RunRecord run_luck(const std::string& text) {
  Buffer c{"c", std::vector<float>(64, 1.0f)};
  RunOptions limited = kSanitized;
  limited.max_work = 50'000'000;
  auto record = Runner().run(text, {&c}, limited);
  EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
  EXPECT_FALSE(record.ok() && record->fault.has_value()) << record->fault->message;
  return record.ok() ? std::move(*record) : RunRecord{};
}

const bool kVolatileJoined = join(map_to_text(kVolatile, luck_text));
const bool kLuckJoined = join(map_to_text(kOnlyExchanges, luck_text)) && join(map_to_text(kUnfenced, luck_text)) &&
                         join(map_to_text(kOrdered, luck_text));

class OrderByLuck : public testing::TestWithParam<Luck> {};

TEST_P(OrderByLuck, GivesAWarning) {
  const std::string text = luck_text(GetParam());
  const RunRecord record = run_luck(text);
  ASSERT_FALSE(record.warnings.empty());
  const auto mark = text.begin() + static_cast<std::ptrdiff_t>(text.find("// @"));
  for (const Fault& warning : record.warnings)  // several if the line has several accesses
    EXPECT_EQ(warning.line, 1 + std::count(text.begin(), mark, '\n')) << warning.message;
  EXPECT_THAT(record.warnings[0].message, testing::HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(Exchanges, OrderByLuck, testing::ValuesIn(kOnlyExchanges),
                         [](const auto& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(Volatile, OrderByLuck, testing::ValuesIn(kVolatile),
                         [](const auto& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(Unfenced, OrderByLuck, testing::ValuesIn(kUnfenced),
                         [](const auto& each) { return each.param.name; });

class OrderByTheRules : public testing::TestWithParam<Luck> {};

TEST_P(OrderByTheRules, GivesNone) {
  const RunRecord record = run_luck(luck_text(GetParam()));
  EXPECT_TRUE(record.warnings.empty()) << record.warnings[0].line << ": " << record.warnings[0].message;
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, OrderByTheRules, testing::ValuesIn(kOrdered),
                         [](const auto& each) { return each.param.name; });

// The sums of a tile of two warps pass through shared memory, and cooperative groups order them by shuffles only.
const std::string& kSumsOfTiles = JOINT(R"(#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <roofwalk.cuh>
namespace cg = cooperative_groups;
__global__ void sums_of_tiles(float* c) {
  __shared__ cg::block_tile_memory<64> memory;
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  const float sum = cg::reduce(tile, c[threadIdx.x], cg::plus<float>());
  c[threadIdx.x] = sum + cg::reduce(tile, sum, cg::plus<float>());
}
SOLVE(float* c) { sums_of_tiles<<<2, 64>>>(c); }
)");

TEST(LuckOfALibrary, GivesNoWarning) {
  const RunRecord record = run_luck(kSumsOfTiles);
  EXPECT_TRUE(record.warnings.empty()) << record.warnings[0].line << ": " << record.warnings[0].message;
}

}  // namespace
}  // namespace roofwalk::test
