// What a shuffle gets from a lane that exchanges with another mask is undefined. Using it is a mistake.
#include <gmock/gmock.h>

#include "common/base/json.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// The body of a kernel with 32 threads, each of which has its own value `v`.
struct Shuffle {
  const char* name;
  const char* body;
};

const Shuffle kOfStrangers[] = {
    {"EachHalfReadsFromTheOther", R"(
  v += __shfl_xor_sync(t < 16 ? 0xffffu : 0xffff0000u, v, 16);
  c[t] = v;
)"},
    {"TheMasksOfTheTwoDiffer", R"(
  v += __shfl_xor_sync(t < 16 ? ~0u : 0xffff0000u, v, 16);
  if (t < 16) c[t] = v;
)"},
    {"AllStoreTheSumOfAHalf", R"(
  if (t < 16) {
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffu, v, d);
    c[t] = v;
  }
)"},
    {"TheOtherHalfsValueDecides", R"(
  const float other = __shfl_xor_sync(t < 16 ? 0xffffu : 0xffff0000u, v, 16);
  if (other > 3.0f) c[t] = 0.0f;
)"},
    {"ASecondShuffleBringsItToTheLaneThatStores", R"(
  if (t < 16) {
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffu, v, d);
    v = __shfl_sync(0xffffu, v, 15);
    if (t == 0) c[t] = v;
  }
)"},
    {"AHalfOfADouble", R"(
  double wide = v;
  wide += __shfl_xor_sync(t < 16 ? 0xffffu : 0xffff0000u, wide, 16);
  c[t] = wide;
)"},
};

const Shuffle kOfMembers[] = {
    {"OnlyTheFirstLanesSumCounts", R"(
  if (t < 16) {
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffu, v, d);
    if (t == 0) c[t] = v;
  }
)"},
    {"SumsUpToEachLaneOfAQuarter", R"(
  const unsigned mask = 0xffu << (t & ~7);
  for (int d = 1; d < 8; d *= 2) {
    const float before = __shfl_up_sync(mask, v, d);
    if (t % 8 >= d) v += before;
  }
  c[t] = v;
)"},
    {"AllOfAQuarterGetItsSum", R"(
  for (int d = 4; d > 0; d /= 2) v += __shfl_xor_sync(0xffu << (t & ~7), v, d);
  c[t] = v;
)"},
    {"TheSumOfDoublesIsPassedOnByTheFirstLane", R"(
  double wide = v;
  if (t < 16) {
    for (int d = 8; d > 0; d /= 2) wide += __shfl_down_sync(0xffffu, wide, d);
    wide = __shfl_sync(0xffffu, wide, 0);
  }
  c[t] = wide;
)"},
};

void PrintTo(const Shuffle& shuffle, std::ostream* out) { *out << shuffle.name; }

std::string shuffle_text(const Shuffle& shuffle) {
  return std::string(
             "#include <roofwalk.cuh>\n__global__ void k(float* c) {\n  const int t = threadIdx.x;\n"
             "  float v = c[t];\n") +
         shuffle.body + "}\nSOLVE(float* c) { k<<<1, 32>>>(c); }\n";
}

RunRecord run_shuffle(const std::string& text, const RunOptions& options) {
  Buffer c{"c", std::vector<float>(32, 1.0f)};
  auto record = Runner().run(text, {&c}, options);
  EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
  return record.ok() ? std::move(*record) : RunRecord{};
}

const bool kOfStrangersJoined = join(map_to_text(kOfStrangers, shuffle_text));

class ValuesOfStrangers : public testing::TestWithParam<Shuffle> {};

TEST_P(ValuesOfStrangers, MayNotBeUsed) {
  const RunRecord record = run_shuffle(shuffle_text(GetParam()), kSanitized);
  ASSERT_TRUE(record.fault.has_value());
  EXPECT_EQ(record.fault->kind, FaultKind::uninitialized) << record.fault->message;
  EXPECT_THAT(record.fault->message, testing::HasSubstr("uses what __shfl_..._sync() gets from thread"));
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, ValuesOfStrangers, testing::ValuesIn(kOfStrangers),
                         [](const auto& each) { return each.param.name; });

const bool kOfMembersJoined = join(map_to_text(kOfMembers, shuffle_text));

class ValuesOfMembers : public testing::TestWithParam<Shuffle> {};

TEST_P(ValuesOfMembers, MayBeUsed) {
  const std::string text = shuffle_text(GetParam());
  const RunRecord sanitized = run_shuffle(text, kSanitized), plain = run_shuffle(text, {});
  ASSERT_FALSE(sanitized.fault.has_value()) << sanitized.fault->line << ": " << sanitized.fault->message;
  EXPECT_EQ(to_json(sanitized), to_json(plain));
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, ValuesOfMembers, testing::ValuesIn(kOfMembers),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
