#include "tests/support/device_contract.h"

namespace roofwalk::test {
namespace {

TEST(DeviceContract, VirtualGpu) {
  run_device_contract([] {
    auto device = open_device("virtual:classroom");
    EXPECT_TRUE(device.ok()) << device.error().text();
    return std::move(*device);
  });
}

// With Figures::none, the device counts instructions but neither memory traffic nor time. The results are the same.
TEST(VirtualGpu, CountsNoMemoryWhereNobodyAsks) {
  constexpr int kCount = 1000;
  Buffer x{"x", numbers(kCount)}, counted{"y", std::vector<float>(kCount)}, uncounted = counted;
  const auto with = Runner().run(kContractKernel, {&x, &counted, kCount, 2.0f});
  const auto without = Runner().run(kContractKernel, {&x, &uncounted, kCount, 2.0f},
                                    {.sanitize = true, .figures = RunOptions::Figures::none});
  ASSERT_TRUE(with.ok() && without.ok());
  EXPECT_EQ(uncounted.values, counted.values);
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    const auto wanted = counter <= Counter::barriers ? with->counters[counter] : std::nullopt;
    EXPECT_EQ(without->counters[counter], wanted) << counter_name(counter);
    EXPECT_EQ(without->kernels.at(0).lines.at(0).counters[counter].has_value(), wanted.has_value());
  }
  EXPECT_EQ(without->elapsed_ns, 0);
  EXPECT_FALSE(without->time_is_modelled);
  EXPECT_GT(with->elapsed_ns, 0);
}

TEST(DeviceNames, UnknownOnesSayWhatToDo) {
  const auto device = open_device("cuda-or-so");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().text(),
            "unknown device `cuda-or-so` (virtual:NAME, where `./roofwalk machines` lists the names; virtual:NAME/8 is "
            "8 of its SMs)");
}

}  // namespace
}  // namespace roofwalk::test
