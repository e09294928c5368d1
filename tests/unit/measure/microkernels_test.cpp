// Tests the microkernels on the virtual GPU, and the computations on their results with a scripted device.
#include "common/measure/microkernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "common/device/virtual/virtual_device.h"
#include "common/specs/machine_file.h"
#include "tests/support/fake_device.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk {
namespace {

using testing::FakeMemory;

Artifact compiled(const std::string& name) {
  std::ifstream in(test::source_root() / "common/roofs" / name);
  auto artifact = test::compile({std::istreambuf_iterator<char>(in), {}});
  if (!artifact) throw std::runtime_error(artifact.error().text());
  return *artifact;
}

const Microkernels& microkernels() {
  static const Microkernels kernels{compiled("memory.cu"), compiled("arithmetic.cu")};
  return kernels;
}

std::optional<double> measured(const Machine& machine, Roof roof) {
  const auto device = make_virtual_device(machine);
  const auto rate = measure_roof(*device, microkernels(), roof);
  EXPECT_TRUE(rate) << roof_title(roof) << ": " << rate.error().text();
  return rate ? *rate : std::nullopt;
}

void expect_the_machines_rates(const Machine& m) {
  RoofRates expected = data_sheet_rates(m);
  for (const Roof stream : {Roof::dram_read, Roof::dram_write, Roof::dram_copy, Roof::dram_triad}) {
    expected.set(stream, m.dram_bytes_per_s * m.dram_sustained_share);
  }
  expected.set(Roof::mma, m.peak_mma_sync_flops_per_s());
  for (const Roof roof : kRoofs) {
    const auto rate = measured(m, roof);
    ASSERT_TRUE(rate) << roof_title(roof);
    EXPECT_NEAR(*rate / *expected[roof], 1, 0.05) << roof_title(roof);
  }
}

TEST(Microkernels, ReachWhatTheMachineFileSays) { expect_the_machines_rates(*load_machine("classroom")); }

// Sizes follow the machine; none is hard-coded for classroom.
TEST(Microkernels, ReachWhatAnotherMachineFileSays) {
  Machine m = *load_machine("classroom");
  m.sms = 3;
  m.clock_hz = 1.3e9;
  m.max_threads_per_sm = 768;
  m.max_threads_per_block = 768;
  m.fp32_lanes_per_sm = 64;
  m.half2_lanes_per_sm = 32;
  m.tensor_fmas_per_clock = 256;
  m.mma_sync_share = 0.75;
  m.l1_bytes = 40960;
  m.l1_ways = 10;
  m.l2_bytes = 1 << 20;
  m.l2_bytes_per_clock = 100;
  m.dram_bytes_per_s = 31e9;
  m.dram_sustained_share = 0.8;
  expect_the_machines_rates(m);
}

TEST(Microkernels, LeaveOutWhatAMachineHasNotGot) {
  Machine m = *load_machine("classroom");
  m.compute_capability = 75;
  EXPECT_EQ(measured(m, Roof::mma), std::nullopt);
  m.l2_bytes = m.l1_bytes;  // no working set is larger than L1 and fits L2
  EXPECT_EQ(measured(m, Roof::l2), std::nullopt);
  m.l1_bytes = 16 << 10;
  EXPECT_EQ(measured(m, Roof::l1), std::nullopt);
  m.shared_bytes_per_sm = 8 << 10;
  EXPECT_EQ(measured(m, Roof::shared), std::nullopt);
}

// The virtual GPU without its counters.
class UncountedDevice final : public Device {
 public:
  explicit UncountedDevice(const Machine& machine) : device_(make_virtual_device(machine)) {}

 private:
  const Machine& do_machine() const override { return device_->machine(); }
  bool do_supports(Counter) const override { return false; }
  Result<DeviceBuffer> do_allocate(std::string_view name, std::uint64_t size_bytes, std::uint32_t element) override {
    return device_->allocate(name, size_bytes, element);
  }
  void do_release(const DeviceBuffer& buffer) override { device_->release(buffer); }
  void do_write(const DeviceBuffer& buffer, std::uint64_t offset, std::span<const std::uint8_t> data) override {
    device_->write(buffer, offset, data);
  }
  void do_read(const DeviceBuffer& buffer, std::uint64_t offset, std::span<std::uint8_t> data) const override {
    device_->read(buffer, offset, data);
  }
  Status do_load(const Artifact& artifact) override { return device_->load(artifact); }
  Result<RunRecord> do_run(const Plan& plan, const RunOptions& options) override {
    auto record = device_->run(plan, options);
    if (record) record->counters = {};
    return record;
  }

  std::unique_ptr<Device> device_;
};

TEST(Microkernels, AskForWhatIsCountedOnOtherDevices) {
  const Machine machine = *load_machine("classroom");
  for (const Roof roof : kRoofs) {
    UncountedDevice device(machine);
    const auto rate = measure_roof(device, microkernels(), roof);
    ASSERT_TRUE(rate) << roof_title(roof) << ": " << rate.error().text();
    if (roof == Roof::l2) {
      EXPECT_EQ(*rate, std::nullopt);
    } else {
      EXPECT_EQ(*rate, measured(machine, roof)) << roof_title(roof);
    }
  }
}

// Returns the number of turns, the last parameter of an arithmetic kernel.
int turns_of(const Plan& plan) {
  int turns = 0;
  const auto& launch = std::get<KernelLaunch>(plan.steps.at(0));
  std::memcpy(&turns, launch.arguments.data() + 2 * sizeof(std::uint64_t), sizeof turns);
  return turns;
}

class ScriptedRoofs : public ::testing::Test {
 protected:
  // Measures the FP32 roof on a device where a run takes `elapsed_ns(its turns, its number)`.
  Result<std::optional<double>> fp32(std::function<double(int turns, int run)> elapsed_ns, bool is_modelled) {
    testing::FakeDevice device(machine_, [&](FakeMemory&, const Plan& plan) -> Result<RunRecord> {
      const int turns = turns_of(plan);
      most_turns_ = std::max(most_turns_, turns);
      RunRecord record;
      record.time_is_modelled = is_modelled;
      record.elapsed_ns = elapsed_ns(turns, runs_++);
      record.counters.set(Counter::flops_f32, 1'000'000ull * static_cast<unsigned>(turns));
      record.fault = fault_;
      return record;
    });
    return measure_roof(device, microkernels(), Roof::fp32);
  }

  Machine machine_ = *load_machine("classroom");
  std::optional<Fault> fault_;
  int runs_ = 0, most_turns_ = 0;
};

TEST_F(ScriptedRoofs, TheDifferenceOfTwoLengthsHoldsNoLaunch) {
  const auto rate = fp32([](int turns, int) { return 70'000 + 500.0 * turns; }, true);
  ASSERT_TRUE(rate);
  EXPECT_DOUBLE_EQ(rate->value(), 1e6 / 500 * 1e9);
  EXPECT_EQ(runs_, 2);  // modelled time has no noise
}

TEST_F(ScriptedRoofs, MeasuredTimesAreTheBestOfSeveralAndLongEnough) {
  const double noise_ns[] = {9000, 300, 0, 80, 5000};
  const auto rate = fp32([&](int turns, int run) { return 70'000 + 500.0 * turns + noise_ns[run % 5]; }, false);
  ASSERT_TRUE(rate);
  EXPECT_DOUBLE_EQ(rate->value(), 1e6 / 500 * 1e9);
  EXPECT_GE(most_turns_ * 500.0, 150e3);
  EXPECT_EQ(runs_ % 5, 0);
}

TEST_F(ScriptedRoofs, AClockThatStandsStillTellsNothing) {
  const auto rate = fp32([](int, int) { return 70'000.0; }, false);
  ASSERT_TRUE(rate);
  EXPECT_EQ(*rate, std::nullopt);
}

TEST_F(ScriptedRoofs, AFaultIsAnError) {
  fault_ = Fault{};
  fault_->message = "the kernel fell over";
  const auto rate = fp32([](int turns, int) { return 500.0 * turns; }, true);
  ASSERT_FALSE(rate);
  EXPECT_EQ(rate.error().message, "a roof of classroom cannot be measured: the kernel fell over");
}

}  // namespace
}  // namespace roofwalk
