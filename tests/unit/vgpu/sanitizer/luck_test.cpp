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

const Luck kExchanges[] = {
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
     "only an exchange of the warp (a shuffle, vote, match or reduction) lies between"},
    {"Vote", R"(
  x = s[t ^ 1];
  if (__any_sync(~0u, lane == 3)) s[t] = t;  // @
)",
     "race by luck: writes element"},
    {"ShuffleBehindASyncwarpOfSome", R"(
  s[t] = t;
  __syncwarp(lane < 16 ? 0xffffu : 0xffff0000u);
  x = s[t ^ 1];
  const int distance = __shfl_sync(~0u, 16, 0);
  x += s[t ^ distance];  // @
)",
     "race by luck: reads element"},
};

const Luck kOrdered[] = {
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

const bool kLuckJoined = join(map_to_text(kExchanges, luck_text)) && join(map_to_text(kOrdered, luck_text));

class OrderByLuck : public testing::TestWithParam<Luck> {};

TEST_P(OrderByLuck, GivesAWarning) {
  const std::string text = luck_text(GetParam());
  const RunRecord record = run_luck(text);
  ASSERT_EQ(record.warnings.size(), 1u);
  EXPECT_THAT(record.warnings[0].message, testing::HasSubstr(GetParam().says));
  const auto mark = text.begin() + static_cast<std::ptrdiff_t>(text.find("// @"));
  EXPECT_EQ(record.warnings[0].line, 1 + std::count(text.begin(), mark, '\n')) << record.warnings[0].message;
}

INSTANTIATE_TEST_SUITE_P(Exchanges, OrderByLuck, testing::ValuesIn(kExchanges),
                         [](const auto& each) { return each.param.name; });

class OrderByTheRules : public testing::TestWithParam<Luck> {};

TEST_P(OrderByTheRules, GivesNone) {
  const RunRecord record = run_luck(luck_text(GetParam()));
  EXPECT_TRUE(record.warnings.empty()) << record.warnings[0].line << ": " << record.warnings[0].message;
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, OrderByTheRules, testing::ValuesIn(kOrdered),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
