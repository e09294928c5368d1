// Values that nobody has written must not be used.
#include "tests/support/thirds.h"
#include "tests/unit/vgpu/sanitizer/unset_values.h"

namespace roofwalk::test {
namespace {

const Unset kUsed[] = {
    {"MemberOfAnArgument", R"(
  x = sum_of(few_of(c, n), n + 1);
)",
     "of a local array"},
    {"MemberBehindTwoCalls", R"(
  x = sum_of(doubled(few_of(c, n)), n + 1);
)",
     "of a local array"},
    {"ElementOfAnArray", R"(
  float from[8], to[8];
  for (int i = 0; i < n; ++i) from[i] = c[i];
  for (int i = 0; i < 8; ++i)
    to[(i + n) % 8] = from[i];
  x = to[(n + n) % 8];  // @
)",
     "of a local array"},
    {"CopyInSharedMemory", R"(
  for (int i = 0; i < n; ++i) box[t].v[i] = c[i];
  __syncthreads();
  box[t ^ 32].v[n + 2] = box[t ^ 32].v[n + 1];
  __syncthreads();
  x = box[t].v[n + 2];  // @
)",
     "shared memory, where a value was stored that had never been set"},
    {"CopyThatAnAtomicAddsTo", R"(
  asm volatile("{.reg .f32 v; ld.shared.f32 v, [%0]; st.shared.f32 [%0], v;}" ::"r"(at));
  x = atomicAdd(&s[t], 1.0f);  // @
)",
     "updates element 0 of s"},
    {"Branch", R"(
  if (s[t] > 1) x = 1;  // @
)",
     "reads element 0 of s"},
    {"Address", R"(
  const int i = reinterpret_cast<const int*>(s)[t];  // @
  x = c[i & 1];
)",
     "reads element 0 of s"},
    {"ResultOfArithmetic", R"(
  const float v = s[t];  // @
  x = sqrtf(v + 1) * 0;
)",
     "reads element 0 of s"},
    {"PickedInOneLane", R"(
  if (t < 8) s[t] = 1;
  float v = s[t];  // @
  asm volatile("{.reg .pred p; setp.lt.s32 p, %2, 9; selp.f32 %0, %1, 0f00000000, p;}" : "=f"(x) : "f"(v), "r"(t));
)",
     "reads element 8 of s"},
    {"ToldToOtherLanes", R"(
  if (t != 5) s[t] = 1;
  const float v = s[t];  // @
  x = __shfl_down_sync(~0u, v, 3);
)",
     "reads element 5 of s"},
    {"BitFieldThatIsNotSet", R"(
  __shared__ Bits bits[64];
  bits[t].busy = n > 2;
  bits[t].warp = t / 32;
  __syncthreads();
  const Bits other = bits[t ^ 33];  // @
  if (other.lane == 31) x = 1;
)",
     "of bits, shared memory"},
    {"OtherHalfOfAWord", R"(
  unsigned short* const halves = (unsigned short*)&s[t];
  halves[1] = t;
  x = *(const unsigned*)&s[t] & 0x1ffff;  // @
)",
     "of s, shared memory"},
    {"CountThatALowerHalfCarriesInto", R"(
  ((unsigned short*)&s[t])[1] = t;
  unsigned word = *(const unsigned*)&s[t];  // @
  word += 0x10001;
  x = word >> 16;
)",
     "of s, shared memory"},
    {"HalfOfAWordOfAnArray", R"(
  __align__(4) unsigned short halves[8];
  asm volatile("" ::"l"(halves) : "memory");
  halves[2 * n + 1] = 5;
  asm volatile("" ::"l"(halves) : "memory");
  x = ((unsigned*)halves)[n] & 1;  // @
)",
     "of a local array"},
    {"OtherHalfOfADoubleWord", R"(
  s[t & ~1] = 1;
  __syncthreads();
  unsigned long long both;
  asm volatile("ld.shared.b64 %0, [%1];" : "=l"(both) : "r"(at & ~7u));  // @
  x = both >> 62;
)",
     "of s, shared memory"},
    {"PairTakenApart", R"(
  const float v = s[t];  // @
  asm volatile("{.reg .f32 a; .reg .b64 d; mov.b64 d, {%1, %1}; mov.b64 {a, %0}, d;}" : "=f"(x) : "f"(v));
)",
     "reads element 0 of s"},
    {"NumberOfALane", R"(
  const int from = reinterpret_cast<const int*>(s)[t];  // @
  x = __shfl_sync(~0u, (float)t, from & 1);
)",
     "reads element 0 of s"},
    {"BallotThatDecides", R"(
  if (t % 32 < 8) s[t] = t;
  __syncthreads();
  const float v = s[t];  // @
  if ((__ballot_sync(~0u, v > -1) & 0x1ff) == 0xff) x = 1;
)",
     "reads element 8 of s"},
    {"VoteThatNobodyDecides", R"(
  if (t % 32 < 8) s[t] = t;
  __syncthreads();
  const float v = s[t];  // @
  x = __any_sync(~0u, v == -1);
)",
     "reads element 8 of s"},
    {"MatchWithTheTail", R"(
  if (t % 32 < 20) s[t] = t & 3;
  __syncwarp();
  const float v = s[t];  // @
  const unsigned peers = __match_any_sync(~0u, __float_as_int(v)) & 0x1fffff;
  if (t % 32 < 20) x = __popc(peers);
)",
     "reads element 20 of s"},
    {"MatchOfTheTailItself", R"(
  if (t % 32 < 20) s[t] = t & 3;
  __syncwarp();
  const float v = s[t];  // @
  x = __popc(__match_any_sync(~0u, __float_as_int(v)) & 0xfffff);
)",
     "reads element 20 of s"},
    {"MatchOfAllThatNobodyDecides", R"(
  if (t % 32 < 20) s[t] = 3;
  __syncwarp();
  const float v = s[t];  // @
  int all;
  __match_all_sync(~0u, __float_as_int(v), &all);
  x = all;
)",
     "reads element 20 of s"},
    {"OtherRowOfAProduct", R"(
  if (t % 32 < 16) s[t] = 1;  // rows 0 to 3, and 8 to 11
  __syncwarp();
  const unsigned v = __float_as_uint(s[t]);  // @
  float d[4];
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},"
               "{%4,%4,%4,%4}, {%5,%5}, {%6,%6,%6,%6};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : "r"(v), "r"(0x3f800000), "f"(0.0f));
  if (t % 32 < 20) x = d[0] + d[3];
)",
     "of s, shared memory"},
    {"ColumnOfAProduct", R"(
  if (t % 32 < 16) s[t] = 1;  // columns 0 to 3
  __syncwarp();
  const unsigned v = __float_as_uint(s[t]);  // @
  float d[4];
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},"
               "{%5,%5,%5,%5}, {%4,%4}, {%6,%6,%6,%6};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : "r"(v), "r"(0x3f800000), "f"(0.0f));
  x = d[0] + d[3];
)",
     "of s, shared memory"},
    {"OtherRowByLdmatrix", R"(
  const unsigned tile = (unsigned)__cvta_generic_to_shared(&s[t & ~31]);
  if (t % 32 < 16) s[t] = t;
  __syncwarp();
  unsigned rows;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(rows) : "r"(tile + 16 * (t % 8)));  // @
  if (t % 32 < 17) x = rows;
)",
     "of s, shared memory"},
    {"OtherRowLoadedByWmma", R"(
  for (int i = t % 32; i < 64; i += 32) ((unsigned*)box)[t / 32 * 128 + i] = i;  // rows of 16 halves
  __syncwarp();
  unsigned r[8];
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], 16;"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
               : "r"((unsigned)__cvta_generic_to_shared(box) + t / 32 * 512));  // @
  x = r[0] + r[1];
)",
     "of box, shared memory"},
    {"OtherRowStoredByWmma", R"(
  if (t % 32 < 16) s[t] = t;  // rows 0 to 3, and 8 to 11
  __syncwarp();
  const float v = s[t];
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {%1,%1,%1,%1,%1,%1,%1,%1}, 16;"
               ::"r"((unsigned)__cvta_generic_to_shared(box) + t / 32 * 1024), "f"(v) : "memory");
  __syncwarp();
  x = ((const float*)box)[t / 32 * 256 + 64];  // @
)",
     "of box, shared memory"},
    {"CopyInGlobalMemory", R"(
  __shared__ float4 sums[64];
  sums[t].x = t, sums[t].z = n;
  float4* const own = room + 64 * blockIdx.x;
  own[t] = sums[t];
  __syncthreads();
  const float4 other = own[t ^ 40];  // @
  x = other.x + other.y;
)",
     "where a value was stored that had never been set"},
    {"ByAnAsynchronousCopy", R"(
  __shared__ float4 sums[64];
  sums[t].x = t, sums[t].z = n;
  float4* const own = room + 64 * blockIdx.x;
  own[t] = sums[t];
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16; cp.async.wait_all;" ::"r"(
                   (unsigned)__cvta_generic_to_shared(&sums[t])), "l"(&own[t ^ 40]) : "memory");
  __syncthreads();
  const float4 other = sums[t ^ 9];  // @
  x = other.x + other.y;
)",
     "shared memory, where a value was stored that had never been set"},
    {"AtomicOnACopyInGlobalMemory", R"(
  rooms[t] = s[t];
  x = atomicAdd(&rooms[t], 1.0f);  // @
)",
     "updates rooms[0], where a value was stored that had never been set"},
    {"Result", R"(
  x = s[t];  // @
)",
     "reads element 0 of s"},
    {"ByOneStoreToSeveralMemories", R"(
  float own[2];
  asm volatile("" ::"l"(own) : "memory");
  if (t % 4 != 0) s[t] = t;
  float* const to = t % 3 == 0 ? own : t % 3 == 1 ? rooms + 64 * blockIdx.x + t : (float*)&box[t];
  asm volatile("{.reg .f32 v; ld.shared.f32 v, [%1]; st.f32 [%0], v;}" ::"l"(to), "r"(at) : "memory");
  asm volatile("ld.f32 %0, [%1];" : "=f"(x) : "l"(to) : "memory");  // @
  if (t % 3 != 1) x = 0;
)",
     "where a value was stored that had never been set"},
    {"AcrossARecursiveCall", R"(
  float v = s[t];  // @
  asm volatile("" : "+f"(v));
  x = halved(t, n) + v;
)",
     "reads element 0 of s"},
    {"ThroughARecursiveCall", R"(
  x = sum_of(passed(few_of(c, n), n), n + 1);
)",
     "of a local array"},
    {"ShuffledIntoSharedMemory", R"(
  float v = t;
  if (t % 32 < 8) v += __shfl_down_sync(0xff, v, 16);  // @
  s[t] = v;
  __syncthreads();
  if (s[t ^ 32] > 1) x = 1;
)",
     "which does not exchange with the mask 0xff"},
    {"StoredFromAThreadThatHasReturned", R"(
  if (t == 31) return;
  s[t] = __shfl_down_sync(0xffffffff, (float)t, 1);  // @
  __syncthreads();
  x = s[30] + 1;
)",
     "gets from lane 31 of its warp, which has ended or never was: read only from threads that still run"},
};

const bool kUsedJoined = join(map_to_text(kUsed, unset_text));

// A launch adds up or compares what another has stored: sums of eight lanes, which have read from sixteen or from
// eight.
TEST(ValuesThatNobodyShuffled, AreToldOfWhereTheShuffleIs) {
  const std::string& kSums = JOINT(R"(#include <roofwalk.cuh>
__global__ void k(float* c, int distance) {
  float v = threadIdx.x;
  if (threadIdx.x < 8) {
    for (int d = distance; d > 0; d /= 2) v += __shfl_down_sync(0xff, v, d);  // line 5
  }
  if (threadIdx.x == 0) c[blockIdx.x] = v;
}
__global__ void sum(const float* parts, float* c) {
  __shared__ float box[2];
  if (threadIdx.x < 2) box[threadIdx.x] = parts[threadIdx.x];
  __syncthreads();
  c[threadIdx.x] = box[0] + box[1];
}
__global__ void larger(const float* parts, float* c) { c[threadIdx.x] = parts[0] > 1 ? parts[1] : 2; }
SOLVE(float* c, int distance, int adds) {
  float* parts = scratch<float>(2);
  k<<<2, 64>>>(parts, distance);
  if (adds) sum<<<1, 64>>>(parts, c);
  else larger<<<1, 64>>>(parts, c);
}
)");
  for (const int adds : {0, 1}) {
    Buffer c{"c", std::vector<float>(64)};
    const auto wrong = Runner().run(kSums, {&c, 16, adds}, kSanitized);
    ASSERT_TRUE(wrong.ok() && wrong->fault.has_value());
    EXPECT_EQ(wrong->fault->line, 5);
    EXPECT_EQ(wrong->fault->kernel, "k");
    EXPECT_THAT(wrong->fault->message, testing::HasSubstr("gets from thread (16, 0, 0), which does not exchange"));
    const auto right = Runner().run(kSums, {&c, 4, adds}, kSanitized);
    ASSERT_TRUE(right.ok());
    EXPECT_FALSE(right->fault.has_value()) << right->fault->message;
  }
}

class UsesOfValuesThatNobodyWrote : public testing::TestWithParam<Unset> {};

TEST_P(UsesOfValuesThatNobodyWrote, AreFound) {
  const std::string text = unset_text(GetParam());
  std::size_t mark = text.find("// @");
  if (mark == std::string::npos) mark = text.find("// sum");
  for (const bool lockstep : {false, true}) {
    RunOptions options = kSanitized;
    options.lockstep = lockstep;
    const RunRecord record = run_unset(text, options);
    ASSERT_TRUE(record.fault.has_value());
    EXPECT_EQ(record.fault->kind, FaultKind::uninitialized);
    EXPECT_THAT(record.fault->message, testing::HasSubstr(GetParam().says));
    EXPECT_EQ(record.fault->line, 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mark), '\n'))
        << record.fault->message;
  }
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, UsesOfValuesThatNobodyWrote, testing::ValuesIn(every_third(kUsed)),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(LongSanitizer, UsesOfValuesThatNobodyWrote, testing::ValuesIn(all_but_every_third(kUsed)),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
