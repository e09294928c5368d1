// Kernels that are right only if blocks of smaller number have run before, and others that wait for what they need.
// Runs without figures hold some blocks back, chosen by a seed.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// More blocks than are resident at once: `classroom` holds 64 blocks of 128 threads.
constexpr std::size_t kBlocksInOrder = 400;

// Bodies that leave `wanted` in c[0]. c[1 + block] and done[block], which begin as zeros, are for what blocks tell
// others.
struct OrderOfBlocks {
  const char* name;
  const char* body;
  float wanted = 0;
  std::size_t blocks = kBlocksInOrder, threads = 128;
};
void PrintTo(const OrderOfBlocks& body, std::ostream* out) { *out << body.name; }

std::string order_text(const OrderOfBlocks& kernel) {
  return std::string(R"(#include <roofwalk.cuh>
__global__ void k(float* c) {
  const int t = threadIdx.x, block = blockIdx.x, blocks = gridDim.x;
  volatile float* const done = c + 1 + blocks;
)") + kernel.body +
         "}\nSOLVE(float* c) { k<<<" + std::to_string(kernel.blocks) + ", " + std::to_string(kernel.threads) +
         ">>>(c); }\n";
}

// Returns whether a run without figures has a fault or a wrong value, and which.
std::string trouble_of(const OrderOfBlocks& kernel, std::uint64_t seed) {
  Buffer c{"c", std::vector<float>(1 + 2 * kBlocksInOrder)};
  const auto record = Runner().run(order_text(kernel), {&c},
                                   {.max_work = 50'000'000,
                                    .threads = 1,
                                    .sanitize = true,
                                    .sanitized_seed = seed,
                                    .time = RunOptions::Time::least,
                                    .figures = RunOptions::Figures::none});
  if (!record) return record.error().text();
  if (record->fault) return record->fault->message;
  return c.values[0] == kernel.wanted ? "" : "c[0] is " + std::to_string(c.values[0]);
}

const OrderOfBlocks kInOrder[] = {
    {"TheLastByNumberAddsUp", R"(
  if (block + 1 < blocks) {
    if (t == 0) c[1 + block] = 1;
  } else if (t == 0) {
    float sum = 0;
    for (int b = 0; b < blocks - 1; ++b) sum += c[1 + b];
    c[0] = sum;
  }
)",
     399},
    {"TheLastByNumberAddsUpBehindAFence", R"(
  if (t == 0) c[1 + block] = 1;
  __threadfence();
  if (t == 0 && block + 1 == blocks) {
    float sum = 0;
    for (int b = 0; b < blocks; ++b) sum += c[1 + b];
    c[0] = sum;
  }
)",
     400},
    {"TheFirstIsReadByAll", R"(
  if (t == 0 && block < 8) c[1 + block] = 1;
  if (t == 0 && block >= 300 && c[1 + block % 8] == 0) c[0] = 1;
)",
     0},
    {"EachReadsTheOneFarBefore", R"(
  if (t == 0) c[1 + block] = 1;
  if (t == 0 && block >= 320 && c[1 + block - 320] == 0) c[0] = 1;
)",
     0},
    {"OverwrittenFarBehind", R"(
  if (t == 0 && block < 80 && c[1 + block] != 0) c[0] = 1;
  if (t == 0 && block >= 320) c[1 + block - 320] = 1;
)",
     0},
};

const OrderOfBlocks kThatWait[] = {
    {"EachForTheOneBefore", R"(
  if (t == 0) {
    float before = 0;
    if (block > 0) {
      while (done[block - 1] == 0) {}
      __threadfence();
      before = ((volatile float*)c)[block];
    }
    c[1 + block] = before + 1;
    __threadfence();
    done[block] = 1;
    if (block + 1 == blocks) c[0] = before + 1;
  }
)",
     400},
    {"TheLastForAll", R"(
  if (block + 1 < blocks) {
    if (t == 0) {
      c[1 + block] = 1;
      __threadfence();
      done[block] = 1;
    }
  } else if (t == 0) {
    float sum = 0;
    for (int b = 0; b < blocks - 1; ++b) {
      while (done[b] == 0) {}
      __threadfence();
      sum += ((volatile float*)c)[1 + b];
    }
    c[0] = sum;
  }
)",
     399},
    {"EvenOnesForTheNext", R"(
  if (t == 0) {
    if (block % 2 == 1) {
      done[block] = 1;
    } else {
      while (done[block + 1] == 0) {}
      atomicAdd(c, 1.0f);
    }
  }
)",
     200},
    {"TheFirst16ForEachOther", R"(
  if (t == 0 && block < 16) {
    atomicAdd(&c[1], 1.0f);
    while (((volatile float*)c)[1] < 16) {}
    atomicAdd(&c[2], 1.0f);
    while (((volatile float*)c)[2] < 16) {}
    atomicAdd(c, 1.0f);
  }
)",
     16},
    {"NobodyAsTheLastToComeAddsUp", R"(
  if (t == 0) {
    c[1 + block] = 1;
    __threadfence();
    if (atomicAdd(const_cast<float*>(&done[0]), 1.0f) == blocks - 1) {
      __threadfence();
      float sum = 0;
      for (int b = 0; b < blocks; ++b) sum += ((volatile float*)c)[1 + b];
      c[0] = sum;
    }
  }
)",
     400},
};

// Its rounding errors depend on the order of the blocks.
const OrderOfBlocks kSumInAnyOrder = {"", "  if (t == 0) atomicAdd(c, 1.0f / (3 + block));\n", 0};

// Two blocks of one warp each.
const OrderOfBlocks kTheFirstOfTwo = {"",
                                      R"(
  if (t == 0 && block == 0) c[1] = 7;
  if (t == 0 && block == 1) {
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < 500; ++i) sum = sum * 0.5f + done[1];
    c[0] = sum + ((volatile float*)c)[1];
  }
)",
                                      7, 2, 32};
const OrderOfBlocks kTheFirstOfTwoAwaited = {"",
                                             R"(
  if (t == 0 && block == 0) {
    c[1] = 7;
    __threadfence();
    done[0] = 1;
  }
  if (t == 0 && block == 1) {
    while (done[0] == 0) {}
    __threadfence();
    c[0] = ((volatile float*)c)[1];
  }
)",
                                             7, 2, 32};

const bool kOrdersJoined =
    join(map_to_text(kInOrder, order_text)) && join(map_to_text(kThatWait, order_text)) &&
    join({order_text(kSumInAnyOrder), order_text(kTheFirstOfTwo), order_text(kTheFirstOfTwoAwaited)});

class BlocksInOrder : public testing::TestWithParam<OrderOfBlocks> {};

TEST_P(BlocksInOrder, AreRightByLuck) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) wrong += trouble_of(GetParam(), seed).empty() ? 0 : 1;
  EXPECT_GE(wrong, 7);
}

INSTANTIATE_TEST_SUITE_P(HeldBlocks, BlocksInOrder, testing::ValuesIn(kInOrder),
                         [](const auto& each) { return each.param.name; });

class BlocksThatWait : public testing::TestWithParam<OrderOfBlocks> {};

TEST_P(BlocksThatWait, GetWhatTheyWaitFor) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) EXPECT_EQ(trouble_of(GetParam(), seed), "") << seed;
}

INSTANTIATE_TEST_SUITE_P(HeldBlocks, BlocksThatWait, testing::ValuesIn(kThatWait),
                         [](const auto& each) { return each.param.name; });

// The first of two blocks is held by every second seed.
TEST(HeldBlocks, AreOneOfTwo) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    wrong += trouble_of(kTheFirstOfTwo, seed).empty() ? 0 : 1;
    EXPECT_EQ(trouble_of(kTheFirstOfTwoAwaited, seed), "") << seed;
  }
  EXPECT_GE(wrong, 2);
}

TEST(HeldBlocks, AreTheSameForASeed) {
  const std::string sum = trouble_of(kSumInAnyOrder, 5);
  EXPECT_NE(sum, "");
  EXPECT_EQ(trouble_of(kSumInAnyOrder, 5), sum);
}

}  // namespace
}  // namespace roofwalk::test
