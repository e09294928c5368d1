#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "charts.h"
#include "common/plot/plot.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// ROOFWALK_UPDATE_GOLDEN=1 rewrites the file: look at the chart before you commit it.
void expect_golden(const std::string& name, const std::string& text) {
  const fs::path path = fs::path(TEST_SOURCE_DIR "/tests/unit/plot/golden") / name;
  if (std::getenv("ROOFWALK_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(text, read(path)) << "differs from " << path;
}

TEST(GnuplotScript, OfVectorAdd) {
  expect_golden("vector_add.gp", gnuplot_script(vector_add_chart(), "/somewhere/else/vector_add.svg", "svg"));
}

TEST(GnuplotScript, DrawsDotsOfAnOlderModelGrey) {
  Chart chart = vector_add_chart();
  const std::string without = gnuplot_script(chart, "a.svg", "svg");
  EXPECT_THAT(without, Not(HasSubstr("an older model")));
  chart.walk[1].older = true;
  const std::string with = gnuplot_script(chart, "a.svg", "svg");
  EXPECT_THAT(with, HasSubstr("; grey: an older model"));
  // The rows of the data: the colour is the last number.
  const auto colour_of = [](const std::string& script) {
    const std::size_t row = script.find("0.0833333 5.9e+09");
    const std::size_t end = script.find('\n', row);
    return script.substr(script.rfind(' ', end) + 1, end - script.rfind(' ', end) - 1);
  };
  EXPECT_NE(colour_of(with), colour_of(without));
}

TEST(GnuplotScript, DrawsALibrarysDotAsADiamondBesideTheWalk) {
  Chart chart = vector_add_chart();
  const std::string without = gnuplot_script(chart, "a.svg", "svg");
  EXPECT_THAT(without, Not(HasSubstr("diamond")));
  chart.library = PlotPoint{.label = "CUB", .point = {1.0 / 13, 3e9}};
  const std::string with = gnuplot_script(chart, "a.svg", "svg");
  EXPECT_THAT(with, HasSubstr("; diamond: CUB"));
  EXPECT_THAT(with, HasSubstr("set label 'CUB' "));
  EXPECT_THAT(with, HasSubstr("$library << EOD\n0.0769231 3e+09\nEOD"));
  EXPECT_THAT(with, HasSubstr("$library using 1:2 with points pt 12 "));  // open: modelled
  const auto arrows = [](const std::string& script) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = script.find("set arrow", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(arrows(with), arrows(without));
}

TEST(GnuplotScript, OfKeysHasMemoryRoofsAlone) {
  const std::string script = gnuplot_script(keys_chart(), "keys.svg", "svg");
  expect_golden("keys.gp", script);
  for (const char* absent : {"ridge", "FP32", "$roof_peak", "FLOP", "inf", "nan"}) {
    EXPECT_THAT(script, Not(HasSubstr(absent)));
  }
  EXPECT_THAT(script, AllOf(HasSubstr("useful key / DRAM byte"), HasSubstr("'useful key/s'"), HasSubstr("$roof_dram")));
}

TEST(GnuplotScript, OfNaiveGemmAsPng) {
  expect_golden("naive_gemm.gp", gnuplot_script(gemm_chart(), "naive_gemm.png", "pngcairo"));
}

TEST(GnuplotScript, SaysWhatIsModelledAndWhatIsNot) {
  Chart chart = vector_add_chart();
  EXPECT_THAT(gnuplot_script(chart, "a.svg", "svg"), HasSubstr("'times are modelled (hollow dots); green: goals met'"));
  chart.time_is_modelled = false;
  for (PlotPoint& point : chart.walk) point.modelled = point.accepted = false;
  EXPECT_THAT(gnuplot_script(chart, "a.svg", "svg"), HasSubstr("'times are measured'"));
  chart.walk[1].modelled = true;
  EXPECT_THAT(gnuplot_script(chart, "a.svg", "svg"), HasSubstr("hollow dots: modelled, filled: measured"));
}

TEST(GnuplotScript, SaysWhetherWorkIsUseful) {
  Chart chart = vector_add_chart();
  EXPECT_THAT(gnuplot_script(chart, "a.svg", "svg"), HasSubstr("intensity, useful FLOP / DRAM byte"));
  chart.is_of_useful_work = false;
  const std::string script = gnuplot_script(chart, "a.svg", "svg");
  EXPECT_THAT(script, HasSubstr("intensity, executed FLOP / DRAM byte"));
  EXPECT_THAT(script, Not(HasSubstr("useful")));
}

TEST(GnuplotScript, NamesEachRoofsSourceWhereTheyDiffer) {
  Chart chart = vector_add_chart();
  EXPECT_THAT(gnuplot_script(chart, "a.svg", "svg"), HasSubstr("'roofs: data sheet'"));
  chart.roofs.memory[0].source = "measured 2026-11-02";
  EXPECT_THAT(gnuplot_script(chart, "a.svg", "svg"),
              HasSubstr("'DRAM: measured 2026-11-02, L2: data sheet, L1: data sheet, FP32: data sheet'"));
}

TEST(GnuplotScript, DrawsWhatTheDataSheetPromisesDashed) {
  Chart chart = vector_add_chart();
  EXPECT_THAT(gnuplot_script(chart, "a.svg", "svg"), Not(HasSubstr("promise")));  // there are no other roofs
  chart.roofs = measured_roofs();
  const std::string script = gnuplot_script(chart, "a.svg", "svg");
  EXPECT_THAT(script, AllOf(HasSubstr("$promise_dram << EOD\n0.01 1.28e+09\n16 2.048e+12\nEOD"),
                            HasSubstr("$promise_dram using 1:2 with lines dt 2 lw 1"), HasSubstr("$promise_l2 using"),
                            HasSubstr("$promise_peak << EOD\n2 2.048e+12\n")));
  EXPECT_THAT(script, Not(HasSubstr("promise_l1")));  // 0.4 % apart: both lines would look like one
  EXPECT_THAT(script, HasSubstr("$roof_dram << EOD\n0.01 1.1e+09\n16.3636 1.8e+12\nEOD"));
  EXPECT_THAT(script, AllOf(HasSubstr("'DRAM 110 GB/s (data sheet 128 GB/s)'"), HasSubstr("'L2 250 GB/s'"),
                            HasSubstr("'FP32 1.8 TFLOP/s (data sheet 2.05 TFLOP/s)'")));
  EXPECT_THAT(script, HasSubstr("'roofs: measured; dashed: what the data sheet promises'"));
}

TEST(GnuplotScript, LeavesOutDataSheetRoofsThatLieOnTheMeasuredOnes) {
  Chart chart = vector_add_chart();
  chart.roofs = measured_roofs();
  for (MemoryRoof& roof : chart.roofs.memory) roof.bytes_per_s = 0.999 * *roof.data_sheet_bytes_per_s;
  for (ComputeRoof& roof : chart.roofs.compute) roof.flops_per_s = 0.999 * *roof.data_sheet_flops_per_s;
  const std::string script = gnuplot_script(chart, "a.svg", "svg");
  EXPECT_THAT(script, Not(HasSubstr("promise")));
  EXPECT_THAT(script, AllOf(HasSubstr("'DRAM 128 GB/s'"), HasSubstr("'roofs: measured'")));
}

// Dots without an order have no arrows between them and no starter or newest dot, so all dots look alike.
TEST(GnuplotScript, OfDotsWithoutAnOrderHasNoArrows) {
  Chart chart = gemm_chart();
  EXPECT_THAT(gnuplot_script(chart, "x.svg", "svg"), HasSubstr("set arrow"));
  chart.is_walk = false;
  for (PlotPoint& point : chart.walk) point.accepted = point.modelled = false;
  const std::string script = gnuplot_script(chart, "x.svg", "svg");
  EXPECT_THAT(script, Not(HasSubstr("set arrow")));
  const std::string first = fmt::format(" {} {}\n", 7, 0xd55e00);
  EXPECT_THAT(script, AllOf(HasSubstr("0.0606 1.56e+10 1.23" + first), HasSubstr("0.4 2.56e+11 1.23" + first)));
}

TEST(GnuplotScript, MergesDotsInOnePlace) {
  Chart chart = vector_add_chart();
  chart.walk[1].point = chart.walk[0].point;
  chart.walk.pop_back();
  const std::string script = gnuplot_script(chart, "a.svg", "svg");
  EXPECT_THAT(script, HasSubstr("'starter, 1'"));
  EXPECT_THAT(script, Not(HasSubstr("set arrow")));
}

TEST(GnuplotScript, CountsWhatItLeavesOut) {
  Chart chart = vector_add_chart();
  chart.walk.push_back({.label = "3", .point = {0, 1e9}});
  EXPECT_THAT(gnuplot_script(chart, "a.svg", "svg"), HasSubstr("1 without FLOPs, bytes or time not drawn"));
  chart.walk.pop_back();
  for (int i = 3; i <= 15; ++i) chart.walk.push_back({.label = std::to_string(i), .point = {0.05, 1e9 + 1e8 * i}});
  const std::string script = gnuplot_script(chart, "a.svg", "svg");
  EXPECT_THAT(script, HasSubstr("4 attempts in between not drawn"));
  EXPECT_THAT(script, HasSubstr(" dt 2 lc"));  // a dashed arrow across the gap
}

// A folder that is removed after the test; PATH is restored.
class WritePlot : public testing::Test {
 protected:
  WritePlot() : path_(std::getenv("PATH")) {
    std::string name = (fs::temp_directory_path() / "plot_test.XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~WritePlot() override {
    setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }

  // Leaves only a program called gnuplot on the PATH.
  void fake_gnuplot(const std::string& body) {
    fs::create_directory(folder_ / "bin");
    std::ofstream(folder_ / "bin" / "gnuplot") << "#!/bin/sh\n" << body << "\n";
    fs::permissions(folder_ / "bin" / "gnuplot", fs::perms::owner_all);
    setenv("PATH", (folder_ / "bin").c_str(), 1);
  }

  std::string path_;
  fs::path folder_;
};

TEST_F(WritePlot, SvgAndTheScriptBesideIt) {
  const fs::path path = folder_ / "new" / "vector-add.svg";
  const Status status = write_plot(vector_add_chart(), path);
  ASSERT_TRUE(status.ok()) << status.error().text();
  const std::string svg = read(path);
  EXPECT_LT(svg.size(), 60'000u);
  for (const char* text : {"DRAM 128 GB/s", "FP32 2.05 TFLOP/s", "ridge 16 FLOP/B", "algorithmic AI 0.0833", ">pass<",
                           ">starter<", "times are modelled", "FLOP / DRAM byte"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_THAT(svg, HasSubstr("[fill=\"#ffffff\"] { fill: #141414 }"));  // the ground, where dark is preferred
  EXPECT_EQ(read(folder_ / "new" / "vector-add.gp"), gnuplot_script(vector_add_chart(), path, "svg"));
}

TEST_F(WritePlot, Png) {
  const Status status = write_plot(gemm_chart(), folder_ / "gemm.png");
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_THAT(read(folder_ / "gemm.png"), StartsWith("\x89PNG"));
}

TEST_F(WritePlot, TheSameBytesTwice) {
  ASSERT_TRUE(write_plot(gemm_chart(), folder_ / "a" / "gemm.svg").ok());
  ASSERT_TRUE(write_plot(gemm_chart(), folder_ / "b" / "gemm.svg").ok());
  EXPECT_EQ(read(folder_ / "a" / "gemm.svg"), read(folder_ / "b" / "gemm.svg"));
}

TEST_F(WritePlot, TextsAreNeverRun) {
  Chart chart = vector_add_chart();
  const std::string touch = "`touch " + (folder_ / "ran").string() + "`";
  chart.title = "it's '" + touch + "' {/:Bold x}_y^z @m \\ \"q\"\nset output 'other.svg'";
  chart.walk[1].label = "'." + touch + ".'";
  const Status status = write_plot(chart, folder_ / "chart.svg");
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_THAT(read(folder_ / "chart.svg"), AllOf(HasSubstr("{/:Bold x}_y^z @m"), HasSubstr("`touch")));
  EXPECT_FALSE(fs::exists(folder_ / "ran"));
  EXPECT_FALSE(fs::exists(folder_ / "other.svg"));
}

TEST_F(WritePlot, TheUsersOwnGnuplotSettingsDoNotReachIt) {
  std::ofstream(folder_ / ".gnuplot") << "set label 'intruder' at screen 0.5,0.5\n";
  const std::string home = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "/";
  setenv("HOME", folder_.c_str(), 1);
  const Status status = write_plot(vector_add_chart(), folder_ / "chart.svg");
  setenv("HOME", home.c_str(), 1);
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_THAT(read(folder_ / "chart.svg"), Not(HasSubstr("intruder")));
}

TEST_F(WritePlot, DrawsEvenWithoutDots) {
  Chart chart = classroom_chart("l2");
  chart.title = "nothing yet";
  const Status status = write_plot(chart, folder_ / "empty.svg");
  EXPECT_TRUE(status.ok()) << status.error().text();
}

TEST_F(WritePlot, RefusesAnotherEnding) {
  const Status status = write_plot(vector_add_chart(), folder_ / "chart.pdf");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().text(), AllOf(HasSubstr("chart.pdf"), HasSubstr(".svg or .png")));
}

TEST_F(WritePlot, SaysWhichFileCannotBeWritten) {
  std::ofstream(folder_ / "file") << "not a folder";
  const Status status = write_plot(vector_add_chart(), folder_ / "file" / "chart.svg");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().text(), HasSubstr("cannot write " + (folder_ / "file" / "chart.gp").string()));
}

TEST_F(WritePlot, SaysThatGnuplotIsMissing) {
  setenv("PATH", folder_.c_str(), 1);
  const Status status = write_plot(vector_add_chart(), folder_ / "chart.svg");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().text(), AllOf(HasSubstr("gnuplot was not found"), HasSubstr("gnuplot-nox")));
  EXPECT_TRUE(fs::exists(folder_ / "chart.gp"));
}

TEST_F(WritePlot, PassesGnuplotsMessageOn) {
  fake_gnuplot(
      "echo; echo 'set terminal'; echo '   ^'; echo '\"chart.gp\" line 3: unknown or ambiguous'; echo; exit 1");
  const Status status = write_plot(vector_add_chart(), folder_ / "chart.svg");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().text(), HasSubstr("gnuplot failed: \"chart.gp\" line 3: unknown or ambiguous"));
}

TEST_F(WritePlot, DoesNotPassOffAnOldChartAsTheNewOne) {
  std::ofstream(folder_ / "chart.svg") << "old";
  fake_gnuplot("exit 0");
  const Status status = write_plot(vector_add_chart(), folder_ / "chart.svg");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().text(), HasSubstr("gnuplot drew nothing"));
}

}  // namespace
}  // namespace roofwalk
