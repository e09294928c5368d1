// Each kernel CHAPTER/*.cu has one performance problem. Its first line names the only diagnosis that it must get, and
// the line that the diagnosis must point to: `// diagnosis: over_fetch, line 9`. `dev check` tests that last solution
// steps get no diagnosis.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "common/base/json.h"
#include "common/base/pattern.h"
#include "common/roofline/diagnosis.h"
#include "grader/attempt/pipeline.h"
#include "grader/profile/profile.h"
#include "tests/support/thirds.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

const Course& course() {
  static const Course course = *open_course(TEST_SOURCE_DIR);
  return course;
}

const Rig& rig() {
  static const Rig rig = [] {
    Rig opened = *open_rig(course(), "virtual:classroom", 1, nullptr);
    opened.cache = TEST_CACHE_DIR;
    return opened;
  }();
  return rig;
}

// Runs the kernel but not the starter: the starter's dot only affects the verdict, which is not tested here.
Attempt attempt_with(const Chapter& chapter, const fs::path& file) {
  auto attempt = run_attempt(rig(), {&chapter, file, kPublicSeed, nullptr, StarterDot{}});
  EXPECT_TRUE(attempt) << attempt.error().text();
  return attempt ? *attempt : Attempt{};
}

struct Disease {
  fs::path file;  // tests/diagnosis/CHAPTER/NAME.cu
  std::string name;
};

void PrintTo(const Disease& disease, std::ostream* out) { *out << disease.name; }

std::string test_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '-' || c == '/'; }, '_');
  return text;
}

std::vector<Disease> diseases() {
  std::vector<Disease> found;
  const fs::path root = fs::path(TEST_SOURCE_DIR) / "tests" / "diagnosis";
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".cu") continue;
    found.push_back({entry.path(), test_name((entry.path().parent_path().filename() / entry.path().stem()).string())});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return found;
}

// What a file's first line claims: the diagnosis, and the line that it must point to.
struct Claim {
  std::string cause;
  int line = 0;
};

Claim claim_of(const fs::path& file) {
  std::ifstream in(file);
  std::string first;
  std::getline(in, first);
  const auto match = Pattern("// diagnosis: ([a-z_]+), line (\\d+)").match(first);
  EXPECT_TRUE(match) << first;
  return match ? Claim{(*match)[1], std::stoi((*match)[2])} : Claim{};
}

std::vector<std::string> causes_of(const Attempt& attempt) {
  std::vector<std::string> causes;
  if (!attempt.finding) return causes;
  for (const Diagnosis& diagnosis : attempt.finding->diagnoses) causes.push_back(diagnosis.cause);
  return causes;
}

class DiseasedKernel : public testing::TestWithParam<Disease> {};

TEST_P(DiseasedKernel, GetsItsDiagnosisAndNoOther) {
  const fs::path& file = GetParam().file;
  const Claim claim = claim_of(file);
  const auto chapter = course().find(file.parent_path().filename().string());
  ASSERT_TRUE(chapter) << chapter.error().text();
  const Attempt attempt = attempt_with(**chapter, file);
  ASSERT_THAT(causes_of(attempt), testing::ElementsAre(claim.cause))
      << (attempt.judgement.reasons.empty() ? "" : attempt.judgement.reasons.front());
  const Diagnosis& diagnosis = attempt.finding->diagnoses.front();
  EXPECT_EQ(diagnosis.line, claim.line) << diagnosis.text;
  EXPECT_EQ(attempt.finding->diagnosis.text, diagnosis.text);
  // The text names the gap or cause, then what to change: two or three sentences.
  const auto sentences = std::count(diagnosis.text.begin(), diagnosis.text.end(), '.');
  EXPECT_GE(sentences, 2) << diagnosis.text;
  EXPECT_LT(diagnosis.text.size(), 400u) << diagnosis.text;
  // The profile marks the line with the same cause, in a few words.
  EXPECT_FALSE(diagnosis.brief.empty());
  EXPECT_LE(diagnosis.brief.size(), 50u) << diagnosis.brief;
  const Profile profile = profile_of(attempt, file_text(file));
  if (!profile.is_measured()) return;  // a kernel with a wrong result is not measured
  const ProfileLine& line = profile.lines.at(static_cast<std::size_t>(claim.line) - 1);
  EXPECT_EQ(line.note, diagnosis.brief);
  EXPECT_TRUE(line.is_diagnosed);
}

INSTANTIATE_TEST_SUITE_P(All, DiseasedKernel, testing::ValuesIn(test::every_third(diseases())),
                         [](const auto& disease) { return disease.param.name; });
INSTANTIATE_TEST_SUITE_P(LongAll, DiseasedKernel, testing::ValuesIn(test::all_but_every_third(diseases())),
                         [](const auto& disease) { return disease.param.name; });

TEST(DiseasedKernels, ThereIsOneForEachCause) {
  std::set<std::string> with_kernel;
  for (const Disease& disease : diseases()) with_kernel.insert(claim_of(disease.file).cause);
  for (const std::string_view cause : diagnosis_causes()) {
    // A kernel is fp_bound only if it has no other problem; diagnosis_test.cpp tests that cause.
    if (cause == "fp_bound") continue;
    EXPECT_EQ(with_kernel.count(std::string(cause)), 1u) << cause;
  }
}

}  // namespace
}  // namespace roofwalk
