// Attempts that are not graded, on both devices: a dot above its roof, fewer bytes than the problem has, skipped work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/device/cuda/cuda_device.h"
#include "common/device/virtual/virtual_device.h"
#include "common/measure/measurement.h"
#include "common/measure/roofs.h"
#include "tests/support/fake_driver.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kCount = 1 << 19;  // 4 MiB in and out: sixteen times the L2 of classroom
const Work kWork{.useful_flops = kCount, .compulsory_bytes = 8 * kCount};

// Returns a kernel that doubles x. `value` is the value that a thread stores, `read` the element that it reads.
std::string doubling(const std::string& value, const std::string& read) {
  return "#include <roofwalk.cuh>\n__global__ void twice(const float* x, float* y, int n) {\n"
         "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  const float v = x[" +
         read + "];\n  if (i < n) y[i] = " + value +
         ";\n}\nSOLVE(const float* x, float* y, int n) { twice<<<n / 256, 256>>>(x, y, n); }\n";
}

struct DeviceKind {
  const char* name;
  std::function<std::unique_ptr<Device>()> open;
};

std::unique_ptr<Device> played_gpu() {
  static std::unique_ptr<FakeDriver> driver;
  driver.reset();
  driver = std::make_unique<FakeDriver>(*load_machine("classroom"));
  CudaOptions options;
  options.counters = fake_counters(*driver);
  options.preheat_s = 0;
  options.host_ns = [] { return driver->host_ns(); };
  auto opened = CudaDevice::open(driver->api(), std::move(options));
  EXPECT_TRUE(opened.ok()) << opened.error().text();
  return std::move(*opened);
}

class Refusals : public ::testing::TestWithParam<DeviceKind> {
 protected:
  // Returns the grader's refusals, with the memory roofs scaled by `share`.
  static std::vector<std::string> said_of(const std::string& text, double share = 1) {
    const Machine machine = *load_machine("classroom");
    Roofs roofs = roofs_of(machine);
    for (MemoryRoof& roof : roofs.memory) roof.bytes_per_s *= share;
    const auto artifact = compile(text);
    EXPECT_TRUE(artifact.ok()) << artifact.error().text();
    Runner runner(GetParam().open());
    Buffer x{"x", std::vector<float>(kCount, 1.0f)}, y{"y", std::vector<float>(kCount)};
    const auto record = runner.run(*artifact, {&x, &y, kCount});
    EXPECT_TRUE(record.ok() && !record->fault) << (record.ok() ? "" : record.error().text());
    const bool is_real = std::string_view(GetParam().name) == "cuda";
    const Measurement measured = measure(*record, kWork, roofs);
    EXPECT_TRUE(measured.executed_flops.known());
    return implausible(measured, roofs, {.dram_bytes = is_real ? static_cast<double>(machine.l2_bytes) : 0});
  }
};

TEST_P(Refusals, AnHonestKernelIsGraded) { EXPECT_THAT(said_of(doubling("2 * v", "i")), IsEmpty()); }

TEST_P(Refusals, ADotAboveItsRoofIsNot) {
  EXPECT_THAT(said_of(doubling("2 * v", "i"), 0.3), ElementsAre(HasSubstr("what the roof allows")));
}

TEST_P(Refusals, FewerBytesThanTheProblemHasAreNot) {
  EXPECT_THAT(said_of(doubling("2 * v", "i / 2")),
              ElementsAre(HasSubstr("reading every input and writing every output once takes")));
}

TEST_P(Refusals, FewerFlopsThanTheAlgorithmNeedsAreNot) {
  EXPECT_THAT(said_of(doubling("v", "i")), ElementsAre(HasSubstr("work was skipped")));
}

INSTANTIATE_TEST_SUITE_P(Both, Refusals,
                         ::testing::Values(DeviceKind{"virtual",
                                                      [] { return make_virtual_device(*load_machine("classroom")); }},
                                           DeviceKind{"cuda", played_gpu}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace roofwalk::test
