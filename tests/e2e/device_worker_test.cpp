// Tests the program as the worker process that a device lives in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "common/device/remote/remote_device.h"
#include "grader/rig/gpu_rig.h"

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

// A worker process ends with the thread that started it, and `watch` runs each check in a new thread. So a new thread
// must get a new worker.
TEST(DeviceWorker, AnotherThreadGetsOneOfItsOwn) {
  const auto devices = devices_in_worker("virtual:classroom", E2E_PROGRAM, Isolation::none);
  for (int i = 0; i < 2; ++i) {
    std::thread([&] {
      for (int again = 0; again < 2; ++again) {
        const auto device = devices();
        ASSERT_TRUE(device.ok()) << device.error().text();
        const auto buffer = (*device)->allocate("b", 3, 1);
        EXPECT_TRUE(buffer.ok()) << buffer.error().text();
        if (buffer) (*device)->release(*buffer);
      }
    }).join();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until the worker has ended with its thread
  }
}

TEST(DeviceWorker, SaysWhichDeviceItDoesNotKnow) {
  const auto device = open("virtual:nothing");
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().text(), testing::HasSubstr("there is no machine 'nothing'"));
}

}  // namespace
}  // namespace roofwalk
