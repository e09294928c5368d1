// exercise.toml: the values that are read, and for every mistake a message with its line.
#include "common/exercise/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

namespace roofwalk {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSound = R"(name = "tiny-gemm"
title = "Tiny"
min_compute_capability = 75
[correctness]
m = [1, 31]
k = [2, 33]
a = [3, 35]
[measured]
classroom = { a = 7, m = 8, k = 9 }
default = { m = 10, k = 20, a = 30 }
[[goal]]
axis = "right"
level = "l1"
what = "ai_over_starter"
pass = 4
ace = 6.5
[[goal]]
axis = "up"
level = "dram"
what = "share_of_roof"
ace = 0.9
[[hint]]
text = "first"
[[hint]]
text = "second"
for = ["over_fetch", "no_reuse"]
)";

// Returns a valid manifest with `from`, which must occur once, replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kSound;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Manifest, ReadsEverything) {
  const auto chapter = parse_manifest(kSound, "x/exercise.toml");
  ASSERT_TRUE(chapter.ok()) << chapter.error().text();
  EXPECT_EQ(chapter->name, "tiny-gemm");
  EXPECT_EQ(chapter->title, "Tiny");
  EXPECT_EQ(chapter->min_compute_capability, 75);
  ASSERT_EQ(chapter->correctness_sizes.size(), 2u);
  EXPECT_EQ(chapter->correctness_sizes[0].text(), "m=1 k=2 a=3");  // in the file's order, not alphabetical
  EXPECT_EQ(chapter->correctness_sizes[1].text(), "m=31 k=33 a=35");
  EXPECT_EQ(chapter->measured_size("classroom").text(), "m=8 k=9 a=7");
  EXPECT_EQ(chapter->measured_size("h100-sxm").text(), "m=10 k=20 a=30");
  ASSERT_EQ(chapter->goals.size(), 2u);
  EXPECT_EQ(chapter->goals[0].axis, Goal::Axis::right);
  EXPECT_EQ(chapter->goals[0].level, "l1");
  EXPECT_EQ(chapter->goals[0].what, Goal::What::ai_over_starter);
  EXPECT_EQ(chapter->goals[0].pass, 4.0);
  EXPECT_EQ(chapter->goals[0].ace, 6.5);
  EXPECT_EQ(chapter->goals[1].what, Goal::What::share_of_roof);
  EXPECT_EQ(chapter->goals[1].pass, std::nullopt);
  ASSERT_EQ(chapter->hints.size(), 2u);
  EXPECT_EQ(chapter->hints[1].text, "second");
  EXPECT_THAT(chapter->hints[0].causes, IsEmpty());
  EXPECT_THAT(chapter->hints[1].causes, ElementsAre("over_fetch", "no_reuse"));
}

// On a machine whose balance differs, a goal may ask for less or more.
TEST(Manifest, AGoalMayHaveOtherThresholdsOnAMachine) {
  const auto chapter = parse_manifest(
      with("ace = 6.5", "ace = 6.5\non.a100-80 = { pass = 3, ace = 4 }\non.mini = { ace = 5 }"), "x/exercise.toml");
  ASSERT_TRUE(chapter.ok()) << chapter.error().text();
  const auto& on = chapter->goals[0].on;
  ASSERT_EQ(on.size(), 2u);
  EXPECT_EQ(on.at("a100-80").pass, 3.0);
  EXPECT_EQ(on.at("a100-80").ace, 4.0);
  EXPECT_EQ(on.at("mini").pass, std::nullopt);
  EXPECT_EQ(on.at("mini").ace, 5.0);
  EXPECT_THAT(chapter->goals[1].on, IsEmpty());
}

TEST(Manifest, WithoutAWordCountsFlopsUnderTheFp32Roof) {
  const auto chapter = parse_manifest(kSound, "x/exercise.toml");
  ASSERT_TRUE(chapter.ok()) << chapter.error().text();
  EXPECT_EQ(chapter->unit, WorkUnit::flop);
  EXPECT_EQ(chapter->roof, ChapterRoof::fp32);
  EXPECT_EQ(chapter->least_starter_gap("classroom", true), 3);
  EXPECT_EQ(chapter->least_starter_gap("a100-80", false), 2);
}

TEST(Manifest, MayStateTheStartersGapOfAMachine) {
  const auto chapter =
      parse_manifest(with("[correctness]", "starter_gap = { default = 4, rtx4090 = 1, h100-sxm = 2.5 }\n[correctness]"),
                     "x/exercise.toml");
  ASSERT_TRUE(chapter.ok()) << chapter.error().text();
  EXPECT_EQ(chapter->least_starter_gap("classroom", true), 4);
  EXPECT_EQ(chapter->least_starter_gap("rtx4090", false), 1);
  EXPECT_EQ(chapter->least_starter_gap("h100-sxm", false), 2.5);
  EXPECT_EQ(chapter->least_starter_gap("a100-80", false), 2);
}

TEST(Manifest, MayStateItsUnitItsRoofAndItsStartersGap) {
  const auto chapter = parse_manifest(
      with("[correctness]", "unit = \"key\"\nroof = \"memory\"\nstarter_gap = 1.25\n[correctness]"), "x/exercise.toml");
  ASSERT_TRUE(chapter.ok()) << chapter.error().text();
  EXPECT_EQ(chapter->unit, WorkUnit::key);
  EXPECT_EQ(chapter->goals[1].unit, WorkUnit::key);
  EXPECT_EQ(chapter->roof, ChapterRoof::memory);
  EXPECT_EQ(chapter->least_starter_gap("classroom", true), 1.25);
  EXPECT_EQ(chapter->least_starter_gap("a100-80", false), 1.25);
  const auto tensor = parse_manifest(with("[correctness]", "roof = \"tensor_f16\"\n[correctness]"), "x/exercise.toml");
  ASSERT_TRUE(tensor.ok()) << tensor.error().text();
  EXPECT_EQ(tensor->roof, ChapterRoof::tensor_f16);
}

TEST(Manifest, MayHaveAStarterThatFaults) {
  const auto chapter = parse_manifest(
      with("[correctness]", "starter = \"fault\"\nfault = \"race\"\nbaseline = \"slow.cu\"\n[correctness]"),
      "x/exercise.toml");
  ASSERT_TRUE(chapter.ok()) << chapter.error().text();
  EXPECT_EQ(chapter->faulty_starter->kind, "race");
  EXPECT_EQ(chapter->baseline().filename(), "slow.cu");
  EXPECT_STREQ(chapter->baseline_name(), "reference");
  EXPECT_TRUE(chapter->goals[0].is_over_reference);
  const auto correct = parse_manifest(with("[correctness]", "starter = \"correct\"\n[correctness]"), "x/exercise.toml");
  ASSERT_TRUE(correct.ok()) << correct.error().text();
  EXPECT_EQ(correct->baseline().filename(), "kernel.cu");
  EXPECT_STREQ(correct->baseline_name(), "starter");
}

TEST(Manifest, AGoalUnderTheFlatRoofNeedsOne) {
  std::string text = with("[correctness]", "roof = \"memory\"\n[correctness]");
  const std::string share_of_roof = "\"share_of_roof\"";
  const auto chapter = parse_manifest(text.replace(text.find(share_of_roof), share_of_roof.size(), "\"share_of_peak\""),
                                      "x/exercise.toml");
  ASSERT_FALSE(chapter.ok());
  EXPECT_EQ(chapter.error().line, 21);
  EXPECT_THAT(chapter.error().text(), HasSubstr("`share_of_peak` needs a flat roof, and `roof` is \"memory\""));
}

// The second goal of kSound, from its line 19 on.
constexpr const char* kOfRoof = "level = \"dram\"\nwhat = \"share_of_roof\"\nace = 0.9";

TEST(Manifest, AGoalMayBeAboutACount) {
  for (const char* what :
       {"shared_wavefronts_over_least", "active_lanes", "executed_over_useful", "atomics_per_element", "sm_active",
        "resident_warps_per_scheduler", "shared_bytes_unlike_starter"}) {
    const auto chapter =
        parse_manifest(with(kOfRoof, std::string("what = \"") + what + "\"\npass = 1\nace = 1"), "x/exercise.toml");
    ASSERT_TRUE(chapter.ok()) << chapter.error().text();
    EXPECT_EQ(goal_what_name(chapter->goals[1].what), what);
    EXPECT_TRUE(is_count(chapter->goals[1].what));
    EXPECT_EQ(chapter->goals[1].level, "");
    EXPECT_EQ(goal_what_from_name(what), chapter->goals[1].what);
  }
  const auto less = parse_manifest(with(kOfRoof, "what = \"executed_over_useful\"\npass = 1.5\nace = 1.1"), "x");
  EXPECT_TRUE(less.ok()) << less.error().text();
  EXPECT_FALSE(is_count(Goal::What::flops_over_starter));
  EXPECT_EQ(goal_what_from_name("occupancy"), std::nullopt);
}

TEST(Manifest, NothingExecutesKeys) {
  std::string text = with(kOfRoof, "what = \"executed_over_useful\"\npass = 1.5");
  text.insert(text.find("[correctness]"), "unit = \"key\"\nroof = \"memory\"\n");
  const auto chapter = parse_manifest(text, "x/exercise.toml");
  ASSERT_FALSE(chapter.ok());
  EXPECT_EQ(chapter.error().line, 21);
  EXPECT_THAT(chapter.error().text(), HasSubstr("`executed_over_useful` is of operations, and `unit` is \"key\""));
}

struct Mistake {
  const char *name, *from, *to;
  int line;
  const char* message;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class ManifestMistake : public testing::TestWithParam<Mistake> {};

TEST_P(ManifestMistake, IsNamedWithItsLine) {
  const Mistake& mistake = GetParam();
  const auto chapter = parse_manifest(with(mistake.from, mistake.to), "x/exercise.toml");
  ASSERT_FALSE(chapter.ok());
  EXPECT_EQ(chapter.error().file, "x/exercise.toml");
  EXPECT_EQ(chapter.error().line, mistake.line) << chapter.error().text();
  EXPECT_THAT(chapter.error().text(), HasSubstr(mistake.message));
}

INSTANTIATE_TEST_SUITE_P(
    All, ManifestMistake,
    testing::Values(
        Mistake{"not_toml", "title = ", "title ", 2, "is not TOML"},
        Mistake{"no_name", "name = \"tiny-gemm\"", "", 1, "`name` is missing"},
        Mistake{"capital_name", "tiny-gemm", "Tiny", 1, "not a chapter's name"},
        Mistake{"long_name", "tiny-gemm", "a-name-of-thirty-three-characters", 1, "not a chapter's name"},
        Mistake{"empty_title", "\"Tiny\"", "\"\"", 2, "`title` must be a non-empty string"},
        Mistake{"capability", "75", "7.5", 3, "75 for 7.5"},
        Mistake{"unknown_key", "min_compute_capability", "minimum", 3, "unknown key `minimum`"},
        Mistake{"unknown_unit", "[correctness]", "unit = \"FLOPs\"\n[correctness]", 4,
                "`unit` must be \"FLOP\", \"OP\" or \"key\""},
        Mistake{"unit_without_a_roof", "[correctness]", "unit = \"key\"\n[correctness]", 4,
                "the fp32 roof does not count `unit` \"key\""},
        Mistake{"unit_of_tensor_cores", "[correctness]", "unit = \"OP\"\nroof = \"tensor_f16\"\n[correctness]", 4,
                "the tensor_f16 roof does not count `unit` \"OP\""},
        Mistake{"unit_that_is_a_number", "[correctness]", "unit = 1\n[correctness]", 4, "`unit` must be a non-empty"},
        Mistake{"unknown_roof", "[correctness]", "roof = \"dram\"\n[correctness]", 4,
                "`roof` must be \"fp32\", \"tensor_f16\" or \"memory\""},
        Mistake{"starter_that_ends_otherwise", "[correctness]", "starter = \"refused\"\n[correctness]", 4,
                "`starter` must be \"correct\" or \"fault\""},
        Mistake{"fault_of_a_correct_starter", "[correctness]", "fault = \"race\"\n[correctness]", 4,
                "`fault` goes with starter = \"fault\""},
        Mistake{"baseline_of_a_correct_starter", "[correctness]",
                "starter = \"correct\"\nbaseline = \"slow.cu\"\n[correctness]", 5,
                "`baseline` goes with starter = \"fault\""},
        Mistake{"starter_without_its_fault", "[correctness]", "starter = \"fault\"\n[correctness]", 1,
                "`fault` is missing"},
        Mistake{"starter_without_a_baseline", "[correctness]", "starter = \"fault\"\nfault = \"race\"\n[correctness]",
                1, "`baseline` is missing"},
        Mistake{"unknown_fault", "[correctness]", "starter = \"fault\"\nfault = \"races\"\n[correctness]", 5,
                "`races` is not a kind of fault (one of: out of bounds, read only"},
        Mistake{"baseline_elsewhere", "[correctness]",
                "starter = \"fault\"\nfault = \"race\"\nbaseline = \"../slow.cu\"\n[correctness]", 6,
                "`baseline` must be a .cu file of the chapter's folder"},
        Mistake{"baseline_that_is_the_starter", "[correctness]",
                "starter = \"fault\"\nfault = \"race\"\nbaseline = \"kernel.cu\"\n[correctness]", 6,
                "`baseline` must be a .cu file of the chapter's folder"},
        Mistake{"gap_below_one", "[correctness]", "starter_gap = 0.5\n[correctness]", 4,
                "`starter_gap` must be a ratio of at least 1"},
        Mistake{"gap_in_words", "[correctness]", "starter_gap = \"x2\"\n[correctness]", 4,
                "`starter_gap` must be a ratio above 0"},
        Mistake{"gap_without_default", "[correctness]", "starter_gap = { rtx4090 = 1 }\n[correctness]", 4,
                "`starter_gap` needs a ratio called `default`"},
        Mistake{"gap_of_a_machine_below_one", "[correctness]",
                "starter_gap = { default = 2, rtx4090 = 0 }\n[correctness]", 4, "`rtx4090` must be a ratio above 0"},
        Mistake{"uneven_lists", "k = [2, 33]", "k = [2]", 6, "`k` has 1 values, but the extent before it has 2"},
        Mistake{"zero_extent", "a = [3, 35]", "a = [3, 0]", 7, "`a` must be a whole number from 1"},
        Mistake{"no_default", "default", "other", 8, "a size called `default`"},
        Mistake{"missing_extent", "m = 8, k = 9", "m = 8", 9, "`classroom` lacks the extent `k`"},
        Mistake{"extra_extent", "m = 8, k = 9", "m = 8, k = 9, z = 1", 9, "does not have"},
        Mistake{"axis", "\"right\"", "\"left\"", 12, "`axis` must be"},
        Mistake{"level", "\"l1\"", "\"l3\"", 13, "`level` must be"},
        Mistake{"what_of_the_other_axis", "\"ai_over_starter\"", "\"share_of_roof\"", 14, "`what` of a goal right"},
        Mistake{"sector_use_elsewhere", "\"l1\"\nwhat = \"ai_over_starter\"", "\"l2\"\nwhat = \"sector_use\"", 13,
                "`sector_use` is counted at \"l1\""},
        Mistake{"count_with_a_level", "\"share_of_roof\"", "\"active_lanes\"", 19,
                "`active_lanes` is a count and has no `level`"},
        Mistake{"count_to_the_right", "level = \"l1\"\nwhat = \"ai_over_starter\"", "what = \"sm_active\"", 13,
                "`what` of a goal right"},
        Mistake{"share_above_one", kOfRoof, "what = \"sm_active\"\nace = 1.1", 20,
                "`ace` of `sm_active` is a share, at most 1"},
        Mistake{"less_than_the_least", kOfRoof, "what = \"shared_wavefronts_over_least\"\nace = 0.9", 20,
                "`ace` of `shared_wavefronts_over_least` is at least 1"},
        Mistake{"ace_above_pass", kOfRoof, "what = \"atomics_per_element\"\npass = 0.1\nace = 0.2", 17,
                "`ace` allows more than `pass`"},
        Mistake{"closer_than_the_same", "\"ai_over_starter\"\npass = 4\nace = 6.5",
                "\"ai_unlike_starter\"\npass = 0.98", 15, "`pass` of `ai_unlike_starter` is at least 1"},
        Mistake{"farther_for_an_ace", "\"ai_over_starter\"", "\"ai_unlike_starter\"", 11,
                "`ace` allows more than `pass`"},
        Mistake{"negative_goal", "pass = 4", "pass = -4", 15, "`pass` must be a ratio above 0"},
        Mistake{"ace_below_pass", "ace = 6.5", "ace = 3", 11, "`ace` asks for less"},
        Mistake{"ace_below_pass_on_a_machine", "ace = 6.5", "ace = 6.5\non.mini = { ace = 3 }", 17,
                "`ace` asks for less"},
        Mistake{"machine_without_thresholds", "ace = 6.5", "ace = 6.5\non.mini = {}", 17, "`on.mini` must hold `pass`"},
        Mistake{"machine_that_is_a_number", "ace = 6.5", "ace = 6.5\non.mini = 3", 17, "`on.mini` must hold `pass`"},
        Mistake{"misspelt_on_a_machine", "ace = 6.5", "ace = 6.5\non.mini = { aces = 3 }", 17, "unknown key `aces`"},
        Mistake{"machines_that_are_a_number", "ace = 6.5", "ace = 6.5\non = 3", 17, "`on` must hold a table"},
        Mistake{"misspelt_goal", "ace = 0.9", "aces = 0.9", 21, "unknown key `aces`"},
        Mistake{"goal_of_nothing", "ace = 0.9", "", 17, "needs `pass`, `ace` or both"},
        Mistake{"empty_hint", "\"second\"", "\"\"", 25, "`text` must be a non-empty string"},
        Mistake{"hint_for_no_list", "[\"over_fetch\", \"no_reuse\"]", "\"over_fetch\"", 26, "`for` must be"},
        Mistake{"hint_for_nothing", "[\"over_fetch\", \"no_reuse\"]", "[]", 26, "`for` must be"},
        Mistake{"hint_for_a_number", "\"no_reuse\"", "7", 26, "`for` must be"}),
    [](const auto& mistake) { return mistake.param.name; });

}  // namespace
}  // namespace roofwalk
