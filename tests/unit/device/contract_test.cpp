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

TEST(DeviceNames, UnknownOnesSayWhatToDo) {
  const auto device = open_device("cuda-or-so");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().text(),
            "unknown device `cuda-or-so` (virtual:NAME, where `./roofwalk machines` lists the names)");
}

}  // namespace
}  // namespace roofwalk::test
