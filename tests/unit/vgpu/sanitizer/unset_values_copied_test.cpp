// Values that nobody has written may be copied.
#include "common/base/json.h"
#include "tests/support/thirds.h"
#include "tests/unit/vgpu/sanitizer/unset_values.h"

namespace roofwalk::test {
namespace {

const Unset kCopied[] = {
    {"ThroughCalls", R"(
  const Few few = doubled(few_of(c, n));
  x = sum_of(few, n);
)"},
    {"ThroughArrays", R"(
  float from[8], to[8];
  for (int i = 0; i < n; ++i) from[i] = c[i];
  for (int i = 0; i < 8; ++i) to[(i + n) % 8] = from[i];
  x = to[(1 + n) % 8];
)"},
    {"ThroughSharedMemory", R"(
  box[t].count = n;
  for (int i = 0; i < n; ++i) box[t].v[i] = c[i];
  __syncthreads();
  Few other = box[t ^ 40];
  __syncthreads();
  other.v[n] = 4;
  box[t] = other;
  __syncthreads();
  for (int i = 0; i <= n; ++i) x += box[t ^ 1].v[i];
)"},
    {"SetInSomeLanes", R"(
  if (t % 3 == 0) s[t] = 1;
  const float v = s[t];
  if (t % 3 == 0) x = v;
)"},
    {"ComputedAndPickedAway", R"(
  if (t < 8) s[t] = 1;
  asm volatile("{.reg .pred p; .reg .f32 v; ld.shared.f32 v, [%2]; add.f32 v, v, v; st.shared.f32 [%2], v;"
               "ld.shared.f32 v, [%2]; fma.rn.f32 v, v, v, v; setp.lt.s32 p, %1, 8; selp.f32 %0, v, 0f00000000, p;}"
               : "=f"(x) : "r"(t), "r"(at));
)"},
    {"SetAnew", R"(
  asm volatile("{.reg .f32 v; ld.shared.f32 v, [%1]; st.shared.f32 [%1], v; mov.f32 v, 0f3f800000;"
               "st.shared.f32 [%1], v; ld.shared.f32 %0, [%1];}" : "=f"(x) : "r"(at));
)"},
    {"HalfOfAPair", R"(
  if (t % 2 == 0) s[t] = 1;
  __syncthreads();
  const float2 pair = *(const float2*)&s[t & ~1];
  x = pair.x;
)"},
    {"PutTogetherAndTakenApart", R"(
  if (t < 32) s[t] = 1;
  __syncthreads();
  asm volatile("{.reg .f32 a, b; .reg .b64 d; ld.shared.f32 a, [%1]; ld.shared.f32 b, [%1+128]; mov.b64 d, {a, b};"
               "mov.b64 {%0, b}, d;}" : "=f"(x) : "r"(at & ~128u));
)"},
    {"BitFieldsOneByOne", R"(
  __shared__ Bits bits[64];
  bits[t].busy = n > 2;
  bits[t].warp = t / 32;
  bits[t].lane = t % 32;
  __syncthreads();
  const Bits other = bits[t ^ 33];
  x = other.lane + 32 * other.warp;
)"},
    {"HalfOfAWord", R"(
  unsigned short* const halves = (unsigned short*)&s[t];
  halves[1] = t;
  x = *(const unsigned*)&s[t] >> 16;
)"},
    {"ComparedByTheUpperHalfOfAWord", R"(
  ((unsigned short*)&s[t])[1] = t % 2 == 0 ? 0x8001 : 0x4000;
  const unsigned word = *(const unsigned*)&s[t];
  if (word >= 0x80000000u) x = 1;
  if (__clz(word) == 1) x += 2;
)"},
    {"CountInTheUpperHalfOfAWord", R"(
  ((unsigned short*)&s[t])[1] = t;
  unsigned word = *(const unsigned*)&s[t];
  for (int i = 0; i < n; ++i) word += 1u << 16;
  *(unsigned*)&s[t] = word - 0x50000;
  x = ((unsigned short*)&s[t])[1];
)"},
    {"FieldsPermutedAndShifted", R"(
  unsigned short* const halves = (unsigned short*)&s[t];
  halves[0] = t;
  asm volatile("{.reg .b32 a, b, c; .reg .pred p; ld.shared.b32 a, [%1]; prmt.b32 b, a, 7, 0x1032; shr.u32 b, b, 16;"
               "bfi.b32 c, a, b, 16, 16; bfe.u32 c, c, 16, 16; xor.b32 b, b, c; lop3.b32 b, b, 0, a, 0x30;"
               "setp.ne.u32 p, b, 0; @p trap; shf.l.wrap.b32 a, a, a, 16; shr.u32 a, a, 16; cvt.rn.f32.u32 %0, a;}"
               : "=f"(x) : "r"(at));
)"},
    {"ToLanesThatDropIt", R"(
  if (t % 32 < 4) s[t] = 1;
  __syncthreads();
  float v = s[t];
  for (int d = 2; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (t % 32 == 0) x = v;
)"},
    {"BallotMaskedAway", R"(
  if (t % 32 < 8) s[t] = t;
  __syncthreads();
  const unsigned ballot = __ballot_sync(~0u, s[t] > 2) & 0xff;
  x = __popc(ballot & ((1u << t % 8) - 1));
)"},
    {"BallotOfLowerLanes", R"(
  if (t % 32 < 8) s[t] = t;
  __syncthreads();
  const unsigned ballot = __ballot_sync(~0u, s[t] > 2);
  unsigned lower;
  asm volatile("mov.u32 %0, %lanemask_lt;" : "=r"(lower));
  if (t % 32 < 8) x = __popc(ballot & lower);
)"},
    {"VotesThatOthersDecide", R"(
  if (t % 32 == 0) s[t] = 1;
  __syncwarp();
  const float v = s[t];
  x = __any_sync(~0u, v == 1) + __all_sync(~0u, v != 1);
)"},
    {"MatchOfATail", R"(
  if (t % 32 < 20) s[t] = t & 3;
  __syncwarp();
  const unsigned set = __ballot_sync(~0u, t % 32 < 20);
  const unsigned peers = __match_any_sync(~0u, __float_as_int(s[t])) & set;
  if (t % 32 < 20) x = __popc(peers);
)"},
    {"MatchesThatOtherBitsDecide", R"(
  ((unsigned short*)&s[t])[0] = t;
  __syncwarp();
  const unsigned peers = __match_any_sync(~0u, *(const unsigned*)&s[t]);
  int all;
  __match_all_sync(~0u, *(const unsigned*)&s[t], &all);
  x = __popc(peers) + all;
)"},
    {"RowsOfAProduct", R"(
  if (t % 32 < 16) s[t] = 1;  // rows 0 to 3, and 8 to 11
  __syncwarp();
  const unsigned v = __float_as_uint(s[t]);
  float d[4];
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},"
               "{%4,%4,%4,%4}, {%5,%5}, {%6,%6,%6,%6};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : "r"(v), "r"(0x3f800000), "f"(0.0f));
  if (t % 32 < 16) x = d[0] + d[3];
)"},
    {"RowsByLdmatrix", R"(
  const unsigned tile = (unsigned)__cvta_generic_to_shared(&s[t & ~31]);
  if (t % 32 < 16) s[t] = t;
  __syncwarp();
  unsigned rows;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(rows) : "r"(tile + 16 * (t % 8)));
  if (t % 32 < 16) x = rows;
)"},
    {"RowsTurnedByLdmatrix", R"(
  const unsigned tile = (unsigned)__cvta_generic_to_shared(&s[t & ~31]);
  if (t % 32 < 16) s[t] = t;
  __syncwarp();
  unsigned rows;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(rows) : "r"(tile + 16 * (t % 8)));
  if (t % 4 < 2) x = rows;
)"},
    {"RowsLoadedByWmma", R"(
  for (int i = t % 32; i < 64; i += 32) ((unsigned*)box)[t / 32 * 128 + i] = i;  // rows of 16 halves
  __syncwarp();
  unsigned r[8];
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], 16;"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
               : "r"((unsigned)__cvta_generic_to_shared(box) + t / 32 * 512));
  x = r[0] + r[2];
)"},
    {"RowsStoredByWmma", R"(
  if (t % 32 < 16) s[t] = t;  // rows 0 to 3, and 8 to 11
  __syncwarp();
  const float v = s[t];
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {%1,%1,%1,%1,%1,%1,%1,%1}, 16;"
               ::"r"((unsigned)__cvta_generic_to_shared(box) + t / 32 * 1024), "f"(v) : "memory");
  __syncwarp();
  x = ((const float*)box)[t / 32 * 256 + t % 32] + ((const float*)box)[t / 32 * 256 + 8 * 16 + t % 32];
)"},
    {"ThroughGlobalMemory", R"(
  __shared__ float4 sums[64];
  sums[t].x = t, sums[t].z = n;
  float4* const own = room + 64 * blockIdx.x;
  own[t] = sums[t];
  __syncthreads();
  float y, z, w;
  asm volatile("ld.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(&own[t ^ 40]));
  x += z;
)"},
    {"ByAsynchronousCopies", R"(
  __shared__ float4 sums[64];
  sums[t].x = t, sums[t].z = n;
  float4* const own = room + 64 * blockIdx.x;
  own[t] = sums[t];
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16; cp.async.wait_all;" ::"r"(
                   (unsigned)__cvta_generic_to_shared(&sums[t])), "l"(&own[t ^ 40]) : "memory");
  __syncthreads();
  x = sums[t ^ 9].x + sums[t ^ 9].z;
)"},
    {"ByAsynchronousCopiesOfTheSetPart", R"(
  __shared__ float4 sums[64];
  sums[t].x = t;
  float4* const own = room + 64 * blockIdx.x;
  own[t] = sums[t];
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, 4; cp.async.wait_all;" ::"r"(
                   (unsigned)__cvta_generic_to_shared(&sums[t])), "l"(&own[t ^ 40]) : "memory");
  __syncthreads();
  x = sums[t ^ 9].x + sums[t ^ 9].z;
)"},
    {"ThroughVolatileMemory", R"(
  volatile float* const v = s;
  if (t < 8) v[t] = 1;
  __syncwarp();
  v[t] = v[t];
  __syncwarp();
  x = t < 8 ? v[t] : 0;
)"},
    {"ToAResultThatIsSetLater", R"(
  *(volatile float*)&c[t] = s[t];
)"},
    {"ByOneStoreToSeveralMemories", R"(
  float own[2];
  asm volatile("" ::"l"(own) : "memory");
  if (t % 4 != 0) s[t] = t;
  float* const to = t % 3 == 0 ? own : t % 3 == 1 ? rooms + 64 * blockIdx.x + t : (float*)&box[t];
  asm volatile("{.reg .f32 v; ld.shared.f32 v, [%1]; st.f32 [%0], v;}" ::"l"(to), "r"(at) : "memory");
  float back;
  asm volatile("ld.f32 %0, [%1];" : "=f"(back) : "l"(to) : "memory");
  if (t % 4 != 0) x = back;
)"},
    {"AcrossARecursiveCall", R"(
  if (t < 8) s[t] = 1;
  float v = s[t];
  asm volatile("" : "+f"(v));
  x = halved(t, n);
  if (t < 8) x += v;
)"},
    {"ThroughARecursiveCall", R"(
  x = sum_of(passed(few_of(c, n), n), n);
)"},
};

const bool kCopiedJoined = join(map_to_text(kCopied, unset_text));

class ValuesThatNobodyWrote : public testing::TestWithParam<Unset> {};

TEST_P(ValuesThatNobodyWrote, MayBeCopied) {
  const std::string text = unset_text(GetParam());
  const RunRecord plain = run_unset(text, {});
  ASSERT_FALSE(plain.fault.has_value()) << plain.fault->message;
  for (const bool lockstep : {false, true}) {
    RunOptions options = kSanitized;
    options.lockstep = lockstep;
    const RunRecord sanitized = run_unset(text, options);
    ASSERT_FALSE(sanitized.fault.has_value()) << sanitized.fault->line << ": " << sanitized.fault->message;
    EXPECT_EQ(to_json(sanitized), to_json(plain));
  }
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, ValuesThatNobodyWrote, testing::ValuesIn(every_third(kCopied)),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(LongSanitizer, ValuesThatNobodyWrote, testing::ValuesIn(all_but_every_third(kCopied)),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
