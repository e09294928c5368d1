// Volatile accesses to shared memory: a load that polls is ordered after the store that it waits for. Other volatile
// loads race with stores of other warps as plain loads do.
#include <gmock/gmock.h>

#include <algorithm>

#include "common/base/json.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// The body of a kernel after `kVolatileHead`, run with 64 threads and two blocks. `// @` marks the faulty line.
struct VolatileBody {
  const char* name;
  const char* body;
  const char* says = "";
};

constexpr const char* kVolatileHead = R"(#include <roofwalk.cuh>
__device__ __noinline__ int look(volatile int* flag) { return *flag; }
__device__ __noinline__ float look(volatile float* word) { return *word; }
__global__ void k(float* c) {
  __shared__ volatile float v[128];
  __shared__ volatile int flag[4];
  __shared__ float s[64];
  const int t = threadIdx.x, warp = t / 32;
  v[t] = v[t + 64] = s[t] = 0;
  if (t < 4) flag[t] = 0;
  __syncthreads();
)";

RunRecord run_volatile(const std::string& text, const RunOptions& options) {
  Buffer c{"c", std::vector<float>(128, 1.0f)};
  RunOptions limited = options;
  limited.max_work = 50'000'000;
  auto record = Runner().run(text, {&c}, limited);
  EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
  return record.ok() ? std::move(*record) : RunRecord{};
}

std::string volatile_text(const VolatileBody& body) {
  const bool with_atomics = std::string(body.body).find("cuda::") != std::string::npos;
  return (with_atomics ? "#include <cuda/atomic>\n" : "") + std::string(kVolatileHead) + body.body +
         "}\nSOLVE(float* c) { k<<<2, 64>>>(c); }\n";
}

void PrintTo(const VolatileBody& body, std::ostream* out) { *out << body.name; }

const VolatileBody kRacing[] = {
    {"store_then_load", R"(
  if (warp == 0) v[t] = t;
  if (warp == 1) c[t] = v[t - 32];  // @
)",
     "reads element 0 of v, which thread (0, 0, 0) writes at line 13, and volatile orders nothing"},
    {"load_then_store", R"(
  if (warp == 0) c[t] = v[t + 32];
  if (warp == 1) v[t] = t;  // @
)",
     "writes element 32 of v, which thread (0, 0, 0) reads at line 13, and volatile orders nothing"},
    {"load_then_plain_store", R"(
  volatile float* const same = s;
  if (warp == 0) c[t] = same[t + 32];
  if (warp == 1) s[t] = t;  // @
)",
     "writes element 32 of s"},
    {"tiles_in_a_loop", R"(
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    v[i % 2 * 64 + t] = c[t] + i;  // @
    sum += v[i % 2 * 64 + (t ^ 32)];
  }
  if (sum > 3) c[t] = sum;
)",
     "race: "},
    {"sum_by_a_function", R"(
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    v[i % 2 * 64 + t] = c[t] + i;
    sum += look(&v[i % 2 * 64 + (t ^ 32)]);
  }
  if (sum > 3) c[t] = sum;
)",
     "race: "},
    {"relaxed_loads", R"(
  cuda::atomic_ref<float, cuda::thread_scope_block> mine(s[t]), other(s[t ^ 32]);
  mine.store(t, cuda::memory_order_relaxed);
  c[t] = other.load(cuda::memory_order_relaxed);
)",
     "race: "},
    {"flag_that_is_read_once", R"(
  if (t == 0) {
    s[0] = 5;
    __threadfence_block();
    flag[0] = 1;
  }
  if (t == 32) c[0] = flag[0] * s[0];  // @
)",
     "race: "},
    {"relaxed_load_that_picks", R"(
  __shared__ int word;
  if (t == 0) word = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> known(word);
  if (t == 32) {
    s[0] = 5;
    known.store(1, cuda::memory_order_release);
  }
  if (t < 32) c[t] = known.load(cuda::memory_order_relaxed) ? s[0] : 1.0f;
)"},
    {"relaxed_load_that_decides_who_reads", R"(
  __shared__ int word;
  if (t == 0) word = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> known(word);
  if (t == 32) {
    s[0] = 5;
    known.store(1, cuda::memory_order_release);
  }
  if (t < 32 && known.load(cuda::memory_order_relaxed) != 0) c[t] = s[0];
)",
     "of word"},
    {"relaxed_load_beside_a_plain_store", R"(
  __shared__ int words[2];
  if (t < 2) words[t] = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> other(words[warp ^ 1]);
  if (t % 32 == 0) words[warp] = 1;
  c[t] = other.load(cuda::memory_order_relaxed) > 100 ? 2.0f : 1.0f;
)",
     "of words"},
    {"acquire_load_of_no_use", R"(
  __shared__ int word;
  if (t == 0) word = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> known(word);
  if (t == 0) {
    s[0] = 5;
    known.store(1, cuda::memory_order_release);
  }
  if (t >= 32) c[t] = known.load(cuda::memory_order_acquire) + s[0];
)",
     "of s"},
    {"acquire_load_that_picks_what_is_not_released", R"(
  __shared__ int word;
  if (t == 0) word = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> known(word);
  if (t == 0) {
    known.store(1, cuda::memory_order_release);
    s[0] = 5;
  }
  if (t >= 32) c[t] = known.load(cuda::memory_order_acquire) ? s[0] : 1.0f;
)",
     "of s"},
    {"count_that_picks_without_fences", R"(
  int* const count = const_cast<int*>(&flag[0]);
  s[t] = 1;
  const int before = atomicAdd(count, 1);
  c[t] = before == 63 ? s[t ^ 33] : 1.0f;
)",
     "of s"},
};

const bool kRacingJoined = join(map_to_text(kRacing, volatile_text));

class VolatileRace : public testing::TestWithParam<VolatileBody> {};

TEST_P(VolatileRace, IsFound) {
  const std::string text = volatile_text(GetParam());
  const RunRecord record = run_volatile(text, kSanitized);
  ASSERT_TRUE(record.fault.has_value());
  EXPECT_EQ(record.fault->kind, FaultKind::race);
  EXPECT_THAT(record.fault->message, testing::HasSubstr(GetParam().says));
  const auto mark = text.find("// @");
  if (mark == std::string::npos) return;
  EXPECT_EQ(record.fault->line, 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mark), '\n'));
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, VolatileRace, testing::ValuesIn(kRacing),
                         [](const auto& each) { return each.param.name; });

const VolatileBody kPolling[] = {
    {"with_pauses_that_grow", R"(
  if (t == 32) {
    s[0] = 5;
    __threadfence_block();
    flag[0] = 1;
  }
  if (t == 0) {
    for (unsigned ns = 8; flag[0] == 0; ns = ns < 256 ? ns * 2 : ns) __nanosleep(ns);
    __threadfence_block();
    c[0] = s[0];
  }
)"},
    {"for_the_size_of_a_value", R"(
  if (t == 32) {
    s[0] = 5;
    __threadfence_block();
    v[0] = -2;
  }
  if (t == 0) {
    while (fmaxf(fabsf(v[0]), 0.5f) < 1) __nanosleep(20);
    __threadfence_block();
    c[0] = s[0];
  }
)"},
    {"for_a_ring", R"(
  volatile int *const head = &flag[0], *const tail = &flag[1];
  constexpr int kPlaces = 4, kCount = 40;
  if (t == 0) {
    for (int i = 0; i < kCount; ++i) {
      while (*head - *tail == kPlaces) {}
      v[*head % kPlaces] = i;
      __threadfence_block();
      *head = *head + 1;
    }
  }
  if (t == 32) {
    float sum = 0;
    for (int i = 0; i < kCount; ++i) {
      while (*head == *tail) __nanosleep(20);
      __threadfence_block();
      sum += v[*tail % kPlaces];
      __threadfence_block();
      *tail = *tail + 1;
    }
    c[0] = sum;
  }
)"},
    {"by_trying_between_work", R"(
  if (t == 32) {
    v[0] = 5;
    __threadfence_block();
    flag[0] = 1;
  }
  if (t == 0) {
    float own = 0;
    for (int i = 0;; ++i) {
      if (flag[0] != 0) {
        __threadfence_block();
        own += v[0];
        break;
      }
      own += c[i % 8];
    }
    c[64] = own;
  }
)"},
    {"for_turns", R"(
#pragma unroll 1
  for (int i = 0; i < 6; ++i) {
    if (t % 32 == 0) {
      while (flag[0] != 2 * i + warp) {}
      __threadfence_block();
      s[0] += 1;
      v[0] = v[0] + s[0];
      __threadfence_block();
      flag[0] = flag[0] + 1;
    }
    __syncwarp();
  }
)"},
    {"by_a_lane_that_tells_the_others", R"(
  if (warp == 1) {
    s[t] = t;
    __syncwarp();
    __threadfence_block();
    if (t == 32) flag[0] = 3;
  } else {
    int seen = 0;
    do {
      if (t == 0) seen = flag[0];
      seen = __shfl_sync(~0u, seen, 0);
    } while (!__any_sync(~0u, seen == 3));
    __threadfence_block();
    __syncwarp();
    c[t] = s[t + 32];
  }
)"},
    {"in_a_function", R"(
  if (t == 32) {
    s[0] = 5;
    __threadfence_block();
    flag[0] = 1;
  }
  if (t == 0) {
    while (look(&flag[0]) == 0) __nanosleep(20);
    __threadfence_block();
    c[0] = s[0];
  }
)"},
    {"by_an_acquire_load", R"(
  __shared__ int word;
  if (t == 0) word = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> known(word);
  if (t == 32) {
    s[0] = 5;
    known.store(1, cuda::memory_order_release);
  }
  if (t == 0) {
    while (known.load(cuda::memory_order_acquire) == 0) {}
    c[0] = s[0];
  }
)"},
    {"back_over_states", R"(
  if (t % 32 == 0) {
    v[warp] = 10 + warp;
    __threadfence_block();
    flag[warp] = 1;
    float before = 0;
    for (int from = warp - 1; from >= 0; --from) {
      int state = 0;
      do state = flag[from];
      while (state == 0);
      __threadfence_block();
      before += v[from];
      if (state == 2) break;
    }
    v[64 + warp] = before + v[warp];
    __threadfence_block();
    flag[warp] = 2;
    c[warp] = before;
  }
)"},
    {"not_at_all_between_barriers", R"(
  for (int i = 0; i < 3; ++i) {
    v[t] = c[t] + i;
    __syncthreads();
    c[t] += v[t ^ 32];
    __syncthreads();
  }
)"},
    {"not_at_all_within_a_warp", R"(
  v[t] = t;
  __syncwarp();
  for (int w = 16; w > 0; w /= 2) {
    const float x = v[t] + v[t ^ w];
    __syncwarp();
    v[t] = x;
    __syncwarp();
  }
  c[t] = v[t];
)"},
    {"not_at_all_an_acquire_load_picks", R"(
  __shared__ int word;
  if (t == 0) word = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> known(word);
  if (t == 0) {
    s[0] = 5;
    known.store(1, cuda::memory_order_release);
  }
  c[t] = known.load(cuda::memory_order_acquire) ? s[0] : 1.0f;
)"},
    {"not_at_all_an_acquire_load_of_no_use", R"(
  __shared__ int word;
  if (t == 0) word = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> known(word);
  if (t == 0) known.store(1, cuda::memory_order_release);
  c[t] = static_cast<float>(known.load(cuda::memory_order_acquire) >= 0);
)"},
    {"not_at_all_a_relaxed_load_peeks", R"(
  __shared__ int progress[2];
  if (t < 2) progress[t] = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> own(progress[warp]), other(progress[warp ^ 1]);
  int most = 0;
  for (int k = 0; k < 4; ++k) {
    if (t % 32 == 0) own.store(k, cuda::memory_order_relaxed);
    most = max(most, other.load(cuda::memory_order_relaxed));
  }
  c[t] = most > 100 ? 2.0f : 1.0f;
)"},
    {"not_at_all_a_relaxed_load_saves_work", R"(
  __shared__ int word;
  if (t == 0) word = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> is_full(word);
  if (is_full.load(cuda::memory_order_relaxed) == 0) c[t] = sqrtf(c[t]);
  if (t % 32 == 0) is_full.store(1, cuda::memory_order_relaxed);
)"},
    {"not_at_all_an_acquire_load_is_an_index", R"(
  __shared__ int word;
  __shared__ float table[2][32];
  if (t < 32) table[0][t] = 1;
  if (t == 0) word = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> now(word);
  if (warp == 0) {
    table[1][t] = 1;
    __syncwarp();
    if (t == 0) now.store(1, cuda::memory_order_release);
  }
  const int at = now.load(cuda::memory_order_acquire);
  c[t] = table[at][t % 32 ^ 1];
)"},
    {"not_at_all_the_last_to_count_picks", R"(
  int* const count = const_cast<int*>(&flag[0]);
  s[t] = 1;
  __threadfence_block();
  const int before = atomicAdd(count, 1);
  __threadfence_block();
  c[t] = before == 63 ? s[5] : 1.0f;
)"},
    {"not_at_all_but_an_atomic_follows", R"(
  int* const best = const_cast<int*>(&flag[0]);
  for (int i = 0; i < 4; ++i) {
    const int mine = t * 37 % 64 + i;
    if (flag[0] < mine) atomicMax(best, mine);
  }
  __syncthreads();
  c[t] = flag[0];
)"},
};

const bool kPollingJoined = join(map_to_text(kPolling, volatile_text));

class VolatileLoads : public testing::TestWithParam<VolatileBody> {};

// The sanitizer finds nothing and changes no count or time.
TEST_P(VolatileLoads, Poll) {
  const std::string text = volatile_text(GetParam());
  const RunRecord sanitized = run_volatile(text, kSanitized), plain = run_volatile(text, {});
  ASSERT_FALSE(sanitized.fault.has_value()) << sanitized.fault->line << ": " << sanitized.fault->message;
  EXPECT_EQ(to_json(sanitized), to_json(plain));
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, VolatileLoads, testing::ValuesIn(kPolling),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
