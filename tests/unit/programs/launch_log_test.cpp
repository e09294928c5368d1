#include "grader/programs/launch_log.h"

#include <gtest/gtest.h>

namespace roofwalk {
namespace {

// The launches that are measured of those with these names, as a text of + and -.
std::string measured_of(Selection selection, const std::vector<std::string>& names) {
  LaunchLog log(std::move(selection));
  std::string text;
  for (const std::string& name : names) {
    text += log.begins(name) ? '+' : '-';
    log.ended();
  }
  return text;
}

Selection of_kernels(const std::vector<std::string>& typed) {
  Selection selection;
  for (const std::string& each : typed) selection.kernels.push_back(*KernelFilter::read(each));
  return selection;
}

TEST(LaunchLog, ChoosesAmongTheLaunchesOfChosenKernels) {
  const std::vector<std::string> names{"f", "g", "f<1>", "g", "f<2>", "f<1>"};
  EXPECT_EQ(measured_of({}, names), "++++++");
  EXPECT_EQ(measured_of(of_kernels({"f"}), names), "+-+-++");
  EXPECT_EQ(measured_of(of_kernels({"f<1>", "g"}), names), "-+++-+");
  Selection some = of_kernels({"f"});
  some.skip = 1;
  EXPECT_EQ(measured_of(some, names), "--+-++");
  some.count = 2;
  EXPECT_EQ(measured_of(some, names), "--+-+-");
  Selection none;
  none.check_only = true;
  EXPECT_EQ(measured_of(none, names), "------");
}

KernelRecord launch_with(double elapsed_ns, std::uint32_t blocks, std::uint64_t bytes) {
  KernelRecord record;
  record.name = "f";
  record.elapsed_ns = elapsed_ns;
  record.grid = {blocks, 1, 1};
  record.parts.dram_ns = elapsed_ns / 2;
  record.counters.set(Counter::dram_read_bytes, bytes);
  record.waits[Wait::dram] = elapsed_ns;
  record.lines = {{7, record.counters}, {9, {}}};
  record.lines[0].loads = {{4, 2}};
  record.lines[0].held_up = {{9, Wait::dram, 5}};
  return record;
}

TEST(LaunchLog, AddsLaunchesUpLineByLine) {
  LaunchLog log({});
  log.begins("f");
  log.measured(launch_with(10, 2, 100), "a.cu");
  log.measured(launch_with(30, 8, 301), "a.cu");
  KernelRecord other_line = launch_with(20, 4, 200);
  other_line.lines[0].line = 8;
  log.measured(other_line, "a.cu");
  log.measured(launch_with(1, 1, 1), "b.cu");
  ASSERT_EQ(log.kernels().size(), 2u);
  const MeasuredKernel kernel = log.kernels()[0];
  EXPECT_EQ(kernel.launches, 3u);
  EXPECT_EQ(kernel.sum.elapsed_ns, 60);
  EXPECT_EQ(kernel.sum.parts.dram_ns, 30);
  EXPECT_EQ(kernel.sum.grid.x, 8u) << "of the longest";
  EXPECT_EQ(kernel.sum.waits[Wait::dram], 60);
  ASSERT_EQ(kernel.sum.lines.size(), 3u);
  EXPECT_EQ(kernel.sum.lines[0].line, 7);
  EXPECT_EQ(kernel.sum.lines[0].counters[Counter::dram_read_bytes], 401u);
  ASSERT_EQ(kernel.sum.lines[0].loads.size(), 1u);
  EXPECT_EQ(kernel.sum.lines[0].loads[0].sectors, 8);
  ASSERT_EQ(kernel.sum.lines[0].held_up.size(), 1u);
  EXPECT_EQ(kernel.sum.lines[0].held_up[0].cycles, 10);
  EXPECT_EQ(kernel.sum.lines[1].line, 8);
  const KernelRecord mean = mean_launch(kernel);
  EXPECT_EQ(mean.elapsed_ns, 20);
  EXPECT_EQ(mean.parts.dram_ns, 10);
  EXPECT_EQ(mean.counters[Counter::dram_read_bytes], 200u);
}

TEST(LaunchLog, TellsWhatRuns) {
  LaunchLog log({});
  EXPECT_FALSE(log.progress().is_in_launch);
  int ends = 0;
  log.when_a_launch_ends([&] { ++ends; });
  log.begins("g");
  log.ended();
  log.begins("f");
  log.measured(launch_with(10, 2, 100), "a.cu");
  EXPECT_TRUE(log.progress().is_in_launch);
  EXPECT_EQ(log.progress().kernel, "f");
  EXPECT_EQ(log.progress().launch, 1u);
  EXPECT_EQ(log.progress().launches, 2u);
  EXPECT_EQ(log.progress().time_share, 1.0);
  log.ended();
  EXPECT_FALSE(log.progress().is_in_launch);
  EXPECT_EQ(ends, 2);
}

}  // namespace
}  // namespace roofwalk
