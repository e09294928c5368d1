// What a shuffle gets from a lane that exchanges with another mask, or that has ended, is undefined. Using it is a
// mistake.
#include "tests/unit/vgpu/sanitizer/judged_bodies.h"

namespace roofwalk::test {
namespace {

// Bodies of kernels with 32 threads, each of which has its own value `v`.
const JudgedBody kOfStrangers[] = {
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

const JudgedBody kOfEnded[] = {
    {"TheUpperHalf", R"(
  if (t >= 16) return;
  v += __shfl_down_sync(~0u, v, 16);
  c[t] = v;
)"},
    {"ASumOfAllDecides", R"(
  if (t >= 24) return;
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  if (v > 3.0f) c[t] = 0.0f;
)"},
};

const JudgedBody kOfMembers[] = {
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
    {"NobodyUsesWhatComesFromTheUpperHalf", R"(
  if (t >= 16) return;
  const float upper = __shfl_down_sync(~0u, v, 8);
  c[t] = t < 8 ? v + upper : v;
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

std::string shuffle_text(const JudgedBody& shuffle) {
  return std::string(
             "#include <roofwalk.cuh>\n__global__ void k(float* c) {\n  const int t = threadIdx.x;\n"
             "  float v = c[t];\n") +
         shuffle.body + "}\nSOLVE(float* c) { k<<<1, 32>>>(c); }\n";
}

const bool kOfStrangersJoined = join(map_to_text(kOfStrangers, shuffle_text));

class ValuesOfStrangers : public testing::TestWithParam<JudgedBody> {};

TEST_P(ValuesOfStrangers, MayNotBeUsed) {
  expect_fault(shuffle_text(GetParam()), {.name = "",
                                          .body = "",
                                          .kind = FaultKind::uninitialized,
                                          .says = "uses what __shfl_..._sync() gets from thread"});
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, ValuesOfStrangers, testing::ValuesIn(kOfStrangers),
                         [](const auto& each) { return each.param.name; });

const bool kOfEndedJoined = join(map_to_text(kOfEnded, shuffle_text));

class ValuesOfTheEnded : public testing::TestWithParam<JudgedBody> {};

TEST_P(ValuesOfTheEnded, MayNotBeUsed) {
  expect_fault(
      shuffle_text(GetParam()),
      {.name = "", .body = "", .kind = FaultKind::uninitialized, .says = "of its warp, which has ended or never was"});
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, ValuesOfTheEnded, testing::ValuesIn(kOfEnded),
                         [](const auto& each) { return each.param.name; });

const bool kOfMembersJoined = join(map_to_text(kOfMembers, shuffle_text));

class ValuesOfMembers : public testing::TestWithParam<JudgedBody> {};

TEST_P(ValuesOfMembers, MayBeUsed) { expect_no_fault(shuffle_text(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Sanitizer, ValuesOfMembers, testing::ValuesIn(kOfMembers),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
