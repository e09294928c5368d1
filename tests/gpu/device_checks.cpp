// Tests the real GPU as a device: the contract of all devices, faults, printf and assert in kernels, counts that can be
// derived by hand, and roofs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/json.h"
#include "common/base/subprocess.h"
#include "tests/gpu/gpu_checks.h"
#include "tests/gpu/ncu.h"
#include "tests/gpu/ruler.h"
#include "tests/support/device_contract.h"

namespace roofwalk::test {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Device> opened() {
  auto device = gpu_session().open();
  EXPECT_TRUE(device.ok()) << device.error().text();
  return device ? std::move(*device) : nullptr;
}

TEST(Gpu, IsLookedAtByTheDoctor) { gpu_session().record["doctor"] = gpu_session().ask({"doctor"}, 120); }

TEST(Gpu, KeepsTheContractOfAllDevices) {
  run_device_contract(opened, {.knows_faulty_line = false, .finds_every_overrun = false, .repeats_every_count = false});
}

// Each fault is reported with its kind. After a fault, the next run gets a fresh process and succeeds.
TEST(Gpu, FaultsAreNamed) {
  struct Case {
    const char* body;
    FaultKind kind;
  };
  const std::vector<Case> cases{
      {"y[1 << 29] = 1;", FaultKind::out_of_bounds},
      {"*(float2*)((char*)y + 4) = make_float2(1, 1);", FaultKind::misaligned},
      {"__trap();", FaultKind::trap},
      {"extern __shared__ float s[]; s[(1 << 20) + threadIdx.x] = 1; y[0] = s[threadIdx.x];", FaultKind::out_of_bounds},
      {"for (volatile int i = 0; i >= 0; i = 0) {}", FaultKind::runaway}};
  RunOptions options;
  options.max_seconds = 3;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.body);
    Runner runner(opened());
    Buffer y{"y", std::vector<float>(64)};
    const auto record = runner.run("#include <roofwalk.cuh>\n__global__ void bad(float* y) { " + std::string(c.body) +
                                       " }\nSOLVE(float* y) { bad<<<1, 32>>>(y); }\n",
                                   {&y}, options);
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_TRUE(record->fault.has_value());
    EXPECT_EQ(fault_name(record->fault->kind), fault_name(c.kind)) << record->fault->message;
    EXPECT_EQ(record->fault->line, 3);
    const auto good = runner.run(kContractKernel, {&y, &y, 64, 2.0f});
    EXPECT_TRUE(good.ok() && !good->fault) << (good.ok() ? "" : good.error().text());
  }
}

TEST(Gpu, PrintsAndAssertsAsTheVirtualOneDoes) {
  Runner runner(opened());
  Buffer y{"y", std::vector<float>(64)};
  const std::string text =
      "#include <roofwalk.cuh>\n#include <cassert>\n#include <cstdio>\n"
      "__global__ void say(float* y, int n) {\n"
      "  if (threadIdx.x == 3) printf(\"thread %d of %s: %5.2f\\n\", threadIdx.x, \"this\", y[3]);\n"
      "  assert(threadIdx.x < n);\n}\n"
      "SOLVE(float* y, int n) { say<<<1, 32>>>(y, n); }\n";
  const auto said = runner.run(text, {&y, 32});
  ASSERT_TRUE(said.ok()) << said.error().text();
  EXPECT_EQ(said->printed.text, "thread 3 of this:  0.00\n");
  const auto failed = runner.run(text, {&y, 7});
  ASSERT_TRUE(failed.ok() && failed->fault);
  EXPECT_EQ(failed->fault->kind, FaultKind::assertion);
  EXPECT_EQ(failed->fault->line, 6);
  EXPECT_THAT(failed->fault->message, HasSubstr("threadIdx.x < n"));
}

TEST(Gpu, CountsWhatFollowsByHand) {
  Runner runner(opened());
  const auto rows = measure_ruler(runner);
  ASSERT_TRUE(rows.ok()) << rows.error().text();
  gpu_session().record["ruler"] = to_json(*rows);
  for (const RulerRow& row : *rows) {
    EXPECT_TRUE(row.is_right()) << row.name << ": " << row.value.value_or(0) << " " << row.unit << ", by hand "
                                << row.by_hand.value_or(0);
  }
}

// Compares our counts for the copy stream, which the ruler has recorded, with those of NVIDIA's profiler ncu.
TEST(Gpu, CountsWhatNcuCounts) {
  const Json ruler = gpu_session().record.value("ruler", Json::array());
  const char* const metrics = "dram__bytes_read.sum,dram__bytes_write.sum,gpu__time_duration.sum";
  const auto answer = run_command({.arguments = {"ncu",
                                                 "--csv",
                                                 "--page",
                                                 "raw",
                                                 "--print-units",
                                                 "base",
                                                 "--metrics",
                                                 metrics,
                                                 "--cache-control",
                                                 "all",
                                                 "--clock-control",
                                                 "none",
                                                 "--kernel-name",
                                                 "copy",
                                                 gpu_session().checks.string(),
                                                 "--program",
                                                 gpu_session().program.string(),
                                                 "--device",
                                                 gpu_session().device,
                                                 "--copy-stream"},
                                   .timeout_s = 300});
  if (!answer) GTEST_SKIP() << "no ncu on the PATH";
  const auto theirs = metrics_of_ncu(answer->output);
  if (!theirs) GTEST_SKIP() << theirs.error().message;  // the profiler is not permitted: nothing to compare with
  Json rows = Json::array();
  for (const RulerRow& row : ruler_rows_of(ruler)) {
    for (const auto& [name, metric] :
         std::map<std::string, std::string>{{"stream copy: DRAM bytes read", "dram__bytes_read.sum"},
                                            {"stream copy: DRAM bytes written", "dram__bytes_write.sum"},
                                            {"stream copy: time", "gpu__time_duration.sum"}}) {
      if (row.name != name || !row.value || !theirs->contains(metric)) continue;
      rows.push_back({{"name", name}, {"metric", metric}, {"ours", *row.value}, {"ncu", theirs->at(metric)}});
      // Times under a profiler differ more, so 30 % is allowed.
      EXPECT_NEAR(*row.value / theirs->at(metric), 1, row.unit == "ns" ? 0.3 : 0.05) << name;
    }
  }
  gpu_session().record["ncu"] = rows;
}

TEST(Gpu, HasRoofs) {
  const Json roofs = gpu_session().ask({"roofs", "--fresh"}, 400);
  gpu_session().record["roofs"] = roofs;
  ASSERT_TRUE(roofs.is_object());
  EXPECT_GT(roofs["dram_bytes_per_s"]["read"].get<double>(), 0);
  EXPECT_GT(roofs["fp32_flops_per_s"].get<double>(), 0);
}

}  // namespace
}  // namespace roofwalk::test
