// Plain loads whose value only guesses what a compare-and-swap will find (lowering/analysis/guesses.h).
#include "tests/support/thirds.h"
#include "tests/unit/vgpu/sanitizer/judged_bodies.h"

namespace roofwalk::test {
namespace {

// Bodies after `kGuessHead`, run with 64 threads. `below` names, for each node of a stack, the one below it, from 1 on.
constexpr const char* kGuessHead = R"(#include <roofwalk.cuh>
__device__ __forceinline__ float add(float* to, float value) {
  int* const word = (int*)to;
  int old = *word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, __float_as_int(value + __int_as_float(seen)));
  } while (old != seen);
  return __int_as_float(old);
}
__device__ __noinline__ double add(double* to, double value) {
  unsigned long long* const word = (unsigned long long*)to;
  unsigned long long old = *word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, __double_as_longlong(value + __longlong_as_double(seen)));
  } while (old != seen);
  return __longlong_as_double(old);
}
__device__ __noinline__ int greatest(int* word, int value) {
  int old = *word, seen;
  while (old < value) {
    seen = old;
    old = atomicCAS(word, seen, value);
    if (old == seen) break;
  }
  return old;
}
__device__ __noinline__ float raised(int* word, int value) {
  int old = *word, seen;
  while (old < value) {
    seen = old;
    old = atomicCAS(word, seen, value);
    if (old == seen) return 1.0f;
  }
  return 0.0f;
}
__device__ __forceinline__ void most(int* word, int value) {
  int old = *word, seen;
  do {
    seen = old;
    if (seen >= value) break;
    old = atomicCAS(word, seen, value);
  } while (old != seen);
}
__global__ void k(float* c) {
  __shared__ float s[64];
  __shared__ double d[2];
  __shared__ int below[64];
  const int t = threadIdx.x;
  int* const word = (int*)&s[0];
  s[t] = 0.0f;
  below[t] = t;
  if (t < 2) d[t] = 0.0;
  __syncthreads();
)";

const JudgedBody kHonestGuesses[] = {
    {"OfTheProgrammingGuide", R"(
  add(&s[t % 3], 1.0f);
  __syncthreads();
  c[t] = s[t % 3];
)"},
    {"WhoseSumIsUsedBehindTheLoop", R"(
  const float before = add(&s[0], 1.0f);
  if (before == 3.0f) s[5] = 1.0f;
  c[t] = before + 1.0f;
)"},
    {"OfDoublesInAFunctionOfItsOwn", R"(
  const double before = add(&d[1], 1.0);
  c[t] = before + 1.0;
  __syncthreads();
  c[t] += d[1];
)"},
    {"ThatMayShowThatThereIsNothingToDo", R"(
  most(word, t ^ 21);
  __syncthreads();
  c[t] = *word;
)"},
    {"OfASwapByAGenericAddress", R"(
  int old = *word, seen;
  do {
    seen = old;
    asm volatile("atom.acq_rel.cta.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(old) : "l"(word), "r"(seen), "r"(seen + 1) : "memory");
  } while (old != seen);
  __syncthreads();
  c[t] = *word;
)"},
    {"ThatAFunctionReturnsToNobody", R"(
  greatest(word, t ^ 21);
  __syncthreads();
  c[t] = *word;
)"},
    {"ThatMayEndALoopWithPauses", R"(
  int old = *word, seen;
  unsigned pause = 20;
  do {
    seen = old;
    if (seen >= t) break;
    __nanosleep(pause);
    pause *= 2;
    old = atomicCAS(word, seen, t);
  } while (old != seen);
  __syncthreads();
  c[t] = *word;
)"},
    {"ThatAreMadeAnew", R"(
  int old;
  do {
    old = *word;
  } while (atomicCAS(word, old, old + t) != old);
  __syncthreads();
  c[t] = *word;
)"},
    {"ThatAreStoredInANodeThatIsPushed", R"(
  __shared__ int next[64];
  int old = *word, seen;
  do {
    seen = old;
    next[t] = seen;
    __threadfence_block();
    old = atomicCAS(word, seen, t + 1);
  } while (old != seen);
  __syncthreads();
  int count = 0;
  for (int at = *word; at != 0; at = next[at - 1]) ++count;
  c[t] = count;
)"},
    {"ThatAreStoredInANodeBesideACount", R"(
  __shared__ int next[64];
  int old;
  do {
    old = *word;
    next[t] = old & 0xff;
    __threadfence_block();
  } while (atomicCAS(word, old, (old & 0xffff00) + 256 + t + 1) != old);
  __syncthreads();
  c[t] = *word >> 8;
)"},
    {"ThatLeadToTheNodeBelow", R"(
  if (t == 0) *word = 64;
  __syncthreads();
  int top = *word;
  while (true) {
    const int next = below[top - 1];
    const int old = atomicCAS(word, top, next);
    if (old == top) break;
    top = old;
  }
  c[t] = top;
)"},
    {"ThatLeadToTheNodeBelowByAPointer", R"(
  struct Node { Node* below; int value; };
  __shared__ Node nodes[64];
  __shared__ Node* top_;
  nodes[t] = {t == 0 ? nullptr : &nodes[t - 1], t};
  if (t == 0) top_ = &nodes[63];
  __syncthreads();
  using Bits = unsigned long long;
  Node* top = top_;
  while (true) {
    Node* const old = (Node*)atomicCAS((Bits*)&top_, (Bits)top, (Bits)top->below);
    if (old == top) break;
    top = old;
  }
  c[t] = top->value;
)"},
    {"ThatLeadToTheNodeBelowIfThereIsOne", R"(
  if (t == 0) *word = 40;
  __syncthreads();
  int top = *word;
  while (top != 0) {
    const int next = below[top - 1];
    const int old = atomicCAS(word, top, next);
    if (old == top) break;
    top = old;
  }
  __syncthreads();
  c[t] = *word;
)"},
    {"ThatLeadToWhatIsUsedBehindTheSwap", R"(
  __shared__ int2 nodes[64];
  nodes[t] = make_int2(t, 3 * t);
  if (t == 0) *word = 64;
  __syncthreads();
  int top = *word, value;
  while (true) {
    const int2 node = nodes[top - 1];
    value = node.y;
    const int old = atomicCAS(word, top, node.x);
    if (old == top) break;
    top = old;
  }
  c[t] = value;
)"},
    {"ThatAreMadeAnewUntilThereIsNothingToDo", R"(
  int old;
  do {
    old = *word;
    if (old >= t) break;
  } while (atomicCAS(word, old, t) != old);
  __syncthreads();
  c[t] = *word;
)"},
};

const JudgedBody kUsedOtherwise[] = {
    {"TheGuessIsStored", R"(
  int old = *word, seen;
  c[t] = old;
  do {
    seen = old;
    old = atomicCAS(word, seen, seen + 1);
  } while (old != seen);
)"},
    {"TheFirstGuessIsStoredBehindTheLoop", R"(
  const int first = *word;
  int old = first, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, seen + 1);
  } while (old != seen);
  c[t] = first;
)"},
    {"TheGuessIsReturnedAndStored", R"(
  c[t] = greatest(word, t ^ 21);
)"},
    {"TheGuessIsReturnedAndDecides", R"(
  if (greatest(word, t ^ 21) > 5) c[t] = 0.0f;
)"},
    {"TheGuessDecidesWhatElseIsDone", R"(
  int old = *word, seen;
  if (old > 5) c[t] = 0.0f;
  do {
    seen = old;
    old = atomicCAS(word, seen, seen + 1);
  } while (old != seen);
)"},
    {"TheGuessDecidesWhatIsDoneInstead", R"(
  int old = *word, seen;
  float x = 1.0f;
  do {
    seen = old;
    if (seen >= 5) {
      x = 2.0f;
      break;
    }
    old = atomicCAS(word, seen, seen + 1);
  } while (old != seen);
  c[t] = x * s[8 + t % 8];
)"},
    {"TheGuessDecidesWhatIsStoredInstead", R"(
  int old = *word, seen;
  do {
    seen = old;
    if (seen >= 5) {
      c[t] = 2.0f;
      break;
    }
    old = atomicCAS(word, seen, seen + 1);
  } while (old != seen);
)"},
    {"TheGuessDecidesWhoHasWon", R"(
  c[t] = raised(word, t ^ 21);
)"},
    {"TheGuessDecidesBehindOneSwap", R"(
  const int old = *word;
  atomicCAS(word, old, old + 1);
  if (old > 5) c[t] = 0.0f;
)"},
    {"TheGuessIsStoredByATryThatMayFail", R"(
  const int old = *word;
  s[32 + t % 32] = old;
  if (atomicCAS(word, old, old + 1) == old) c[t] = 2.0f;
)"},
    {"TheGuessIsStoredByOneOfThreeTries", R"(
  int old = *word;
#pragma unroll 1
  for (int k = 0; k < 3; ++k) {
    const int seen = old;
    c[t] = seen;
    old = atomicCAS(word, seen, seen + 1);
    if (old == seen) break;
  }
)"},
    {"TheGuessIsStoredElsewhereInEachRound", R"(
  int old = *word, seen;
  float* to = c + t;
  do {
    seen = old;
    *to = seen;
    to = to == c ? c + 63 : to - 1;
    old = atomicCAS(word, seen, seen + 1);
  } while (old != seen);
)"},
    {"TheGuessIsStoredAndReadBack", R"(
  volatile float* const last = c + t;
  int old = *word, seen;
  float sum = 0.0f;
  do {
    seen = old;
    *last = seen;
    sum += *last;
    old = atomicCAS(word, seen, seen + 1);
  } while (old != seen);
  c[t ^ 1] = sum;
)"},
    {"TheFirstGuessIsStoredInEachRound", R"(
  const int first = *word;
  int old = first, seen;
  do {
    seen = old;
    c[t] = first;
    __threadfence_block();
    old = atomicCAS(word, seen, seen + 1);
  } while (old != seen);
)"},
    {"WhatTheGuessLeadsToIsStored", R"(
  if (t == 0) *word = 64;
  __syncthreads();
  int top = *word;
  c[t] = below[top - 1];
  while (true) {
    const int next = below[top - 1];
    const int old = atomicCAS(word, top, next);
    if (old == top) break;
    top = old;
  }
)"},
    {"WhatTheGuessLeadsToIsAddedUpInAllRounds", R"(
  if (t == 0) *word = 64;
  __syncthreads();
  int top = *word, sum = 0;
  while (true) {
    const int next = below[top - 1];
    sum += next;
    const int old = atomicCAS(word, top, next);
    if (old == top) break;
    top = old;
  }
  c[t] = sum;
)"},
    {"WhatTheGuessLeadsToIsUsedAfterTriesThatMayFail", R"(
  if (t == 0) *word = 64;
  __syncthreads();
  int top = *word, next = 0;
#pragma unroll 1
  for (int k = 0; k < 3; ++k) {
    next = below[top - 1];
    const int old = atomicCAS(word, top, next);
    if (old == top) break;
    top = old;
  }
  c[t] = next;
)"},
    {"WhatTheGuessLeadsToDecidesWhatElseIsDone", R"(
  if (t == 0) *word = 64;
  __syncthreads();
  int top = *word;
  while (true) {
    const int next = below[top - 1];
    if (next % 2 == 1) c[t] = 0.0f;
    const int old = atomicCAS(word, top, next);
    if (old == top) break;
    top = old;
  }
)"},
    {"WhatTheFirstGuessLeadsToIsSwappedInLater", R"(
  if (t == 0) *word = 64;
  __syncthreads();
  int top = *word;
  const int next = below[top - 1];
  while (true) {
    const int old = atomicCAS(word, top, next);
    if (old == top) break;
    top = old;
  }
)"},
    {"WhatTheGuessLedToInTheRoundBeforeIsSwappedIn", R"(
  if (t == 0) *word = 64;
  __syncthreads();
  int top = *word, last = 1;
  while (true) {
    const int next = last;
    last = below[top - 1];
    const int old = atomicCAS(word, top, next);
    if (old == top) break;
    top = old;
  }
)"},
    {"TheSwapIsOfAnotherWord", R"(
  atomicAdd(word, 1);
  const int old = *word;
  c[t] = atomicCAS(word + 1, old, old + 1);
)"},
    {"TheSwapByAGenericAddressIsOfAnotherWord", R"(
  atomicAdd(word, 1);
  const int old = *word;
  int found;
  asm volatile("atom.acq_rel.cta.cas.b32 %0, [%1], %2, %3;"
               : "=r"(found) : "l"(word + 1), "r"(old), "r"(old + 1) : "memory");
  if (found > 5) c[t] = found;
)"},
    {"OneThreadStoresPlainly", R"(
  add(&s[0], 1.0f);
  if (t == 40) s[0] = 7.0f;
)"},
    {"ALaneOfTheSameWarpStoresPlainly", R"(
  if (t == 3) s[0] = 7.0f;
  if (t < 32) most(word, t);
  if (t == 4) s[0] = 8.0f;
)"},
    {"TheLockIsTestedPlainly", R"(
  if (*word == 0 && atomicCAS(word, 0, 1) == 0) c[t] = s[1]++;
)"},
};

std::string guess_text(const JudgedBody& guess) {
  return std::string(kGuessHead) + guess.body + "}\nSOLVE(float* c) { k<<<1, 64>>>(c); }\n";
}

const bool kHonestGuessesJoined = join(map_to_text(kHonestGuesses, guess_text));

class HonestGuess : public testing::TestWithParam<JudgedBody> {};

TEST_P(HonestGuess, IsNoRace) { expect_no_fault(guess_text(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Sanitizer, HonestGuess, testing::ValuesIn(every_third(kHonestGuesses)),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(LongSanitizer, HonestGuess, testing::ValuesIn(all_but_every_third(kHonestGuesses)),
                         [](const auto& each) { return each.param.name; });

const bool kUsedOtherwiseJoined = join(map_to_text(kUsedOtherwise, guess_text));

class GuessUsedOtherwise : public testing::TestWithParam<JudgedBody> {};

TEST_P(GuessUsedOtherwise, IsARace) {
  expect_fault(guess_text(GetParam()), {.name = "", .body = "", .says = "element 0 of s"});
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, GuessUsedOtherwise, testing::ValuesIn(kUsedOtherwise),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
