// For every chapter of the course, tests that the problem is deterministic, and that the tolerance accepts a rounded
// reference but rejects half precision, zeros, and outputs that ignore an input. Looks for the chapters in their
// folder, so new ones are tested too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cctype>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "common/exercise/chapter.h"
#include "common/verify/verify.h"

namespace roofwalk {
namespace {

constexpr std::uint64_t kSeeds[] = {1, 7, 20260};

float rounded_to_half(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  bits += 0xfffu + ((bits >> 13) & 1u);  // to nearest, ties to even; the exponent's range does not matter here
  return std::bit_cast<float>(bits & ~0x1fffu);
}

// Returns the problem with all inputs changed by `change`, or only the input named `only`.
template <class Change>
Problem changed(Problem problem, Change change, const std::string& only = "") {
  for (Parameter& parameter : problem.parameters) {
    auto* input = std::get_if<InputBuffer>(&parameter);
    if (input == nullptr || (!only.empty() && input->name != only)) continue;
    for (float& value : input->values) value = change(value);
  }
  return problem;
}

// Returns the problem with its floats rounded to halves. Whole numbers, which say where things lie, stay.
Problem with_halves(Problem problem) {
  for (Parameter& parameter : problem.parameters) {
    auto* input = std::get_if<InputBuffer>(&parameter);
    if (input == nullptr || input->element == Element::i32) continue;
    for (float& value : input->values) value = rounded_to_half(value);
  }
  return problem;
}

std::vector<float> to_float(const std::vector<double>& values) { return {values.begin(), values.end()}; }

struct Case {
  std::string name;
  const Exercise* exercise;
  Size size;
  std::string kind;  // "correctness" or "measured"
  WorkUnit unit;
};

void PrintTo(const Case& tried, std::ostream* out) { *out << tried.name << " " << tried.size.text(); }

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const auto chapters = load_chapters(ROOFWALK_ROOT);
  ROOFWALK_CHECK(chapters.ok() && !chapters->empty());
  for (const Chapter& chapter : *chapters) {
    const Exercise* exercise = find_exercise(chapter.name);
    ROOFWALK_CHECK(exercise != nullptr);
    for (const Size& size : chapter.correctness_sizes) {
      cases.push_back({chapter.name, exercise, size, "correctness", chapter.unit});
    }
    cases.push_back({chapter.name, exercise, chapter.measured_size("classroom"), "measured", chapter.unit});
  }
  return cases;
}

class Course : public testing::TestWithParam<Case> {
 protected:
  const Exercise& exercise() const { return *GetParam().exercise; }
  const Size& size() const { return GetParam().size; }
};

TEST_P(Course, WorkIsPositiveAndBytesCoverTheBuffers) {
  const Work work = exercise().work(size());
  EXPECT_GT(work.useful_flops, 0);
  std::int64_t floats = 0;
  for (const Parameter& parameter : exercise().problem(size(), 1).parameters) {
    if (const auto* input = std::get_if<InputBuffer>(&parameter)) floats += std::ssize(input->values);
    if (const auto* output = std::get_if<OutputBuffer>(&parameter)) floats += output->count;
  }
  EXPECT_EQ(work.compulsory_bytes, 4 * floats);
}

TEST_P(Course, TheToleranceTellsFloatFromHalf) {
  if (GetParam().kind == "measured") return;      // `dev check` compares with half precision at that size, too
  if (GetParam().unit != WorkUnit::flop) return;  // whole numbers may be halves
  for (const std::uint64_t seed : kSeeds) {
    const Problem problem = exercise().problem(size(), seed);
    const std::vector<Expected> expected = exercise().reference(size(), problem);
    const std::vector<Expected> from_half = exercise().reference(size(), with_halves(problem));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::vector<float> honest = to_float(expected[i].values);
      EXPECT_TRUE(compare(honest, expected[i]).correct) << seed;

      const Correctness half_inputs = compare(to_float(from_half[i].values), expected[i]);
      EXPECT_FALSE(half_inputs.correct) << seed;
      if (honest.size() > 50) {  // with few elements, all errors may be tiny
        EXPECT_TRUE(half_inputs.looks_like_half) << seed << " " << half_inputs.reason;
        EXPECT_THAT(half_inputs.reason, testing::HasSubstr("half precision"));
      }

      std::vector<float> half_results = honest;
      for (float& value : half_results) value = rounded_to_half(value);
      const Correctness rounded = compare(half_results, expected[i]);
      EXPECT_FALSE(rounded.correct) << seed;
      EXPECT_TRUE(rounded.looks_like_half || honest.size() <= 50) << seed << " " << rounded.reason;

      EXPECT_FALSE(compare(std::vector<float>(honest.size(), 0.0f), expected[i]).correct) << seed;
    }
  }
}

TEST_P(Course, SeedsAndInputsMatter) {
  if (GetParam().kind == "measured") return;
  const Problem problem = exercise().problem(size(), 1);
  const std::vector<Expected> expected = exercise().reference(size(), problem);
  const std::vector<Expected> again = exercise().reference(size(), exercise().problem(size(), 1));
  const std::vector<Expected> other = exercise().reference(size(), exercise().problem(size(), 2));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(expected[i].values, again[i].values);
    EXPECT_EQ(expected[i].tolerances, again[i].tolerances);
    EXPECT_NE(expected[i].values, other[i].values);
  }
  for (const Parameter& parameter : problem.parameters) {
    const auto* input = std::get_if<InputBuffer>(&parameter);
    if (input == nullptr) continue;
    const Problem without = changed(
        problem, [](float) { return 0.0f; }, input->name);
    const std::vector<Expected> blind = exercise().reference(size(), without);
    EXPECT_FALSE(compare(to_float(blind[0].values), expected[0]).correct) << input->name;
  }
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name + "_" + info.param.kind + "_" + info.param.size.text();
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Course, testing::ValuesIn(all_cases()), case_name);

}  // namespace
}  // namespace roofwalk
