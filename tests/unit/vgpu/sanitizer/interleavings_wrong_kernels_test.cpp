// Kernels that are right only as long as no warp comes between two accesses of another one, or as the ways of a branch
// run in one order. Their honest twins are in interleavings_right_kernels_test.cpp.
#include "tests/support/thirds.h"
#include "tests/unit/vgpu/sanitizer/interleavings.h"

namespace roofwalk::test {
namespace {

const Interleaved kByLuck[] = {
    {"VolatileUpdates", R"(
  if (lane == 0) {
#pragma unroll 1
    for (int i = 0; i < 4; ++i) {
      const int seen = word[0];
      if (seen > 1000) break;
      word[0] = seen + 1;
    }
  }
  __syncthreads();
  if (t == 0) c[block] = word[0];
)",
     16},
    {"RelaxedUpdates", R"(
  if (lane == 0) {
#pragma unroll 1
    for (int i = 0; i < 4; ++i) {
      const int seen = shared_count.load(cuda::memory_order_relaxed);
      if (seen > 1000) break;
      shared_count.store(seen + 1, cuda::memory_order_relaxed);
    }
  }
  __syncthreads();
  if (t == 0) c[block] = count;
)",
     16},
    {"ALockThatIsTestedAndThenSet", R"(
  if (lane == 0) {
    while (word[0] != 0) {}
    word[0] = 1;
    __threadfence_block();
    s[0] += 1;
    __threadfence_block();
    word[0] = 0;
  }
  __syncthreads();
  if (t == 0) c[block] = s[0];
)",
     4},
    {"ALockWhoseSwapNobodyChecks", R"(
  if (lane == 0) {
    while (word[0] != 0) {}
    atomicCAS(const_cast<int*>(&word[0]), 0, 1);
    __threadfence_block();
    s[0] += 1;
    __threadfence_block();
    word[0] = 0;
  }
  __syncthreads();
  if (t == 0) c[block] = s[0];
)",
     4},
    {"ATicketAlthoughTheSwapFailed", R"(
  if (lane == 0) {
    const int seen = word[0];
    const int ticket = atomicCAS(const_cast<int*>(&word[0]), seen, seen + 1);
    s[ticket] = 1;
  }
  __syncthreads();
  if (t == 0) c[block] = s[0] + s[1] + s[2] + s[3];
)",
     4},
    {"TicketsOfALoopAlthoughTheSwapsFailed", R"(
  if (lane == 0) {
#pragma unroll 1
    for (int i = 0; i < 4; ++i) {
      const int seen = word[0];
      const int ticket = atomicCAS(const_cast<int*>(&word[0]), seen, seen + 1);
      if (ticket >= 16) break;
      s[ticket] = 1;
    }
  }
  __syncthreads();
  int taken = 0;
  for (int i = 0; t == 0 && i < 16; ++i) taken += s[i];
  if (t == 0) c[block] = taken;
)",
     16},
    {"AnItemAlthoughTheSwapFailed", R"(
  __shared__ int taken[8];
  if (t < 8) taken[t] = 0;
  s[t] = t + 1;
  __syncthreads();
  if (lane == 0) {
    const int first = atomicAdd(&count, 0);
    if (atomicCAS(&count, first, s[first]) < 8) taken[first] = 1;
  }
  __syncthreads();
  if (t == 0) c[block] = taken[0] + taken[1] + taken[2] + taken[3];
)",
     4},
    {"ALockWhoseSwapIsLookedAtInVain", R"(
  if (lane == 0) {
    if (atomicCAS(&count, 0, 1) <= 1) {
      __threadfence_block();
      s[0] += 1;
      __threadfence_block();
      atomicAnd(&count, 0);
    }
  }
  __syncthreads();
  if (t == 0) c[block] = s[0];
)",
     4},
    {"ALockOfGlobalMemoryWhoseSwapNobodyChecks", R"(
  int* const lock = reinterpret_cast<int*>(c + 128 + 128 * block);
  if (lane == 0) {
    atomicCAS(lock, 0, 1);
    __threadfence();
    lock[1] += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
  __syncthreads();
  if (t == 0) c[block] = lock[1];
)",
     4},
    {"ALockOfGlobalMemoryThatAPlainStoreOpens", R"(
  int* const lock = reinterpret_cast<int*>(c + 128 + 128 * block);
  if (lane == 0 && atomicCAS(lock, 0, 1) <= 1) {
    __threadfence();
    lock[1] += 1;
    __threadfence();
    *lock = 0;
  }
  __syncthreads();
  if (t == 0) c[block] = lock[1];
)",
     4},
    {"ALockThatIsTriedOnce", R"(
  if (lane == 0 && atomicCAS(&count, 0, 1) == 0) {
    __threadfence_block();
    s[0] += 1;
    __threadfence_block();
    atomicCAS(&count, 1, 0);
  }
  __syncthreads();
  if (t == 0) c[block] = s[0];
)",
     4},
    {"ALockThatIsTriedAFewTimes", R"(
  if (lane == 0) {
#pragma unroll 1
    for (int i = 0; i < 12 && atomicCAS(&count, 0, 1) != 0; ++i) {}
    __threadfence_block();
    s[0] += 1;
    __threadfence_block();
    atomicExch(&count, 0);
  }
  __syncthreads();
  if (t == 0) c[block] = s[0];
)",
     4},
    {"ALockOfGlobalMemoryThatIsTriedAFewTimes", R"(
  int* const lock = reinterpret_cast<int*>(c + 128 + 128 * block);
  if (lane == 0) {
#pragma unroll 1
    for (int i = 0; i < 12 && atomicExch(lock, 1) != 0; ++i) {}
    __threadfence();
    s[0] += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
  __syncthreads();
  if (t == 0) c[block] = s[0];
)",
     4},
    {"OneFlagForThreeWarps", R"(
  if (warp < 3) {
    s[t] = 1;
    __syncwarp();
    __threadfence_block();
    if (lane == 0) word[0] = 1;
  } else {
    while (word[0] == 0) {}
    __threadfence_block();
    const int sum = s[lane] + s[32 + lane] + s[64 + lane];
    if (lane == 0) c[block] = sum;
  }
)",
     3},
    {"ACountThatOneWarpReaches", R"(
  if (warp < 3) {
    s[t] = 1;
    __threadfence_block();
    __syncwarp();
    if (lane == 0) atomicAdd(&count, 1);
  } else {
    while (shared_count.load(cuda::memory_order_acquire) == 0) {}
    const int sum = s[lane] + s[32 + lane] + s[64 + lane];
    if (lane == 0) c[block] = sum;
  }
)",
     3},
    {"UpdatesOfGlobalMemory", R"(
  if (lane == 0) {
#pragma unroll 1
    for (int i = 0; i < 4; ++i) all[block] = all[block] + 1;
  }
)",
     16},
    {"PlainUpdatesOfWordsThatSomeWarpsShare", R"(
  if (lane == 0) data[warp * 5 % 3] += 1;
  __syncthreads();
  if (t == 0) c[block] = data[0] + data[1] + data[2];
)",
     4},
    {"HandedOverToTheOtherWay", R"(
  if (lane < 16) {
    own[t] = 1;
  } else {
    own[t] = own[t - 16] + 1;
  }
  __syncthreads();
  float least = 2;
  for (int i = 16; t == 0 && i < 32; ++i) least = fminf(fminf(own[i], own[32 + i]), fminf(own[64 + i], least));
  if (t == 0) c[block] = least;
)",
     2},
    {"HandedOverToTheFirstWay", R"(
  if (lane >= 16) {
    own[t] = own[t - 16] + 1;
  } else {
    own[t] = 1;
  }
  __syncthreads();
  float least = 2;
  for (int i = 16; t == 0 && i < 32; ++i) least = fminf(fminf(own[i], own[32 + i]), fminf(own[64 + i], least));
  if (t == 0) c[block] = least;
)",
     2},
    {"AFlagBeforeTheFence", R"(
  if (warp == 0) {
    if (lane == 0) own[64] = 1;
    __threadfence();
    __syncwarp();
    data[lane] = 2;
  } else if (warp == 1) {
    while (own[64] == 0) {}
    __threadfence();
    if (lane == 0) c[block] = own[0];
  }
)",
     2},
    {"AFlagBeforeItsData", R"(
  if (t == 0) {
    own[64] = 1;
    data[0] = 2;
    __threadfence();
  } else if (t == 32) {
    while (own[64] == 0) {}
    __threadfence();
    c[block] = own[0];
  }
)",
     2},
    {"AFlagInSharedMemoryBeforeItsData", R"(
  if (t == 0) {
    word[0] = 1;
    __threadfence();
    data[0] = 2;
  } else if (t == 32) {
    while (word[0] == 0) {}
    __threadfence();
    c[block] = own[0];
  }
)",
     2},
    {"ACountBeforeItsData", R"(
  if (t == 0) {
    atomicAdd(&data[64], 1.0f);
    __threadfence();
    data[0] = 2;
  } else if (t == 32) {
    while (own[64] == 0) {}
    __threadfence();
    c[block] = own[0];
  }
)",
     2},
    {"APlainFlagBeforeItsData", R"(
  if (t == 0) {
    data[64] = 1;
    __threadfence();
    data[0] = 2;
  } else if (t == 32) {
    while (own[64] == 0) {}
    __threadfence();
    c[block] = own[0];
  }
)",
     2},
    {"TheLastToCountBeforeTheData", R"(
#pragma unroll 1
  for (int i = 0; i < 16; ++i) {
    if (lane == 0) {
      const float before = atomicAdd(&data[64 + i], 1.0f);
      __threadfence();
      data[4 * i + warp] = 2;
      if (before == 3) atomicAdd(&c[block], data[4 * i] + data[4 * i + 1] + data[4 * i + 2] + data[4 * i + 3]);
    }
    __syncthreads();
  }
)",
     128},
    {"AChainOfBlocksWithFlagsFirst", R"(
  if (t == 0) {
    float before = 0;
    if (block > 0) {
      while (all[127 + 2 * block] == 0) {}
      __threadfence();
      before = all[126 + 2 * block];
    }
    all[129 + 2 * block] = 1;
    __threadfence();
    c[128 + 2 * block] = before + 1;
    c[block] = before - block + 3;
  }
)",
     3},
};

const bool kByLuckJoined = join(map_to_text(kByLuck, interleaved_text));

class RightByLuck : public testing::TestWithParam<Interleaved> {};

TEST_P(RightByLuck, IsWrongWithNearlyEverySeed) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    wrong += goes_wrong(interleaved_text(GetParam()), GetParam().wanted, seed) ? 1 : 0;
  EXPECT_GE(wrong, 7);
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, RightByLuck, testing::ValuesIn(every_third(kByLuck)),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(LongSanitizer, RightByLuck, testing::ValuesIn(all_but_every_third(kByLuck)),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
