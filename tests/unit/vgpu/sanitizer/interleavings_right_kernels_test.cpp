// Kernels that are right in whatever order their warps and the ways of their branches run, and look much like those of
// interleavings_wrong_kernels_test.cpp.
#include "tests/support/thirds.h"
#include "tests/unit/vgpu/sanitizer/interleavings.h"

namespace roofwalk::test {
namespace {

const Interleaved kByRight[] = {
    {"AtomicUpdates", R"(
  if (lane == 0) {
#pragma unroll 1
    for (int i = 0; i < 4; ++i) {
      const int seen = shared_count.load(cuda::memory_order_relaxed);
      if (seen > 1000) break;
      shared_count.fetch_add(1, cuda::memory_order_relaxed);
    }
  }
  __syncthreads();
  if (t == 0) c[block] = count;
)",
     16},
    {"SwapsThatAreRepeated", R"(
  if (lane == 0) {
    for (int i = 0; i < 4; ++i) {
      int seen = shared_count.load(cuda::memory_order_relaxed);
      while (!shared_count.compare_exchange_weak(seen, seen + 1, cuda::memory_order_relaxed)) {}
    }
  }
  __syncthreads();
  if (t == 0) c[block] = count;
)",
     16},
    {"ALockThatIsSwapped", R"(
  if (lane == 0) {
    while (atomicCAS(&count, 0, 1) != 0) {}
    __threadfence_block();
    s[0] += 1;
    word[0] = word[0] + 1;
    __threadfence_block();
    atomicExch(&count, 0);
  }
  __syncthreads();
  if (t == 0) c[block] = s[0] + word[0];
)",
     8},
    {"TicketsBySwapsThatAreRepeated", R"(
  if (lane == 0) {
    int ticket = word[0], seen;
    while ((seen = atomicCAS(const_cast<int*>(&word[0]), ticket, ticket + 1)) != ticket) ticket = seen;
    s[ticket] = 1;
  }
  __syncthreads();
  if (t == 0) c[block] = s[0] + s[1] + s[2] + s[3];
)",
     4},
    {"TicketsOfALoopBySwapsThatAreRepeated", R"(
  if (lane == 0) {
#pragma unroll 1
    for (int i = 0; i < 4; ++i) {
      int ticket;
      do {
        ticket = word[0];
      } while (atomicCAS(const_cast<int*>(&word[0]), ticket, ticket + 1) != ticket);
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
    {"ItemsBySwapsThatAreRepeated", R"(
  __shared__ int taken[8];
  if (t < 8) taken[t] = 0;
  s[t] = t + 1;
  __syncthreads();
  if (lane == 0) {
    int first = atomicAdd(&count, 0), seen;
    while ((seen = atomicCAS(&count, first, s[first])) != first) first = seen;
    taken[first] = 1;
  }
  __syncthreads();
  if (t == 0) c[block] = taken[0] + taken[1] + taken[2] + taken[3];
)",
     4},
    {"ALockThatIsOpenedByASwap", R"(
  if (lane == 0) {
    while (atomicCAS(&count, 0, 1) != 0) {}
    __threadfence_block();
    s[0] += 1;
    __threadfence_block();
    atomicCAS(&count, 1, 0);
  }
  __syncthreads();
  if (t == 0) c[block] = s[0];
)",
     4},
    {"ALockOfGlobalMemory", R"(
  int* const lock = reinterpret_cast<int*>(c + 128 + 128 * block);
  if (lane == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    lock[1] += 1;
    __threadfence();
    *lock = 0;
  }
  __syncthreads();
  if (t == 0) c[block] = lock[1];
)",
     4},
    {"ALockOfAllBlocks", R"(
  int* const lock = reinterpret_cast<int*>(c + 128);
  if (lane == 0) {
    while (atomicCAS(lock, 0, 1) != 0) __nanosleep(20);
    __threadfence();
    lock[1 + block] += 1;
    lock[64] += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
  __syncthreads();
  if (t == 0) c[block] = lock[1 + block];
  if (t == 0 && atomicAdd(&lock[65], 1) == 15 && lock[64] != 64) c[block] = -1;
)",
     4},
    {"ALockThatIsTriedOnceAndLeftAlone", R"(
  __shared__ int skipped;
  if (t == 0) skipped = 0;
  __syncthreads();
  if (lane == 0 && atomicCAS(&count, 0, 1) == 0) {
    __threadfence_block();
    s[0] += 1;
    __threadfence_block();
    atomicCAS(&count, 1, 0);
  } else if (lane == 0) {
    atomicAdd(&skipped, 1);
  }
  __syncthreads();
  if (t == 0) c[block] = s[0] + skipped;
)",
     4},
    {"ALockThatIsTriedAFewTimesAndLeftAlone", R"(
  __shared__ int skipped;
  if (t == 0) skipped = 0;
  __syncthreads();
  if (lane == 0) {
    bool has = false;
#pragma unroll 1
    for (int i = 0; i < 12 && !has; ++i) has = atomicCAS(&count, 0, 1) == 0;
    if (has) {
      __threadfence_block();
      s[0] += 1;
      __threadfence_block();
      atomicExch(&count, 0);
    } else {
      atomicAdd(&skipped, 1);
    }
  }
  __syncthreads();
  if (t == 0) c[block] = s[0] + skipped;
)",
     4},
    {"ALockThatIsTriedAFewTimesBetweenNaps", R"(
  int* const lock = reinterpret_cast<int*>(c + 128 + 128 * block);
  if (lane == 0) {
    for (bool has = false; !has;) {
#pragma unroll 1
      for (int i = 0; i < 12 && !has; ++i) has = atomicCAS(lock, 0, 1) == 0;
      if (!has) __nanosleep(50);
    }
    __threadfence();
    s[0] += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
  __syncthreads();
  if (t == 0) c[block] = s[0];
)",
     4},
    {"ATicketLock", R"(
  __shared__ int next, serving;
  float* const sum = c + 128 + 128 * block;
  if (t == 0) next = serving = 0;
  __syncthreads();
  if (lane == 0) {
    const int own = atomicAdd(&next, 1);
    while (atomicCAS(&serving, own, own) != own) {}
    __threadfence_block();
    s[0] += 1;
    *sum += 1;
    __threadfence_block();
    atomicExch(&serving, own + 1);
  }
  __syncthreads();
  if (t == 0) c[block] = s[0] + *sum;
)",
     8},
    {"ALockWhoseWaitersFormAQueue", R"(
  __shared__ volatile int next[4], waits[4];
  float* const sum = c + 128 + 128 * block;
  if (t < 4) next[t] = -1, waits[t] = 1;
  if (t == 0) count = -1;
  __syncthreads();
  if (lane == 0) {
    const int before = atomicExch(&count, warp);
    if (before >= 0) {
      next[before] = warp;
      while (waits[warp] != 0) {}
    }
    __threadfence_block();
    s[0] += 1;
    *sum += 1;
    __threadfence_block();
    if (atomicCAS(&count, warp, -1) != warp) {
      int after;
      while ((after = next[warp]) < 0) {}
      waits[after] = 0;
    }
  }
  __syncthreads();
  if (t == 0) c[block] = s[0] + *sum;
)",
     8},
    {"AFlagForEachWarp", R"(
  if (warp < 3) {
    s[t] = 1;
    __syncwarp();
    __threadfence_block();
    if (lane == 0) word[warp] = 1;
  } else {
    while (word[0] == 0 || word[1] == 0 || word[2] == 0) {}
    __threadfence_block();
    const int sum = s[lane] + s[32 + lane] + s[64 + lane];
    if (lane == 0) c[block] = sum;
  }
)",
     3},
    {"ACountThatAllReach", R"(
  if (warp < 3) {
    s[t] = 1;
    __threadfence_block();
    __syncwarp();
    if (lane == 0) atomicAdd(&count, 1);
  } else {
    while (shared_count.load(cuda::memory_order_acquire) < 3) {}
    const int sum = s[lane] + s[32 + lane] + s[64 + lane];
    if (lane == 0) c[block] = sum;
  }
)",
     3},
    {"TurnsByAFlag", R"(
#pragma unroll 1
  for (int i = 0; i < 6; ++i) {
    if (lane == 0) {
      while (word[0] != 4 * i + warp) {}
      __threadfence_block();
      s[0] += 1;
      __threadfence_block();
      word[0] = word[0] + 1;
    }
    __syncwarp();
  }
  __syncthreads();
  if (t == 0) c[block] = s[0];
)",
     24},
    {"SumsOfWarps", R"(
  __shared__ volatile float v[128];
  v[t] = 1;
  __syncwarp();
  for (int w = 16; w > 0; w /= 2) {
    if (lane < w) v[t] = v[t] + v[t + w];
    __syncwarp();
  }
  __syncthreads();
  if (t == 0) c[block] = v[0] + v[32] + v[64] + v[96];
)",
     128},
    {"AChainOfBlocks", R"(
  if (t == 0) {
    float before = 0;
    if (block > 0) {
      while (all[127 + 2 * block] == 0) {}
      __threadfence();
      before = all[126 + 2 * block];
    }
    all[128 + 2 * block] = before + 1;
    __threadfence();
    all[129 + 2 * block] = 1;
    c[block] = before - block + 3;
  }
)",
     3},
    {"DataBeforeTheFenceAndTheFlag", R"(
  if (warp == 0) {
    data[lane] = 2;
    __threadfence();
    __syncwarp();
    if (lane == 0) own[64] = 1;
  } else if (warp == 1) {
    while (own[64] == 0) {}
    __threadfence();
    if (lane == 0) c[block] = own[0];
  }
)",
     2},
    {"DataBeforeAFlagInSharedMemory", R"(
  if (t == 0) {
    data[0] = 2;
    __threadfence();
    word[0] = 1;
  } else if (t == 32) {
    while (word[0] == 0) {}
    __threadfence();
    c[block] = own[0];
  }
)",
     2},
    {"DataBeforeACount", R"(
  if (t == 0) {
    data[0] = 2;
    __threadfence();
    atomicAdd(&data[64], 1.0f);
  } else if (t == 32) {
    while (own[64] == 0) {}
    __threadfence();
    c[block] = own[0];
  }
)",
     2},
    {"TheLastToCountBehindTheData", R"(
#pragma unroll 1
  for (int i = 0; i < 16; ++i) {
    if (lane == 0) {
      data[4 * i + warp] = 2;
      __threadfence();
      const float before = atomicAdd(&data[64 + i], 1.0f);
      if (before == 3) {
        __threadfence();
        atomicAdd(&c[block], data[4 * i] + data[4 * i + 1] + data[4 * i + 2] + data[4 * i + 3]);
      }
    }
    __syncthreads();
  }
)",
     128},
    {"AChainOfBlocksWithFlagsLast", R"(
  if (t == 0) {
    float before = 0;
    if (block > 0) {
      while (all[127 + 2 * block] == 0) {}
      __threadfence();
      before = all[126 + 2 * block];
    }
    c[128 + 2 * block] = before + 1;
    __threadfence();
    all[129 + 2 * block] = 1;
    c[block] = before - block + 3;
  }
)",
     3},
    {"UpdatesOfGlobalMemoryByAtomics", R"(
  if (lane == 0) {
#pragma unroll 1
    for (int i = 0; i < 4; ++i) atomicAdd(&c[block], 1.0f);
  }
)",
     16},
    {"PlainUpdatesOfOwnWords", R"(
  if (lane == 0) data[warp * 5 % 4] += 1;
  __syncthreads();
  if (t == 0) c[block] = data[0] + data[1] + data[2] + data[3];
)",
     4},
    {"HandedOverBehindAMeeting", R"(
  if (lane < 16) own[t] = 1;
  __syncwarp();
  if (lane >= 16) own[t] = own[t - 16] + 1;
  __syncthreads();
  float least = 2;
  for (int i = 16; t == 0 && i < 32; ++i) least = fminf(fminf(own[i], own[32 + i]), fminf(own[64 + i], least));
  if (t == 0) c[block] = least;
)",
     2},
    {"WaysThatMeetHalfway", R"(
  if (lane < 16) {
    own[t] = 1;
    __syncwarp();
    s[t] = own[t + 16];
  } else {
    own[t] = 2;
    __syncwarp();
    s[t] = own[t - 16];
  }
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 128; ++i) sum += s[i];
  if (t == 0) c[block] = sum;
)",
     192},
};

const bool kByRightJoined = join(map_to_text(kByRight, interleaved_text));

class RightByOrder : public testing::TestWithParam<Interleaved> {};

TEST_P(RightByOrder, IsRightWithEverySeed) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    std::string why;
    EXPECT_FALSE(goes_wrong(interleaved_text(GetParam()), GetParam().wanted, seed, &why)) << seed << ": " << why;
  }
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, RightByOrder, testing::ValuesIn(every_third(kByRight)),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(LongSanitizer, RightByOrder, testing::ValuesIn(all_but_every_third(kByRight)),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
