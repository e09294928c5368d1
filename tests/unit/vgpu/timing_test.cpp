// The time model's parts on code whose rounds and chains can be counted by eye.
#include "common/vgpu/timing.h"

#include <gtest/gtest.h>

namespace roofwalk::vgpu {
namespace {

Machine machine() {
  Machine m;
  m.sms = 1;
  m.clock_hz = 1e9;
  m.schedulers_per_sm = 4;
  m.fp32_lanes_per_sm = 128;
  m.fp64_lanes_per_sm = 32;
  m.special_lanes_per_sm = 16;
  m.l1_bytes_per_clock = 128;
  m.l1_lines_per_clock = 1;
  m.l2_bytes_per_clock = 64;
  m.shared_bytes_per_clock = 128;
  m.dram_bytes_per_s = 1e9;
  m.l1_latency_cycles = 30;
  m.l2_latency_cycles = 200;
  m.dram_latency_cycles = 500;
  m.shared_latency_cycles = 20;
  m.alu_latency_cycles = 4;
  m.launch_ns = 1000;
  return m;
}

struct Lowered {
  ptx::Module module;
  Program program;
};

std::unique_ptr<Lowered> lower_body(const std::string& body) {
  auto out = std::make_unique<Lowered>();
  auto module = ptx::parse(
      ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .f32 %f<9>;\n.reg .b64 %rd<9>;\n" +
          body + "ret;\n}\n",
      "kernel.cu");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  out->module = std::move(*module);
  auto program = lower({.module = &out->module,
                        .function = &out->module.functions[0],
                        .grid = {1, 1, 1},
                        .block = {32, 1, 1},
                        .dynamic_shared_bytes = 0,
                        .arguments = {},
                        .address_of = [](const std::string&) { return std::uint64_t{0}; }});
  EXPECT_TRUE(program.ok()) << (program ? "" : program.error().text());
  out->program = std::move(*program);
  return out;
}

std::size_t rounds(const std::string& body) {
  const auto lowered = lower_body(body);
  return block_costs(machine(), lowered->program)[0].load_rounds.size();
}

TEST(LoadRounds, IndependentLoadsShareOne) {
  EXPECT_EQ(rounds("ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd2];\nadd.f32 %f3, %f1, %f2;\nld.global.f32 %f4, "
                   "[%rd3];\n"),
            1u);
}

TEST(LoadRounds, AnAddressThatWasLoadedStartsAnother) {
  EXPECT_EQ(rounds("ld.global.u64 %rd2, [%rd1];\nld.global.f32 %f1, [%rd2];\n"), 2u);
}

TEST(LoadRounds, AStoreOfLoadedDataHoldsLaterLoadsBackUnlessTheyAreNonCoherent) {
  const std::string start = "ld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd2], %f1;\n";
  EXPECT_EQ(rounds(start + "ld.global.f32 %f2, [%rd3];\n"), 2u);
  EXPECT_EQ(rounds(start + "ld.global.nc.f32 %f2, [%rd3];\n"), 1u);
}

TEST(TimeParts, EachThroughputAndTheLatencyBound) {
  const auto lowered =
      lower_body("ld.global.f32 %f1, [%rd1];\nfma.rn.f32 %f2, %f1, %f1, %f1;\nfma.rn.f32 %f2, %f2, %f1, %f1;\n");
  LaunchTotals totals;
  totals.sites.resize(lowered->program.function->instructions.size());
  totals.sites[0].served_by_dram = 3;
  totals.sites[0].served_by_l1 = 1;
  totals.dram_bytes = 4000;
  totals.l2_sectors = 100;
  totals.blocks_per_sm = 2;
  totals.sms.push_back({.block_executions = {40},
                        .longest_warps = 40,
                        .blocks_run = 10,
                        .warps_run = 40,
                        .l1_lines = 70,
                        .l1_sectors = 400,
                        .shared_wavefronts = 9});
  const TimeParts parts = model_time(machine(), lowered->program, totals);
  EXPECT_DOUBLE_EQ(parts.dram_ns, 4000);
  EXPECT_DOUBLE_EQ(parts.l2_ns, 50);   // 100 x 32 / 64
  EXPECT_DOUBLE_EQ(parts.l1_ns, 100);  // 400 x 32 / 128 sectors, more than 70 lines
  EXPECT_DOUBLE_EQ(parts.shared_ns, 9);
  EXPECT_DOUBLE_EQ(parts.issue_ns, 40);  // 40 warps x 4 instructions / 4 schedulers
  EXPECT_DOUBLE_EQ(parts.flops_ns, 20);  // 80 warp instructions x 32 / 128 lanes
  // 5 waves x (mean latency (3 x 500 + 30) / 4 + a chain of two FMAs).
  EXPECT_DOUBLE_EQ(parts.latency_ns, 5 * (382.5 + 8));
  EXPECT_DOUBLE_EQ(total_ns(parts), 1000 + std::sqrt(4000.0 * 4000 + 1952.5 * 1952.5));
}

}  // namespace
}  // namespace roofwalk::vgpu
