// The program as the process that a device lives in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/device/remote/remote_device.h"

namespace roofwalk {
namespace {

Result<std::unique_ptr<Device>> open(const std::string& device) {
  return make_remote_device({{E2E_PROGRAM, "device-worker", "--device", device}, worker_environment()}, device);
}

TEST(DeviceWorker, ServesTheDeviceThatItIsGiven) {
  const auto device = open("virtual:classroom");
  ASSERT_TRUE(device.ok()) << device.error().text();
  EXPECT_EQ((*device)->machine().name, "classroom");
  const auto buffer = (*device)->allocate("b", 3, 1);
  ASSERT_TRUE(buffer.ok()) << buffer.error().text();
  const std::vector<std::uint8_t> bytes{1, 2, 3};
  std::vector<std::uint8_t> back(3);
  (*device)->write(*buffer, 0, bytes);
  (*device)->read(*buffer, 0, back);
  EXPECT_EQ(back, bytes);
}

TEST(DeviceWorker, SaysWhichDeviceItDoesNotKnow) {
  const auto device = open("virtual:nothing");
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().text(), testing::HasSubstr("there is no machine 'nothing'"));
}

}  // namespace
}  // namespace roofwalk
