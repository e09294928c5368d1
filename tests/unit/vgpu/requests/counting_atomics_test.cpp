// Additions to shared memory that count lanes, as ptxas makes them of a constant 1 whose result nobody uses, and their
// twins that take a turn for each lane.
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

constexpr int kKindsOfAdditions = 9, kAdditionWords = 1024;

// One warp adds to words of shared memory, `ways` lanes to each, `pitch` words apart; a launch for each kind of
// addition.
const std::string& kAdditions = JOINT(R"(#include <roofwalk.cuh>
template <int kind> __global__ void additions(int* out, int* before, int ways, int pitch, int one) {
  __shared__ int words[1024];
  for (int i = threadIdx.x; i < 1024; i += 32) words[i] = 0;
  __syncthreads();
  int* const word = &words[threadIdx.x / ways * pitch];
  unsigned* const same = reinterpret_cast<unsigned*>(word);
  if (kind == 1) atomicAdd(word, 1);
  if (kind == 2) atomicInc(same, 0xffffffffu);
  if (kind == 3 && threadIdx.x % 2 == 0) atomicAdd(same, 1u);
  if (kind == 4) atomicAdd(word, 2);
  if (kind == 5) atomicAdd(word, one);
  if (kind == 6) before[threadIdx.x] = atomicAdd(word, 1);
  if (kind == 7) atomicInc(same, 1000u);
  if (kind == 8) atomicOr(word, 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += 32) out[kind * 1024 + i] = words[i];
}
SOLVE(int* out, int* before, int ways, int pitch, int one) {
  additions<0><<<1, 32>>>(out, before, ways, pitch, one);
  additions<1><<<1, 32>>>(out, before, ways, pitch, one);
  additions<2><<<1, 32>>>(out, before, ways, pitch, one);
  additions<3><<<1, 32>>>(out, before, ways, pitch, one);
  additions<4><<<1, 32>>>(out, before, ways, pitch, one);
  additions<5><<<1, 32>>>(out, before, ways, pitch, one);
  additions<6><<<1, 32>>>(out, before, ways, pitch, one);
  additions<7><<<1, 32>>>(out, before, ways, pitch, one);
  additions<8><<<1, 32>>>(out, before, ways, pitch, one);
}
)");

int sum_of_words(const Buffer& out, int kind) {
  int sum = 0;
  for (int i = 0; i < kAdditionWords; ++i) {
    int word = 0;
    std::memcpy(&word, &out.values[static_cast<std::size_t>(kind * kAdditionWords + i)], sizeof word);
    sum += word;
  }
  return sum;
}

// Lanes 0, 2, 4 ... alone make additions of kind 3. `by_halves`: then only every second word of the bank has a lane.
struct AdditionPattern {
  int ways, pitch, words_of_a_bank, lanes_of_a_bank;
  bool by_halves;
};

TEST(CountingAtomics, OnlyDifferentWordsOfABankTakeTurns) {
  constexpr AdditionPattern kPatterns[] = {
      {32, 1, 1, 32, false}, {1, 1, 1, 1, false}, {1, 32, 32, 32, true}, {4, 32, 8, 32, false}, {2, 16, 8, 16, false}};
  for (const AdditionPattern& pattern : kPatterns) {
    Buffer out{"out", std::vector<float>(kKindsOfAdditions * kAdditionWords)}, before{"before", std::vector<float>(32)};
    const auto record = Runner().run(kAdditions, {&out, &before, pattern.ways, pattern.pitch, 1});
    ASSERT_TRUE(record.ok()) << record.error().text();
    const auto more = [&](int kind, Counter counter) {
      const auto of = [&](int which) { return record->kernels[static_cast<std::size_t>(which)].counters[counter]; };
      return static_cast<int>(of(kind).value_or(0)) - static_cast<int>(of(0).value_or(0));
    };
    for (int kind = 1; kind < kKindsOfAdditions; ++kind) {
      SCOPED_TRACE(testing::Message() << pattern.ways << " lanes a word, " << pattern.pitch << " apart, kind " << kind);
      int turns = kind <= 3 ? pattern.words_of_a_bank : pattern.lanes_of_a_bank;
      if (kind == 3 && pattern.by_halves) turns /= 2;
      EXPECT_EQ(more(kind, Counter::shared_wavefronts), turns);
      EXPECT_EQ(more(kind, Counter::shared_bank_conflicts), turns - 1);
      EXPECT_EQ(sum_of_words(out, kind), kind == 3 ? 16 : kind == 4 ? 64 : kind == 8 ? 32 / pattern.ways : 32);
    }
  }
}

}  // namespace
}  // namespace roofwalk::test
