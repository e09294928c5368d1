#include "common/device/cuda/driver/driver_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

namespace roofwalk {
namespace {

using ::testing::HasSubstr;

DriverProbe probe(const char* behaviour, double timeout_s = 20) {
  ::setenv("FAKE_DRIVER", behaviour, 1);
  return probe_driver({.driver = FAKE_DRIVER_LIBRARY, .nvml = FAKE_DRIVER_LIBRARY, .timeout_s = timeout_s});
}

TEST(DriverProbe, TellsOfEveryGpu) {
  const DriverProbe found = probe("");
  EXPECT_TRUE(found.has_library);
  EXPECT_EQ(found.cuda_version, 13000);
  EXPECT_EQ(found.error, 0);
  EXPECT_EQ(found.trouble + found.nvml_trouble, "");
  ASSERT_EQ(found.gpus.size(), 2u);
  EXPECT_EQ(found.gpus[0].name, "NVIDIA Test");
  EXPECT_EQ(found.gpus[0].major, 9);
  EXPECT_EQ(found.gpus[0].reaches_host_memory, true);
  EXPECT_EQ(found.gpus[1].reaches_host_memory, std::nullopt);
  EXPECT_EQ(found.gpus[1].minor, 1);
  EXPECT_EQ(found.gpus[0].state.uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(found.gpus[1].state.uuid, "MIG-10111213-1415-1617-1819-1a1b1c1d1e1f") << "a slice has its own kind of name";
  for (const ProbedGpu& gpu : found.gpus) {
    EXPECT_EQ(gpu.state.driver_version, "580.65.06");
    EXPECT_EQ(gpu.state.clock_reason_bits, 0x80u) << "under the function's older name";
    EXPECT_EQ(gpu.state.temperature_c, std::nullopt);
  }
}

TEST(DriverProbe, WithoutADriverThereIsNothing) {
  const DriverProbe found = probe_driver({.driver = "libcuda-nowhere.so.1"});
  EXPECT_FALSE(found.has_library);
  EXPECT_EQ(found.trouble, "");
  EXPECT_TRUE(found.gpus.empty());
}

TEST(DriverProbe, AnErrorHasItsName) {
  const DriverProbe found = probe("none");
  EXPECT_EQ(found.error, 100);
  EXPECT_EQ(found.trouble, "CUDA_ERROR_NO_DEVICE (100)");
  EXPECT_EQ(found.cuda_version, 13000);
}

TEST(DriverProbe, StatesHaveHolesWhereTheManagementLibraryDoesNotStart) {
  const DriverProbe found = probe("no-nvml");
  ASSERT_EQ(found.gpus.size(), 2u);
  EXPECT_THAT(found.nvml_trouble, HasSubstr("not running"));
  EXPECT_EQ(found.gpus[0].state.uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(found.gpus[0].state.driver_version, std::nullopt);
}

TEST(DriverProbe, ACrashAndAHangAreFindings) {
  const DriverProbe crashed = probe("crash");
  EXPECT_TRUE(crashed.has_library);
  EXPECT_THAT(crashed.trouble, HasSubstr("crashed (Aborted)"));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(probe("hang", 0.2).trouble, "it did not answer within 0.2 s");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(DriverProbe, WhatADriverPrintsIsNotTheAnswer) { EXPECT_EQ(probe("chatter").gpus.size(), 2u); }

TEST(DriverProbe, ALibraryThatIsNoDriverIsSaidToBeNone) {
  const DriverProbe found = probe_driver({.driver = "libc.so.6"});
  EXPECT_TRUE(found.has_library);
  EXPECT_THAT(found.trouble, HasSubstr("lacks functions"));
}

}  // namespace
}  // namespace roofwalk
