// Damages golden files in five ways. Each mutant is rejected with a clean message or gives a module whose indices are
// all in range. The mutants are the same in every run.
#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "common/ptx/module.h"
#include "tests/fuzz/ptx/check_module.h"
#include "tests/unit/ptx/support.h"

namespace roofwalk::ptx {
namespace {

using testing::golden_files;
using testing::read_file;

constexpr int kMutants = 4000;  // of each kind

const std::vector<std::string>& corpus() {
  static const std::vector<std::string> texts = [] {
    constexpr std::size_t kLargest = 10'000;  // larger ones only take longer
    std::vector<std::string> small;
    for (const auto& path : golden_files("parse")) {
      if (std::string text = read_file(path); text.size() <= kLargest) small.push_back(std::move(text));
    }
    return small;
  }();
  return texts;
}

std::size_t below(Rng& rng, std::size_t limit) { return limit == 0 ? 0 : static_cast<std::size_t>(rng.next() % limit); }

// Returns the range [begin, end) from a random position to the end of its word. If the position is a blank, the range
// starts at the next word.
std::pair<std::size_t, std::size_t> word(Rng& rng, const std::string& text) {
  constexpr std::string_view kBlanks = " \t\n,;";
  const std::size_t begin = text.find_first_not_of(kBlanks, below(rng, text.size()));
  if (begin == std::string::npos) return {0, 0};
  const std::size_t end = text.find_first_of(kBlanks, begin);
  return {begin, end == std::string::npos ? text.size() : end};
}

std::string flip_bytes(Rng& rng, std::string text) {
  for (std::size_t flips = 1 + below(rng, 3); flips > 0; --flips) {
    text[below(rng, text.size())] = static_cast<char>(rng.next());
  }
  return text;
}

std::string remove_word(Rng& rng, std::string text) {
  const auto [begin, end] = word(rng, text);
  return text.erase(begin, end - begin);
}

std::string swap_words(Rng& rng, std::string text) {
  const auto [a_begin, a_end] = word(rng, text);
  const auto [b_begin, b_end] = word(rng, text);
  if (a_end > b_begin) return text;
  const std::string a = text.substr(a_begin, a_end - a_begin), b = text.substr(b_begin, b_end - b_begin);
  text.replace(b_begin, b.size(), a);
  return text.replace(a_begin, a.size(), b);
}

std::string replace_number(Rng& rng, std::string text) {
  constexpr const char* kNumbers[] = {"0", "-1", "65536", "2147483648", "99999999999999999999", "4294967295"};
  const std::size_t begin = text.find_first_of("0123456789", below(rng, text.size()));
  if (begin == std::string::npos) return text;
  const std::size_t end = text.find_first_not_of("0123456789", begin);
  return text.replace(begin, std::min(end, text.size()) - begin, kNumbers[below(rng, std::size(kNumbers))]);
}

std::string truncate(Rng& rng, std::string text) { return text.substr(0, below(rng, text.size())); }

void fuzz(std::string_view name, std::string (*mutate)(Rng&, std::string)) {
  Rng rng(1, name);
  int refused = 0;
  for (int mutant = 0; mutant < kMutants; ++mutant) {
    std::string text = corpus()[below(rng, corpus().size())];
    for (std::size_t rounds = 1 + below(rng, 2); rounds > 0 && !text.empty(); --rounds) text = mutate(rng, text);
    const Result<Module> module = parse(text, "kernel.cu");
    if (!module.ok()) ++refused;
    ASSERT_EQ(module.ok() ? wrong_in(*module) : wrong_in(module.error().message), "");
  }
  EXPECT_GT(refused, kMutants / 10);
}

TEST(Mutants, WithFlippedBytes) { fuzz("flip", flip_bytes); }
TEST(Mutants, WithoutAWord) { fuzz("remove", remove_word); }
TEST(Mutants, WithSwappedWords) { fuzz("swap", swap_words); }
TEST(Mutants, WithOtherNumbers) { fuzz("number", replace_number); }
TEST(Mutants, CutShort) { fuzz("cut", truncate); }

}  // namespace
}  // namespace roofwalk::ptx
