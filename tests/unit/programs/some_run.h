// A run of four kernels and a memset, made by hand.
#pragma once

#include "common/specs/machine.h"
#include "grader/programs/program_report.h"

namespace roofwalk::test {

inline cudart::KernelTotals some_totals(const std::string& name, const std::string& file, std::uint64_t launches,
                                        double elapsed_ns) {
  cudart::KernelTotals totals;
  totals.name = name;
  totals.file = file;
  totals.launches = totals.counted_launches = launches;
  totals.elapsed_ns = elapsed_ns;
  totals.registers_per_thread = file.empty() ? 0 : 32;
  totals.grid = {64, 1, 1};
  totals.block = {256, 1, 1};
  for (std::size_t i = 0; i < kCounterCount; ++i) totals.counters.set(static_cast<Counter>(i), 0);
  return totals;
}

inline Finding some_finding(const std::string& cause, int line, double share, const std::string& brief) {
  Finding finding;
  finding.diagnosis = {cause, "Words.", line, share, brief};
  return finding;
}

inline ProgramRun some_run() {
  ProgramRun run;
  run.command = "./app 1024";
  run.machine.name = "classroom";
  run.launches = run.measured_launches = 113;

  auto gemm = some_totals(
      "cutlass::gemm<cutlass::half_t, cutlass::layout::RowMajor, cutlass::Tile<cutlass::Shape<128, 128, 32>, 8>, 4>",
      "gemm.cu", 100, 1.1e6);
  gemm.counters.set(Counter::flops_f16, 1'000'000);
  gemm.counters.set(Counter::flops_tensor, 2'147'483'648);
  gemm.counters.set(Counter::dram_read_bytes, 12'582'912);
  gemm.counters.set(Counter::l2_read_sectors, 3'000'000);
  gemm.counters.set(Counter::l1_read_sectors, 60'000'000);
  gemm.counters.set(Counter::shared_bytes, 1'600'000'000);
  gemm.parts.l1_ns = 1.02e6;
  gemm.parts.dram_ns = 0.1e6;
  gemm.occupancy_ns = 0.5 * gemm.elapsed_ns;
  run.kernels.push_back({gemm, some_finding("over_fetch", 31, 0.43, "16 sectors a load where 4 would do")});

  auto add = some_totals("add", "vectors.cu", 12, 2e5);
  add.counters.set(Counter::flops_f32, 16384);
  add.counters.set(Counter::dram_read_bytes, 131072);
  add.counters.set(Counter::dram_write_bytes, 65536);
  add.counters.set(Counter::l1_read_sectors, 6144);
  add.parts.dram_ns = 1.9e5;
  add.occupancy_ns = add.elapsed_ns;
  run.kernels.push_back({add, some_finding("none", 0, 0, "")});

  auto memset = some_totals("memset", "", 1, 3e3);
  memset.counters.set(Counter::dram_write_bytes, 4096);
  memset.parts.launch_ns = 2e3;
  run.kernels.push_back({memset, {}});

  auto tiny = some_totals("(anonymous namespace)::tiny<(anonymous namespace)::Policy<int> >", "vectors.cu", 1, 2e3);
  tiny.parts.launch_ns = 1.8e3;
  run.kernels.push_back({tiny, some_finding("launch_bound", 3, 0.9, "the launch takes longer than its work")});
  return run;
}

}  // namespace roofwalk::test
