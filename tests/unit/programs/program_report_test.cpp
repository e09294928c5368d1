#include "grader/programs/program_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include <fmt/format.h>

#include "common/base/json.h"
#include "grader/programs/figures.h"
#include "grader/programs/kernel_figures.h"
#include "grader/programs/program_table.h"
#include "grader/programs/progress_line.h"
#include "tests/support/golden.h"
#include "tests/unit/programs/some_run.h"

namespace roofwalk {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::filesystem::path kGolden = std::filesystem::path(TEST_SOURCE_DIR) / "tests/unit/programs/golden";

std::size_t longest_line(const std::string& text) {
  std::istringstream in(text);
  std::size_t most = 0;
  for (std::string line; std::getline(in, line);) most = std::max(most, shown_columns(line));
  return most;
}

TEST(ProgramTable, FitsTheTerminal) {
  const ProgramRun run = test::some_run();
  for (const std::size_t columns : {60u, 80u, 120u, 200u}) {
    const std::string text = program_table(run, columns, Colors(false));
    EXPECT_LE(longest_line(text), columns) << text;
    if (columns == 80 || columns == 120)
      roofwalk::testing::expect_golden(kGolden / fmt::format("table_{}.txt", columns), text);
  }
}

TEST(ProgramTable, LeavesOutWhatNoKernelHas) {
  ProgramRun run = test::some_run();
  run.kernels = {run.kernels[1]};
  run.launches = run.measured_launches = 12;
  const std::string text = program_table(run, 80, Colors(false));
  EXPECT_THAT(text, HasSubstr("FP32"));
  for (const char* title : {"FP64", "tensor  ", "shared", "chosen", "were counted"})
    EXPECT_THAT(text, Not(HasSubstr(title)));
  run.kernels[0].totals.counters.set(Counter::flops_f32, 0);
  EXPECT_THAT(program_table(run, 80, Colors(false)), Not(HasSubstr("FLOPs")));
}

TEST(ProgramTable, SaysWhatIsCarriedOverAndChosen) {
  ProgramRun run = test::some_run();
  run.kernels[0].totals.counted_launches = 1;
  run.measured_launches = 50;
  const std::string text = program_table(run, 80, Colors(false));
  EXPECT_THAT(text, HasSubstr("15 of 114 launches were counted"));
  EXPECT_THAT(text, HasSubstr("50 of 113 launches of kernels were chosen"));
}

TEST(ProgramTable, ShowsTwentyKernels) {
  ProgramRun run = test::some_run();
  for (int i = 0; i < 30; ++i) run.kernels.push_back({test::some_totals("k" + std::to_string(i), "k.cu", 1, 10), {}});
  const std::string text = program_table(run, 80, Colors(false));
  EXPECT_THAT(text, HasSubstr("k15 "));
  EXPECT_THAT(text, Not(HasSubstr("k16 ")));
  EXPECT_THAT(text, HasSubstr("and 14 more, 0.0 % of the time"));
}

TEST(ProgramReport, TheTablesOfSpreadsheetsHaveTheNamesOfTheJson) {
  const Json json = to_json(test::some_run());
  const std::string csv = to_csv(json);
  std::istringstream in(csv);
  std::string head, first;
  std::getline(in, head);
  std::getline(in, first);
  EXPECT_EQ(head.find("name,file,launches,counted_launches,elapsed_ns,share,executed_flops,dram_bytes"), 0u);
  EXPECT_THAT(head, HasSubstr(",ai_by_level.dram,"));
  EXPECT_THAT(head, HasSubstr(",diagnosis.brief,"));
  EXPECT_THAT(head, HasSubstr(",counters.flops_tensor,"));
  EXPECT_EQ(first.find("\"cutlass::gemm<cutlass::half_t, "), 0u);
  EXPECT_THAT(first, HasSubstr(",64x1x1,256x1x1,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
}

TEST(ProgramReport, FiguresAreFoundByTheirNames) {
  const Json kernel = to_json(test::some_run())["kernels"][1];
  EXPECT_EQ(figure_of(kernel, "dram_bytes"), 196608.0);
  EXPECT_EQ(figure_of(kernel, "flops_f32"), 16384.0);
  EXPECT_EQ(figure_of(kernel, "counters.flops_f32"), 16384.0);
  EXPECT_EQ(figure_of(kernel, "time_ns"), 2e5);
  EXPECT_EQ(figure_of(kernel, "bound"), std::nullopt);
  EXPECT_EQ(figure_of(kernel, "nothing.dram"), std::nullopt);
}

TEST(ProgramReport, AreasOfDotsAreSharesOfTheTime) {
  ProgramRun run = test::some_run();
  run.machine = *load_machine("classroom");
  const Chart chart = program_chart(run);
  ASSERT_EQ(chart.walk.size(), 2u) << "the memset and the empty kernel have no place";
  EXPECT_NEAR(chart.walk[0].time_share, 1.1e6 / 1.305e6, 1e-9);
  EXPECT_EQ(chart.walk[1].label, "add");
  const std::string script = gnuplot_script(chart, "app.svg", "svg");
  EXPECT_THAT(script, HasSubstr("area: share of the time"));
  EXPECT_THAT(script, HasSubstr("TENSOR"));
  EXPECT_THAT(script, Not(HasSubstr("FP64"))) << "no kernel has any";
}

TEST(ProgramReport, TheRoofIsThatOfTheFlops) {
  const Machine machine = *load_machine("classroom");
  Counters counters;
  EXPECT_TRUE(roofs_for(machine, counters).is_memory_only);
  counters.set(Counter::flops_f32, 100);
  EXPECT_DOUBLE_EQ(*roofs_for(machine, counters).peak(), machine.peak_fp32_flops_per_s());
  counters.set(Counter::flops_tensor, 900);
  const Roofs mixed = roofs_for(machine, counters);
  EXPECT_EQ(mixed.compute.front().name, "tensor");
  EXPECT_NEAR(1000 / *mixed.peak(), 100 / machine.peak_fp32_flops_per_s() + 900 / machine.peak_tensor_flops_per_s(),
              1e-20);
}

TEST(ProgressLine, FitsAndNamesTheKernel) {
  Progress now{true, "my::gemm<my::Tile<my::Shape<128, 128, 32>, 8>, float, 4>", 3, 12, 8.4, 0.97};
  EXPECT_EQ(progress_text(now, 120),
            "gemm<Tile<...>, float, 4>: launch 3 (12 of all kernels), 8 s in it; 97 % of the modelled time until now");
  EXPECT_LE(progress_text(now, 59).size(), 59u);
  now.time_share.reset();
  now.in_launch_s = 0.5;
  EXPECT_EQ(progress_text(now, 79), "gemm<Tile<Shape<128, 128, 32>, 8>, float, 4>: launch 3 (12 of all kernels)");
}

}  // namespace
}  // namespace roofwalk
