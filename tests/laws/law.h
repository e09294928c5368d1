// Shared by the tests of the laws that modelled time must obey: machines, microkernels, and the rates that follow from
// a machine file.
//
// Expected times are computed from the machine file by formulas in the tests; none was copied from a measured run. To
// remove start-up and drain from a rate, a test takes the difference of two runs of different length.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/record/run_record.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {

inline constexpr double kRateTolerance = 0.05;  // relative to the machine file's figures

// Returns the machines that the laws are tested on: all machine files of the project, and two with odd numbers.
std::vector<std::string> law_machines();

// Returns a test's name of only letters, digits and _, as gtest requires.
std::string name_of_machine(const testing::TestParamInfo<std::string>& info);

// The same, with eight SMs of each chip that has more than twice as many, for laws about whole grids.
std::vector<std::string> small_law_machines();

#define ROOFWALK_ON_ALL_MACHINES(suite) \
  INSTANTIATE_TEST_SUITE_P(On, suite, testing::ValuesIn(law_machines()), name_of_machine)

// The chains of arithmetic.cu.
enum class Chain { fma, fma_double, funnel_shift, multiply_add, exp2, rsqrt, divide, shuffle, barrier, fma_of_three };

class Law : public testing::TestWithParam<std::string> {
 protected:
  Law();
  ~Law() override;

  // Returns the device string "virtual:..." that opens this machine again.
  const std::string& device() const { return device_; }

  // Runs kernels/`name`.cu; throws on errors.
  RunRecord run(const std::string& name, const std::vector<Runner::Argument>& arguments,
                const RunOptions& options = {});

  // Runs a kernel of common/roofs/`name`.cu, selected by number. The kernels that measure roofs obey the laws, too.
  struct RoofKernel {
    int kernel = 0, vectors = 0, blocks = 0, threads = 0, turns = 0;
  };
  RunRecord run_roof(const std::string& name, Buffer& a, Buffer& b, Buffer& c, const RoofKernel& call);

  // Cycles of one launch, without the launch overhead.
  double cycles(const KernelRecord& kernel) const {
    return (kernel.elapsed_ns - machine_.launch_ns) * machine_.clock_hz / 1e9;
  }
  double cycles(const RunRecord& record) const { return cycles(record.kernels.at(0)); }

  // Returns the threads of a block with `per_scheduler` warps for each scheduler.
  int threads(int per_scheduler) const { return 32 * machine_.schedulers_per_sm * per_scheduler; }
  // Returns the threads of the largest block that gives all schedulers the same number of warps.
  int most_threads() const;
  // Dynamic shared memory per block that limits an SM to exactly `blocks` resident blocks, for a kernel that uses no
  // other shared memory.
  int shared_bytes_for(int blocks) const;

  // Enough SMs to test effects within one SM.
  int few_sms() const { return std::min(machine_.sms, 3); }

  // Cycles between two warp instructions of a pipe with `lanes` lanes, on one scheduler.
  double interval(double lanes) const { return std::max(1.0, 32.0 * machine_.schedulers_per_sm / lanes); }
  // Cycles between two warp instructions of the memory path, on one SM: through L1, and to shared memory.
  double memory_interval() const { return 32.0 / machine_.memory_lanes_per_sm; }
  double shared_interval() const { return 32.0 / machine_.shared_lanes_per_sm; }

  // DRAM bytes per clock of the whole GPU.
  double dram_bytes_per_clock() const {
    return machine_.dram_bytes_per_s * machine_.dram_sustained_share / machine_.clock_hz;
  }
  // The same of a stream of which `read_share` is read and the rest written, if L2 takes as much: where both happen,
  // writes turn the bus around.
  double dram_mixture_bytes_per_clock(double read_share) const {
    const double turned = read_share > 0 ? (1 - read_share) * machine_.dram_write_turnaround : 0;
    return std::min(dram_bytes_per_clock() / (1 + turned), machine_.l2_bytes_per_clock);
  }
  // Bytes per clock if the slots for sectors in flight are the limit. A request holds its slots for the latency, plus
  // the time until its last sector has passed the L2 port.
  double in_flight_bytes_per_clock(double latency_cycles, int request_sectors = 16) const {
    const double transfer = (request_sectors - 1) * 32 / machine_.l2_port_bytes_per_clock;
    return 32.0 * machine_.sectors_in_flight_per_sm * machine_.sms / (latency_cycles + transfer);
  }
  double ports_bytes_per_clock() const { return machine_.l2_port_bytes_per_clock * machine_.sms; }
  // DRAM bytes per clock of a stream; `read_share` is the share of its bytes that is read, the rest is written.
  double dram_stream_bytes_per_clock(double read_share) const;
  double l2_read_bytes_per_clock() const {
    return std::min(
        {machine_.l2_bytes_per_clock, ports_bytes_per_clock(), in_flight_bytes_per_clock(machine_.l2_latency_cycles)});
  }

  // Returns the cycles per turn of arithmetic.cu after the first turn. A turn has 256 steps in all, divided among
  // `chain_count` chains (255 steps for three chains); a turn of Chain::barrier has 32 barriers.
  double cycles_per_turn(Chain chain, int chain_count, int blocks, int block_threads, int turns = 4);

  // Writes chains of nodes for chase.cu to device memory: node i leads to node (i + step) % count.
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

// Returns the share of `wait` in the warps' cycles; warp slots left empty by the tail are not counted.
double share(const KernelRecord& kernel, Wait wait);

}  // namespace roofwalk::test
