// Of several atomics on a word, a plain access may be ordered behind the last only.
#include "tests/unit/vgpu/sanitizer/judged_bodies.h"

namespace roofwalk::test {
namespace {

const JudgedBody kBehindTheLast[] = {
    {"ReadByTheWarpThatCameLast", R"(
  __shared__ int n;
  if (t == 0) n = 0;
  __syncthreads();
  if (t % 32 == 0) atomicAdd(&n, 1);
  if (t == 32) c[t] = n;  // @
)",
     FaultKind::race, "of n, which thread (0, 0, 0) updates"},
    {"WrittenByTheWarpThatCameLast", R"(
  __shared__ int n;
  if (t == 0) n = 0;
  __syncthreads();
  if (t % 32 == 0) atomicAdd(&n, 1);
  if (t == 32) n = 7;  // @
  __syncthreads();
  c[t] = n;
)",
     FaultKind::race, "of n, which thread (0, 0, 0) updates"},
    {"ReadByTheLaneThatCameLast", R"(
  __shared__ int n;
  if (t == 0) n = 0;
  __syncthreads();
  if (t < 32) atomicMax(&n, t);
  if (t == 31) c[t] = n;  // @
)",
     FaultKind::race, "of n"},
    {"KnownOfTheLastOnly", R"(
  __shared__ int n, flag;
  if (t == 0) n = flag = 0;
  __syncthreads();
  if (t % 32 == 0) atomicAdd(&n, 1);
  if (t == 32) {
    __threadfence_block();
    atomicExch(&flag, 1);
  }
  __syncwarp();
  if (t == 33) {
    while (atomicAdd(&flag, 0) == 0) {}
    __threadfence_block();
    c[t] = n;  // @
  }
)",
     FaultKind::race, "updates"},
};

const char* const kBehindAll[] = {
    R"(
  __shared__ int n;
  if (t == 0) n = 0;
  __syncthreads();
  if (t % 32 == 0) atomicAdd(&n, 1);
  __syncthreads();
  if (t == 32) c[t] = n;
)",
    R"(
  __shared__ int n;
  if (t == 0) n = 0;
  __syncthreads();
  for (int i = 0; i < 3; ++i) {
    __threadfence_block();
    if (t % 32 == 0 && atomicAdd(&n, 1) == 1) n = 0;
    __syncthreads();
  }
)",
    R"(
  __shared__ int n;
  if (t == 0) n = 0;
  __syncthreads();
  if (t < 32) atomicMax(&n, t);
  __syncwarp();
  if (t == 31) c[t] = n;
)",
    R"(
  __shared__ int n, flag;
  if (t == 0) n = flag = 0;
  __syncthreads();
  if (t % 32 == 0) {
    atomicAdd(&n, 1);
    __threadfence_block();
    atomicAdd(&flag, 1);
  }
  if (t == 32) {
    while (atomicAdd(&flag, 0) != 2) {}
    __threadfence_block();
    c[t] = n;
    n = 5;
    c[t] += n;
  }
)",
    R"(
  __shared__ int bins[8];
  if (t < 8) bins[t] = 0;
  __syncthreads();
  for (int i = 0; i < 3; ++i) {
    atomicAdd(&bins[(t + i) % 8], 1);
    __syncthreads();
    if (t < 8) c[t] += bins[t];
    __syncthreads();
    if (t < 8) bins[t] = 0;
    __syncthreads();
  }
)",
};

const bool kBehindTheLastJoined =
    join(map_to_text(kBehindTheLast, [](const auto& each) { return block_text(each.body); }));
const bool kBehindAllJoined = join(map_to_text(kBehindAll, block_text));

class PlainAccess : public testing::TestWithParam<JudgedBody> {};

TEST_P(PlainAccess, RacesWithAnAtomicInFrontOfTheLast) { expect_fault(block_text(GetParam().body), GetParam()); }

INSTANTIATE_TEST_SUITE_P(Sanitizer, PlainAccess, testing::ValuesIn(kBehindTheLast),
                         [](const auto& each) { return each.param.name; });

class OrderedAccess : public testing::TestWithParam<const char*> {};

TEST_P(OrderedAccess, IsBehindAllAtomics) { expect_no_fault(block_text(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Sanitizer, OrderedAccess, testing::ValuesIn(kBehindAll));

}  // namespace
}  // namespace roofwalk::test
