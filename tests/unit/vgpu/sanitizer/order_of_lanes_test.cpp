// Kernels that are right only as long as lanes use a word in the order of their numbers, or as a maximum ignores what
// an unwritten register holds, and their honest twins: runs without figures try other orders, and other values, by
// chance, from a seed. The same for the warps of a lone block. And atomics of block scope, which are atomic for one
// block.
#include "tests/support/thirds.h"
#include "tests/unit/vgpu/sanitizer/judged_bodies.h"

namespace roofwalk::test {
namespace {

// Bodies after `kLanesHead`, run with 128 threads and 16 blocks, each of which leaves whether it is right.
struct OfLanes {
  const char* name;
  const char* body;
};
void PrintTo(const OfLanes& body, std::ostream* out) { *out << body.name; }

constexpr const char* kLanesHead = R"(#include <roofwalk.cuh>
__global__ void k(float* c) {
  __shared__ int word[4];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  float* const own = c + 128 + 128 * blockIdx.x;
  bool is_right = true;
  if (t < 4) word[t] = 0;
  __syncthreads();
)";

std::string of_lanes_text(const OfLanes& kernel) {
  return std::string(kLanesHead) + kernel.body +
         "  is_right = __syncthreads_and(is_right);\n  if (t == 0) c[blockIdx.x] = is_right ? 1 : 2;\n}\n"
         "SOLVE(float* c) { k<<<16, 128>>>(c); }\n";
}

// How many of eight seeds notice a mistake: a fault, or a wrong value.
int seeds_that_notice(const OfLanes& kernel, std::string* why = nullptr) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Buffer c{"c", std::vector<float>(128 + 16 * 128)};
    const auto record = Runner().run(of_lanes_text(kernel), {&c},
                                     {.max_work = 50'000'000,
                                      .threads = 1,
                                      .sanitize = true,
                                      .sanitized_seed = seed,
                                      .time = RunOptions::Time::least,
                                      .figures = RunOptions::Figures::none});
    EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
    if (!record) return 0;
    if (why != nullptr && record->fault) *why = record->fault->message;
    const bool is_right = std::all_of(&c.values[0], &c.values[16], [](float each) { return each == 1; });
    wrong += record->fault || !is_right ? 1 : 0;
  }
  return wrong;
}

const OfLanes kOneOrder[] = {
    {"RunningSumsByAtomics", "  is_right = atomicAdd(&word[warp], 1) == lane;\n"},
    {"RunningSumsInGlobalMemory", "  is_right = atomicAdd(&own[warp], 1.0f) == lane;\n"},
    {"RunningSumsOfSomeLanes", "  if (lane < 20) is_right = atomicAdd(&word[warp], 1) == lane;\n"},
    {"TheFirstLaneTakesALock", "  is_right = (atomicCAS(&word[warp], 0, 1) == 0) == (lane == 0);\n"},
    {"TheLastLaneStores", "  own[warp] = lane;\n  __syncwarp();\n  is_right = own[warp] == 31;\n"},
    {"TheLastLaneOfAHalfStores", R"(
  own[t / 16] = lane;
  __syncwarp();
  is_right = own[t / 16] == (lane | 15);
)"},
    {"TheLastLaneStoresAVector", R"(
  reinterpret_cast<float2*>(own)[warp] = make_float2(1, lane);
  __syncwarp();
  is_right = own[2 * warp + 1] == 31;
)"},
    {"AMaximumFromNowhere", R"(
  float most;
  asm volatile("{.reg .f32 m; max.f32 m, m, %1; mov.f32 %0, m;}" : "=f"(most) : "f"((float)lane));
  is_right = most == lane;
)"},
    {"AMinimumFromNowhere", R"(
  float least;
  asm volatile("{.reg .f32 m; min.f32 m, m, %1; mov.f32 %0, m;}" : "=f"(least) : "f"((float)lane));
  is_right = least == lane;
)"},
    {"TheLastOfTwoLanesStoresOnce", R"(
  if (t > 29 && t < 32) own[0] = t;
  __syncthreads();
  is_right = own[0] == 31;
)"},
};
const OfLanes kAnyOrder[] = {
    {"PlacesByAtomics", R"(
  __shared__ int places[128];
  places[32 * warp + atomicAdd(&word[warp], 1)] = lane;
  __syncwarp();
  int sum = 0;
  for (int i = 0; i < 32; ++i) sum += places[32 * warp + i];
  is_right = sum == 31 * 16;
)"},
    {"SumsInGlobalMemory", R"(
  atomicAdd(&own[warp], 1.0f);
  __syncthreads();
  is_right = own[warp] == 32;
)"},
    {"OneLaneTakesALock", R"(
  is_right = __popc(__ballot_sync(~0u, atomicCAS(&word[warp], 0, 1) == 0)) == 1;
)"},
    {"AllStoreTheSame", "  own[warp] = 3;\n  __syncwarp();\n  is_right = own[warp] == 3;\n"},
    {"AnyLaneStores", R"(
  own[warp] = lane;
  __syncwarp();
  is_right = own[warp] >= 0 && own[warp] < 32;
)"},
    {"EitherOfTwoLanesStoresOnce", R"(
  if (t > 29 && t < 32) own[0] = t;
  __syncthreads();
  is_right = own[0] == 30 || own[0] == 31;
)"},
    {"AllStoreApart", R"(
  own[(t * 5 + 3) % 128] = t;
  __syncthreads();
  is_right = own[(t * 5 + 3) % 128] == t;
)"},
    {"VectorsApart", R"(
  if (lane % 4 == 0) reinterpret_cast<float4*>(own)[31 - t / 4] = make_float4(t, t + 1, t + 2, t + 3);
  __syncthreads();
  is_right = own[t] == (31 - t / 4) * 4 + t % 4;
)"},
    {"AMaximumFromSomewhere", R"(
  float most;
  asm volatile("{.reg .f32 m; mov.f32 m, 0f00000000; max.f32 m, m, %1; mov.f32 %0, m;}"
               : "=f"(most) : "f"((float)lane));
  is_right = most == lane;
)"},
};
const bool kLanesJoined = join(map_to_text(kOneOrder, of_lanes_text)) && join(map_to_text(kAnyOrder, of_lanes_text));

class OneOrderOfLanes : public testing::TestWithParam<OfLanes> {};

TEST_P(OneOrderOfLanes, IsNoticedByNearlyEverySeed) { EXPECT_GE(seeds_that_notice(GetParam()), 7); }

INSTANTIATE_TEST_SUITE_P(Sanitizer, OneOrderOfLanes, testing::ValuesIn(every_third(kOneOrder)),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(LongSanitizer, OneOrderOfLanes, testing::ValuesIn(all_but_every_third(kOneOrder)),
                         [](const auto& each) { return each.param.name; });

class AnyOrderOfLanes : public testing::TestWithParam<OfLanes> {};

TEST_P(AnyOrderOfLanes, IsRightWithEverySeed) {
  std::string why;
  EXPECT_EQ(seeds_that_notice(GetParam(), &why), 0) << why;
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, AnyOrderOfLanes, testing::ValuesIn(every_third(kAnyOrder)),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(LongSanitizer, AnyOrderOfLanes, testing::ValuesIn(all_but_every_third(kAnyOrder)),
                         [](const auto& each) { return each.param.name; });

// Atomics of block scope, with 64 threads and two blocks.
std::string block_scope_text(const std::string& body) {
  return "#include <roofwalk.cuh>\n__global__ void k(float* c) {\n" + body +
         "}\nSOLVE(float* c) { k<<<2, 64>>>(c); }\n";
}
const std::string kOverBlocks = block_scope_text("  atomicAdd_block(&c[3], 1.0f);\n");
const std::string kOverBlocksByReduction = block_scope_text(
    "  asm volatile(\"red.relaxed.cta.global.add.f32 [%0], %1;\" ::\"l\"(&c[3]), \"f\"(1.0f) : \"memory\");\n");
const std::string kOverBlocksByOne =
    block_scope_text("  if (blockIdx.x == 0) atomicAdd_block(&c[3], 1.0f);\n  else atomicAdd(&c[3], 1.0f);\n");
const std::string kWithinBlocks =
    block_scope_text("  atomicAdd_block(&c[blockIdx.x], 1.0f);\n  atomicAdd(&c[4 + blockIdx.x], 1.0f);\n");
const std::string kOfTheDevice = block_scope_text("  atomicAdd(&c[3], 1.0f);\n");
const bool kBlockScopeJoined =
    join({kOverBlocks, kOverBlocksByReduction, kOverBlocksByOne, kWithinBlocks, kOfTheDevice});

TEST(BlockScope, IsNotAtomicForOtherBlocks) {
  for (const std::string& text : {kOverBlocks, kOverBlocksByReduction, kOverBlocksByOne})
    expect_fault(text, {"", "", FaultKind::race, "race: updates c[3], which threads of another block update, too"});
}
TEST(BlockScope, IsAtomicForItsBlock) {
  expect_no_fault(kWithinBlocks);
  expect_no_fault(kOfTheDevice);
}

// The warps of a lone block, of few turns, leave their numbers in a word: the last one is to win.
std::string of_warps_text(const std::string& body) {
  return "#include <roofwalk.cuh>\n__global__ void k(float* c) {\n  const int warp = threadIdx.x / 32;\n" + body +
         "}\nSOLVE(float* c) { k<<<1, 256>>>(c); }\n";
}
const std::string kTheLastWarpStores = of_warps_text("  if (threadIdx.x % 32 == 31) c[0] = warp;\n");
const std::string kOneWarpStores = of_warps_text("  if (threadIdx.x == 255) c[0] = warp;\n");
const std::string kWarpsStoreBetweenBarriers = of_warps_text(R"(
  for (int each = 0; each < 8; ++each) {
    if (warp == each) c[0] = warp;
    __syncthreads();
  }
)");
const bool kOrderOfWarpsJoined = join({kTheLastWarpStores, kOneWarpStores, kWarpsStoreBetweenBarriers});

int seeds_with_another_last_warp(const std::string& text) {
  int others = 0;
  for (std::uint64_t seed = 1; seed <= 32; ++seed) {
    Buffer c{"c", std::vector<float>(1)};
    const auto record = Runner().run(text, {&c},
                                     {.threads = 1,
                                      .sanitize = true,
                                      .sanitized_seed = seed,
                                      .time = RunOptions::Time::least,
                                      .figures = RunOptions::Figures::none});
    EXPECT_TRUE(record.ok() && !record->fault);
    others += c.values[0] != 7 ? 1 : 0;
  }
  return others;
}

TEST(OrderOfWarps, IsNoticedByEverySecondSeedOrSo) { EXPECT_GE(seeds_with_another_last_warp(kTheLastWarpStores), 14); }
TEST(OrderOfWarps, IsThatOfBarriers) {
  EXPECT_EQ(seeds_with_another_last_warp(kOneWarpStores), 0);
  EXPECT_EQ(seeds_with_another_last_warp(kWarpsStoreBetweenBarriers), 0);
}

}  // namespace
}  // namespace roofwalk::test
