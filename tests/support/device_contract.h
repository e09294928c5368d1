// Requirements for every device: one set of checks, called with a factory of devices.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {

using DeviceFactory = std::function<std::unique_ptr<Device>()>;

// How a hardware device may fall short of the virtual GPU.
struct DeviceLimits {
  bool knows_faulty_line = true;    // false: a fault names the line of the launch, and says so
  bool finds_every_overrun = true;  // false: finds only accesses far from any buffer
  bool survives_faults = true;      // false: a device is unusable after a fault, and a fresh one replaces it
  bool repeats_every_count = true;  // false: L2 and DRAM also serve others, so that their counts vary
};

inline constexpr const char* kContractKernel = R"(#include <roofwalk.cuh>
__global__ void scale(const float* x, float* y, int n, float f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * f;
}
SOLVE(const float* x, float* y, int n, float f) { scale<<<ceil_div(n, 64), 64>>>(x, y, n, f); }
)";

inline void run_device_contract(const DeviceFactory& factory, const DeviceLimits& limits = {}) {
  const auto artifact = compile(kContractKernel);
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  std::optional<Runner> runner(factory());
  Device& device = runner->device();
  ASSERT_TRUE(device.alive().ok());

  // Data copied to a buffer comes back unchanged, also with odd sizes and offsets; two buffers do not overlap.
  auto first = device.allocate("first", 13, 1);
  auto second = device.allocate("second", 7, 1);
  ASSERT_TRUE(first.ok() && second.ok());
  const std::vector<std::uint8_t> bytes{1, 2, 3, 4, 5, 6, 7};
  device.write(*second, 0, bytes);
  device.write(*first, 6, bytes);
  std::vector<std::uint8_t> back(7);
  device.read(*second, 0, back);
  EXPECT_EQ(back, bytes);
  device.read(*first, 6, back);
  EXPECT_EQ(back, bytes);
  EXPECT_EQ(first->address % 256, 0u);
  device.release(*first);
  device.release(*second);

  // An allocation larger than the memory is an error, and the device stays usable.
  EXPECT_FALSE(device.allocate("too much", 1ull << 50, 4).ok());

  for (const int n : {1, 63, 65, 1000}) {
    Buffer x{"x", numbers(static_cast<std::size_t>(n))}, y{"y", std::vector<float>(static_cast<std::size_t>(n))};
    const auto record = runner->run(*artifact, {&x, &y, n, 2.0f});
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_FALSE(record->fault);
    ASSERT_EQ(record->kernels.size(), 1u);
    EXPECT_EQ(record->kernels[0].name, "scale");
    EXPECT_GT(record->elapsed_ns, 0);
    for (int i = 0; i < n; ++i) ASSERT_EQ(y.values[i], 2 * x.values[i]);
    // Every counter that the device supports has a value; the others are absent, not 0.
    for (std::size_t i = 0; i < kCounterCount; ++i) {
      const auto counter = static_cast<Counter>(i);
      EXPECT_EQ(record->counters[counter].has_value(), device.supports(counter)) << counter_name(counter);
    }
  }

  // A fault is returned with its location. The next run works: if the fault has made the device unusable, a fresh one
  // replaces it.
  constexpr int kLaunchLine = 6, kStoreLine = 4, kFarAway = 1 << 29;
  Buffer x{"x", numbers(10)}, y{"y", std::vector<float>(10)};
  const auto bad = runner->run(*artifact, {&x, &y, limits.finds_every_overrun ? 11 : kFarAway, 2.0f});
  ASSERT_TRUE(bad.ok()) << bad.error().text();
  ASSERT_TRUE(bad->fault.has_value());
  EXPECT_EQ(bad->fault->kind, FaultKind::out_of_bounds);
  EXPECT_EQ(bad->fault->kernel, "scale");
  EXPECT_EQ(bad->fault->line, limits.knows_faulty_line ? kStoreLine : kLaunchLine);
  EXPECT_EQ(bad->fault->message.find("launched here") != std::string::npos, !limits.knows_faulty_line)
      << bad->fault->message;
  EXPECT_EQ(device.alive().ok(), limits.survives_faults);
  if (!limits.survives_faults) {
    EXPECT_FALSE(runner->run(*artifact, {&x, &y, 10, 3.0f}).ok());
    EXPECT_FALSE(device.allocate("after", 4, 4).ok());
    runner.reset();
    runner.emplace(factory());
  }
  const auto good = runner->run(*artifact, {&x, &y, 10, 3.0f});
  ASSERT_TRUE(good.ok() && !good->fault);
  EXPECT_EQ(y.values[9], 3 * x.values[9]);

  // The same run twice gives the same counts.
  const auto again = runner->run(*artifact, {&x, &y, 10, 3.0f});
  ASSERT_TRUE(again.ok());
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    const std::string_view name = counter_name(counter);
    const bool is_of_time = !is_of_lines(counter) && !is_of_machine_code(counter);
    const bool is_shared = name.starts_with("l2_") || name.starts_with("dram_");
    if (!limits.repeats_every_count && (is_of_time || is_shared)) continue;
    EXPECT_EQ(good->counters[counter], again->counters[counter]) << name;
  }
}

}  // namespace roofwalk::test
