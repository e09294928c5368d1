#include "grader/author/figures.h"
#include "common/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofwalk {
namespace {

using ::testing::HasSubstr;

const AttemptJsons kAttempts = {
    {"starter", parse_json(R"({"elapsed_ns": 1897415.6, "achieved_flops_per_s": 552633799.4, "vertical_gap": 19.3015,
      "dram_read_bytes": 8388608, "ai_by_level": {"l1": 0.0604915}, "goals": [{"reached": 0.0518}], "worst_error": null,
      "kernels": [{"parts_ns": {"launch": 2500}}]})")},
    {"step1", parse_json(R"({"elapsed_ns": 118019.6, "achieved_flops_per_s": 8884764767.4})")},
    {"all_nan", parse_json(R"({"elapsed_ns": null})")},
};

const AttemptJsons kAttemptsOfKeys = {
    {"starter",
     parse_json(R"({"useful_unit": "key", "achieved_flops_per_s": 8884764767.4, "algorithmic_ai": 0.125})")}};

Figure only_figure(const std::string& lesson) {
  const auto figures = parse_figures(lesson);
  EXPECT_EQ(figures.size(), 1u) << lesson;
  return figures.at(0).value();
}

bool holds(const std::string& lesson) {
  const auto figure = only_figure(lesson);
  const auto found = true_figure(figure, kAttempts);
  return found && *found == figure.shown;
}

std::string complaint(const std::string& lesson) {
  const auto found = true_figure(only_figure(lesson), kAttempts);
  return found ? "none: " + *found : found.error().message;
}

TEST(TrueFigure, IsInTheUnitOfTheChaptersWork) {
  const auto found = [](const std::string& lesson) { return true_figure(only_figure(lesson), kAttemptsOfKeys); };
  EXPECT_EQ(*found("8.88 Gkey/s<!-- starter achieved_flops_per_s -->"), "8.88");
  EXPECT_EQ(*found("0.125 key/byte<!-- starter algorithmic_ai -->"), "0.125");
  EXPECT_THAT(found("8.88 GFLOP/s<!-- starter achieved_flops_per_s -->").error().message,
              HasSubstr("one of: Mkey/s, Gkey/s, Tkey/s"));
  EXPECT_FALSE(holds("8.88 Gkey/s<!-- step1 achieved_flops_per_s -->"));
}

TEST(ParseFigures, TakesNumberUnitAndMark) {
  const auto figures = parse_figures(
      "In 2024\nit took x1,897.42\nus<!-- starter elapsed_ns -->, **16.1**, then 16.1<!-- step1/starter "
      "elapsed_ns\n-->.");
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[0]->line, 3);
  EXPECT_EQ(figures[0]->shown, "1,897.42");
  EXPECT_EQ(figures[0]->unit, "us");
  EXPECT_EQ(figures[0]->kernel, "starter");
  EXPECT_EQ(figures[0]->over, "");
  EXPECT_EQ(figures[0]->key, "elapsed_ns");
  EXPECT_EQ(figures[0]->text(), "1,897.42 us (starter elapsed_ns)");
  EXPECT_EQ(figures[1]->shown, "16.1");
  EXPECT_EQ(figures[1]->unit, "");
  EXPECT_EQ(figures[1]->over, "starter");
  EXPECT_EQ(figures[1]->text(), "16.1 (step1/starter elapsed_ns)");
}

TEST(ParseFigures, RefusesCommentsThatAreNoMarks) {
  for (const char* lesson :
       {"5<!-- starter -->", "5<!-- see below, please -->", "5<!-- -->", "a few<!-- starter elapsed_ns -->",
        "5 of its ms<!-- starter elapsed_ns -->", "<!-- starter elapsed_ns -->", "1.2.3<!-- starter elapsed_ns -->",
        "12,58<!-- starter elapsed_ns -->", "5\n<!-- starter vertical_gap -->", "\n5<!-- starter elapsed_ns"}) {
    const auto figures = parse_figures(lesson);
    ASSERT_EQ(figures.size(), 1u) << lesson;
    ASSERT_FALSE(figures[0]) << lesson;
    EXPECT_EQ(figures[0].error().line, std::string(lesson).find('\n') == std::string::npos ? 1 : 2);
  }
}

TEST(TrueFigure, HoldsToTheDigitsShown) {
  EXPECT_TRUE(holds("1.9 ms<!-- starter elapsed_ns -->"));
  EXPECT_TRUE(holds("1.90 ms<!-- starter elapsed_ns -->"));
  EXPECT_TRUE(holds("1897 us<!-- starter elapsed_ns -->"));
  EXPECT_TRUE(holds("1,897.42 us<!-- starter elapsed_ns -->"));
  EXPECT_TRUE(holds("8,388,608 bytes<!-- starter dram_read_bytes -->"));
  EXPECT_TRUE(holds("0.55 GFLOP/s<!-- starter achieved_flops_per_s -->"));
  EXPECT_TRUE(holds("x19<!-- starter vertical_gap -->"));
  EXPECT_TRUE(holds("5.2 %<!-- starter goals.0.reached -->"));
  EXPECT_TRUE(holds("0.060 FLOP/byte<!-- starter ai_by_level.l1 -->"));
  EXPECT_TRUE(holds("2.5 us<!-- starter kernels.0.parts_ns.launch -->"));
  EXPECT_TRUE(holds("16.1<!-- step1/starter achieved_flops_per_s -->"));
}

TEST(TrueFigure, CatchesAWrongOne) {
  EXPECT_FALSE(holds("1.8 ms<!-- starter elapsed_ns -->"));
  EXPECT_FALSE(holds("1.89 ms<!-- starter elapsed_ns -->"));  // truncated instead of rounded
  EXPECT_FALSE(holds("1.900 ms<!-- starter elapsed_ns -->"));
  EXPECT_FALSE(holds("1.90 us<!-- starter elapsed_ns -->"));
  EXPECT_FALSE(holds("1900 us<!-- starter elapsed_ns -->"));
  EXPECT_FALSE(holds("8,388,609 bytes<!-- starter dram_read_bytes -->"));
  EXPECT_FALSE(holds("16.1<!-- starter/step1 achieved_flops_per_s -->"));
}

TEST(TrueFigure, SaysWhatItCannotFind) {
  EXPECT_EQ(complaint("5 ms<!-- step7 elapsed_ns -->"), "there is no kernel step7");
  EXPECT_EQ(complaint("5<!-- step1/step7 elapsed_ns -->"), "there is no kernel step7");
  EXPECT_EQ(complaint("5 ms<!-- starter slept_ns -->"), "an attempt has no slept_ns");
  EXPECT_EQ(complaint("5<!-- starter goals.1.reached -->"), "an attempt has no goals.1.reached");
  EXPECT_EQ(complaint("5<!-- starter goals -->"), "starter has no number at goals");
  EXPECT_EQ(complaint("5 ms<!-- all_nan elapsed_ns -->"), "all_nan has no number at elapsed_ns");
  EXPECT_THAT(complaint("1.9<!-- starter elapsed_ns -->"), HasSubstr("one of: ns, us, ms"));
  EXPECT_THAT(complaint("19.3 ms<!-- starter vertical_gap -->"), HasSubstr("`ms` does not measure vertical_gap"));
  EXPECT_THAT(complaint("16.1 ms<!-- starter/step1 elapsed_ns -->"), HasSubstr("one of: no unit, %"));
}

TEST(CheckFigures, AFigureALine) {
  const auto lines = check_figures("vector-add",
                                   "1.9 ms<!-- starter elapsed_ns -->\n20<!-- starter vertical_gap -->\n"
                                   "5<!-- ? -->",
                                   kAttempts, CheckScope::everything);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(lines[0].holds);
  EXPECT_EQ(lines[0].found, "3 figures");
  EXPECT_TRUE(lines[1].holds);
  EXPECT_FALSE(lines[2].holds);
  EXPECT_EQ(lines[2].chapter, "vector-add");
  EXPECT_EQ(lines[2].what, "lesson.md:2: 20 (starter vertical_gap)");
  EXPECT_EQ(lines[2].found, "19");
  EXPECT_FALSE(lines[3].holds);
  EXPECT_THAT(lines[3].what, HasSubstr("lesson.md:3"));
}

TEST(CheckFigures, TheQuickScopeLeavesOutKernelsThatDidNotRun) {
  const std::string lesson =
      "1.8 ms<!-- starter elapsed_ns -->\n5 ms<!-- step7 elapsed_ns -->\n5<!-- step1/step7 elapsed_ns -->\n"
      "5<!-- ? -->";
  const auto quick = check_figures("vector-add", lesson, kAttempts, CheckScope::quick);
  ASSERT_EQ(quick.size(), 3u);
  EXPECT_EQ(quick[0].found, "4 figures");
  EXPECT_EQ(quick[1].found, "1.9");
  EXPECT_FALSE(quick[1].holds);
  EXPECT_THAT(quick[2].what, HasSubstr("lesson.md:4"));
  EXPECT_EQ(check_figures("vector-add", lesson, kAttempts, CheckScope::everything).size(), 5u);
}

TEST(CheckFigures, ALessonWithoutFiguresOrWithOneToFillInFails) {
  const auto none = check_figures("vector-add", "words alone", kAttempts, CheckScope::everything);
  ASSERT_EQ(none.size(), 1u);
  EXPECT_FALSE(none[0].holds);
  const auto hole = check_figures("vector-add", "1.9 ms<!-- starter elapsed_ns -->\n[[measure: time]]", kAttempts,
                                  CheckScope::everything);
  ASSERT_EQ(hole.size(), 2u);
  EXPECT_FALSE(hole[0].holds);
  EXPECT_EQ(hole[0].found, "`[[` in line 2");
}

}  // namespace
}  // namespace roofwalk
