#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "charts.h"
#include "common/base/pattern.h"
#include "common/plot/plot.h"

namespace roofwalk {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Removes trailing blanks, because editors remove them from golden files.
std::string trimmed(const std::string& text) { return Pattern(" +\n").replace_all(text, "\n"); }

TEST(TextPlot, OfVectorAdd) {
  EXPECT_EQ(trimmed(text_plot(vector_add_chart(), 72, 18, false)), R"PLOT(
vector-add on virtual:classroom (n=1048576)               times modelled
      |                                               FP32 2.05 TFLOP/s
      |                                  .     . .     __==============
  1 T +                            . . . . . .   __--""  :
      |                      . . . . . .   __--""        :
100 G +                . . . . . .  __---""              :
      |   L1 1.02 TB/s . . .  __--""                     :
      |    .L2 384 GB/s __--""                           :
 10 G +. . . . .  __--*" DRAM 128 GB/s                   :
      |. .  __--""~~~ |                                  :
  1 G +_--""~~~       |                                  :
      |~~             S                                  :
      |               |                                  :
100 M +               |                                  :
      +----------------+---------------+--------------+---------------+
     0.01             0.1              1             10              100
FLOP/s over FLOP/DRAM byte   : ridge 16   | algorithmic AI 0.0833
S starter  * attempt 2  ~ pass from here  under *: 1
)PLOT" + 1);
}

TEST(TextPlot, ALibrarysDotIsAnL) {
  Chart chart = vector_add_chart();
  chart.library = PlotPoint{.label = "CUB", .point = {1.0 / 12, 3e9}};
  const std::vector<std::string> lines = lines_of(text_plot(chart, 72, 18, false));
  EXPECT_EQ(lines[9].substr(0, 24), "      |. .  __--\"\"~~~ L ");
  EXPECT_EQ(lines[17].substr(0, 38), "S starter  * attempt 2  L CUB  ~ pass ");
  chart.library->point = chart.walk.back().point;
  EXPECT_THAT(text_plot(chart, 80, 18, false), HasSubstr("L CUB (under another dot)"));
}

TEST(TextPlot, OfKeysUnderMemoryRoofsAlone) {
  EXPECT_EQ(trimmed(text_plot(keys_chart(), 72, 18, false)), R"PLOT(
mini-keys on virtual:classroom (n=1048576)                times modelled
      |                            . . .   . . .     __--""
 10 G +                      . . .   . . .     *_--""
      |                . . .   . . .     __--""1 DRAM 128 GB/s
      |   L1 1.02 TB/s   . . .     __--""~~~~~ |
      |    . . .   . . .     __--""~~~~~       |
  1 G +.L2 384 GB/s    __--""~~~~~             |
      |. . .     __--""~~~~~                   S
      |    __--""~~~~~                         |
100 M +--""~~~~~                               |
      |~~~                                     |
      |                                        |
      |                                        |
 10 M +                                        |
      +---------------------+--------------------+--------------------+
     0.001                0.01                  0.1                   1
key/s over key/DRAM byte   | algorithmic AI 0.0833
S starter  * attempt 2  ~ pass from here
)PLOT" + 1);
}

// Whether times are modelled stands in the first line that has room for it.
TEST(TextPlot, ALongTitleCutsNoNote) {
  Chart chart = vector_add_chart();
  chart.title = "fused-layernorm on virtual:h100-sxm, 8 of its 132 SMs (rows=4096 cols=1024)";
  const std::vector<std::string> wide = lines_of(text_plot(chart, 82, 18, false));
  EXPECT_THAT(wide[wide.size() - 2], testing::EndsWith("| algorithmic AI 0.0833   times modelled"));
  const std::vector<std::string> narrow = lines_of(text_plot(chart, 76, 18, false));
  EXPECT_THAT(narrow[narrow.size() - 2], Not(HasSubstr("times")));
  EXPECT_THAT(narrow.back(), testing::StartsWith("times modelled  S starter"));
}

TEST(TextPlot, TheLegendIsNeverCutInTheMiddleOfAWord) {
  Chart chart = vector_add_chart();
  const PlotPoint last = chart.walk.back();
  for (int i = 3; i < 10; ++i) {
    chart.walk.push_back(last);
    chart.walk.back().label = i % 2 == 0 ? "0" : std::to_string(i);
  }
  EXPECT_THAT(lines_of(text_plot(chart, 120, 18, false)).back(), HasSubstr("under *: 1-3, 0, 5, 0, 7, 0"));
  EXPECT_THAT(trimmed(text_plot(chart, 60, 18, false)), testing::EndsWith("  ~ pass from here  under *: 8 dots\n"));
}

TEST(TextPlot, ExplainsAGoalOnlyWhereItIsSeen) {
  Chart chart = vector_add_chart();
  EXPECT_THAT(text_plot(chart, 72, 18, false), HasSubstr("~ pass from here"));
  chart.goal->min_ai = 2 * *chart.algorithmic_ai;
  EXPECT_THAT(text_plot(chart, 72, 18, false), Not(HasSubstr("~")));
}

TEST(TextPlot, OfMeasuredRoofsNamesTheDataSheetsWhereTheyDiffer) {
  Chart chart = vector_add_chart();
  chart.roofs = measured_roofs();
  EXPECT_EQ(trimmed(text_plot(chart, 72, 18, false)), R"PLOT(
vector-add on virtual:classroom (n=1048576)               times modelled
      |                      FP32 1.8 TFLOP/s (data sheet 2.05 TFLOP/s)
      |                                  .         .    __=============
  1 T +                            . . .     . . .__--""  :
      |                      . . .     . . .__--""        :
100 G +                . . .     . . ___--""              :
      |   L1 1.02 TB/s     . . __--""                     :
      | L2 250 GB/s. . . __--""                           :
 10 G +. .   . . . __-*""                                 :
      |. . . __--""~~~| DRAM 110 GB/s                     :
  1 G +__--""~~~      |                                   :
      |~~~            S                                   :
      |               |                                   :
100 M +               |                                   :
      +----------------+---------------+--------------+---------------+
     0.01             0.1              1             10              100
FLOP/s over FLOP/DRAM byte   : ridge 16.4   | algorithmic AI 0.0833
S starter  * attempt 2  ~ pass from here  under *: 1  roofs measured
)PLOT" + 1);
}

TEST(TextPlot, OfNaiveGemm) {
  EXPECT_EQ(trimmed(text_plot(gemm_chart(), 72, 18, false)), R"PLOT(
naive-gemm on virtual:classroom (m=n=k=512)               times modelled
      |                                               FP32 2.05 TFLOP/s
      |                             ===================================
  1 T +                         _-"":                    |
      |                     _--"    :                    |
      |                 _--*        :                    |
      |             _--"            :                    |
100 G +         _--"                :                    |
      |     __-"          ~~~~~~~~~~:~~~~~~~~~~~~~~~~~~~~|
      | __-"     S                  :                    |
 10 G +" L1 1.02 TB/s               :                    |
      |                             :                    |
      |                             :                    |
  1 G +                             :                    |
      +-------------+-----------+------------+-----------+------------+
     0.01          0.1          1           10          100         1000
FLOP/s over FLOP/L1 byte   : ridge 2   | algorithmic AI 85.3
S starter  * attempt 1  ~ pass from here
)PLOT" + 1);
}

TEST(TextPlot, FillsItsRectangleExactly) {
  for (const Chart& chart : {vector_add_chart(), gemm_chart(), classroom_chart("l2")}) {
    for (const auto& [columns, rows] : {std::pair{40, 12}, {72, 18}, {80, 24}, {100, 30}, {211, 60}}) {
      const auto lines = lines_of(text_plot(chart, columns, rows, false));
      EXPECT_EQ(lines.size(), static_cast<std::size_t>(rows));
      for (const std::string& line : lines) EXPECT_EQ(line.size(), static_cast<std::size_t>(columns)) << line;
    }
  }
}

TEST(TextPlot, NeverShrinksBelowWhatIsReadable) {
  EXPECT_EQ(text_plot(vector_add_chart(), 1, -5, false), text_plot(vector_add_chart(), 40, 12, false));
}

TEST(TextPlot, ColourOnlyAddsEscapes) {
  const std::string plain = text_plot(vector_add_chart(), 72, 18, false);
  const std::string colored = text_plot(vector_add_chart(), 72, 18, true);
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  EXPECT_THAT(colored, HasSubstr("\x1b[1;33m*\x1b[0m"));
  EXPECT_EQ(Pattern("\x1b\\[[0-9;]*m").replace_all(colored, ""), plain);
}

TEST(TextPlot, NamesDotsThatALaterOneHides) {
  Chart chart = vector_add_chart();
  chart.walk[1].point = chart.walk[2].point = chart.walk[0].point;
  EXPECT_THAT(text_plot(chart, 72, 18, false), HasSubstr("under *: starter, 1"));
}

TEST(TextPlot, NumbersThatWouldRunTogetherAreAnO) {
  Chart chart = classroom_chart("dram");
  for (int i = 10; i <= 12; ++i) chart.walk.push_back({.label = std::to_string(i), .point = {1 + 0.2 * (i - 10), 1e9}});
  chart.walk.insert(chart.walk.begin(), {.label = "starter", .point = {0.1, 1e9}});
  chart.walk.push_back({.label = "13", .point = {10, 1e9}});
  EXPECT_THAT(text_plot(chart, 72, 18, false),
              AllOf(HasSubstr("o12"), Not(HasSubstr("1112")), HasSubstr("S "), HasSubstr("* attempt 13")));
}

TEST(TextPlot, ForeignLettersAndControlCharactersCannotBreakTheFrame) {
  Chart chart = vector_add_chart();
  chart.title = "a\nb\x1b[31m\xc3\xa9";
  const std::string text = text_plot(chart, 72, 18, false);
  EXPECT_THAT(text, testing::StartsWith("a?b?[31m??  "));
  EXPECT_EQ(lines_of(text).size(), 18u);
}

TEST(TextPlot, SaysWhetherTimesAreModelled) {
  Chart chart = vector_add_chart();
  EXPECT_THAT(text_plot(chart, 72, 18, false), HasSubstr("times modelled"));
  chart.time_is_modelled = false;
  EXPECT_THAT(text_plot(chart, 72, 18, false), HasSubstr("times measured"));
  EXPECT_THAT(text_plot(chart, 50, 18, false), HasSubstr("ridge 16"));
}

}  // namespace
}  // namespace roofwalk
