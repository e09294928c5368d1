// What the laws of the modelled clock share: machines, microkernels, and what a machine file says that they must reach.
//
// Every expectation is worked out from the machine file by a formula that stands in the test; none was read off the
// clock. Where a start and an end would blur a rate, two runs of different length are compared, so that both cancel.
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {

inline constexpr double kRateTolerance = 0.05;  // of what the machine file says

// The machines that the laws hold on: those of the project, and two with odd numbers.
std::vector<std::string> law_machines();

// Only letters, digits and _: gtest's names.
std::string name_of_machine(const testing::TestParamInfo<std::string>& info);

#define ROOFWALK_ON_ALL_MACHINES(suite) \
  INSTANTIATE_TEST_SUITE_P(On, suite, testing::ValuesIn(law_machines()), name_of_machine)

// Which chains arithmetic.cu runs.
enum class Chain { fma, fma_double, funnel_shift, multiply_add, exp2, rsqrt, divide, shuffle, barrier };

class Law : public testing::TestWithParam<std::string> {
 protected:
  Law();
  ~Law() override;

  // What opens this machine once more: "virtual:...".
  const std::string& device() const { return device_; }

  // Runs kernels/`name`.cu; throws what went wrong.
  RunRecord run(const std::string& name, const std::vector<Runner::Argument>& arguments,
                const RunOptions& options = {});

  // Runs a kernel of common/roofs/`name`.cu, by its number there: what measures the roofs obeys the laws too.
  struct RoofKernel {
    int kernel = 0, vectors = 0, blocks = 0, threads = 0, turns = 0;
  };
  RunRecord run_roof(const std::string& name, Buffer& a, Buffer& b, Buffer& c, const RoofKernel& call);

  // Cycles of one launch, the launch itself left out.
  double cycles(const KernelRecord& kernel) const {
    return (kernel.elapsed_ns - machine_.launch_ns) * machine_.clock_hz / 1e9;
  }
  double cycles(const RunRecord& record) const { return cycles(record.kernels.at(0)); }

  // Blocks of `per_scheduler` warps for each scheduler.
  int threads(int per_scheduler) const { return 32 * machine_.schedulers_per_sm * per_scheduler; }
  // The largest block that gives each scheduler the same number of warps.
  int most_threads() const;
  // Dynamic shared memory that lets exactly `blocks` blocks of a kernel without any of its own reside on an SM.
  int shared_bytes_for(int blocks) const;

  // Enough SMs to tell what one does: what happens within an SM needs no more.
  int few_sms() const { return std::min(machine_.sms, 3); }

  // Cycles between two warp instructions of a pipe with `lanes` lanes, on one scheduler.
  double interval(double lanes) const { return std::max(1.0, 32.0 * machine_.schedulers_per_sm / lanes); }
  // Cycles between two warp instructions of the path to memory, on one SM.
  double memory_interval() const { return 32.0 / machine_.memory_lanes_per_sm; }

  // Bytes a clock of the whole GPU. What the SMs may have in flight bounds what they read: bytes over latency.
  double dram_bytes_per_clock() const {
    return machine_.dram_bytes_per_s * machine_.dram_sustained_share / machine_.clock_hz;
  }
  // A request holds its room for the latency and until its last sector has come through the port.
  double in_flight_bytes_per_clock(double latency_cycles, int request_sectors = 16) const {
    const double transfer = (request_sectors - 1) * 32 / machine_.l2_port_bytes_per_clock;
    return 32.0 * machine_.sectors_in_flight_per_sm * machine_.sms / (latency_cycles + transfer);
  }
  double ports_bytes_per_clock() const { return machine_.l2_port_bytes_per_clock * machine_.sms; }
  // A stream of which `read_share` is read and the rest written.
  double dram_stream_bytes_per_clock(double read_share) const;
  double l2_read_bytes_per_clock() const {
    return std::min(
        {machine_.l2_bytes_per_clock, ports_bytes_per_clock(), in_flight_bytes_per_clock(machine_.l2_latency_cycles)});
  }

  // Cycles that `turns` turns of arithmetic.cu take beyond one turn, divided by turns; one turn is 256 steps of
  // `chain_count` chains (255 of three).
  double cycles_per_turn(Chain chain, int chain_count, int blocks, int block_threads, int turns = 4);

  // Chains of nodes in device memory for chase.cu, written anew: node i leads to node (i + step) % count.
  DeviceBuffer nodes(std::uint32_t count, std::uint32_t step);
  RunRecord chase(const DeviceBuffer& nodes, int chains, int blocks, int block_threads, int shared_bytes, int hops);

  Machine machine_;
  std::unique_ptr<Runner> runner_;

 private:
  RunRecord run_file(const std::filesystem::path& file, const std::vector<Runner::Argument>& arguments,
                     const RunOptions& options);

  std::string device_;
  std::filesystem::path folder_;
  std::map<std::string, Artifact> artifacts_;
};

inline void expect_within(double value, double expected, double tolerance, const std::string& what) {
  EXPECT_NEAR(value / expected, 1.0, tolerance) << what << ": " << value << ", expected " << expected;
}

inline std::uint64_t count(const RunRecord& record, Counter counter) { return record.counters[counter].value_or(0); }

// Part of the warps' cycles, the empty places at the end left out.
double share(const KernelRecord& kernel, Wait wait);

}  // namespace roofwalk::test
