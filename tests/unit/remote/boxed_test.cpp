// The virtual GPU in a box gives the same answers, and the plan is made in the box, too.
#include <gmock/gmock.h>

#include <fstream>

#include "common/base/json.h"
#include "common/device/remote/remote_device.h"
#include "common/device/remote/shared_memory.h"
#include "common/device/remote/worker_box.h"
#include "tests/support/boxes.h"
#include "tests/support/device_contract.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk::test {
namespace {

using testing::HasSubstr;

class BoxedDevice : public testing::Test {
 protected:
  void SetUp() override { ROOFWALK_SKIP_WITHOUT_BOXES(); }

  // Opens a device whose worker is in a box. The tests' worker gets `mode` in place of the real worker's options.
  static std::unique_ptr<Device> open(const std::string& mode, const RemoteLimits& limits = {},
                                      const std::filesystem::path& worker = REMOTE_TEST_WORKER) {
    auto command = boxed_worker(worker, ROOFWALK_TEST_SOURCE_DIR, "virtual:classroom", 2);
    EXPECT_TRUE(command.ok());
    command->arguments = {command->arguments.front(), mode, "/tmp/log"};
    auto device =
        make_remote_device(*command, "virtual:classroom", limits, {.plans = true, .kernels_may_end_it = false});
    EXPECT_TRUE(device.ok()) << device.error().text();
    return device ? std::move(*device) : nullptr;
  }
};

ArgumentBytes bytes_of(auto value) {
  ArgumentBytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

TEST_F(BoxedDevice, KeepsTheContractOfDevices) {
  run_device_contract([] { return open("honest"); });
}

TEST_F(BoxedDevice, RunsAProgramThatOnlyItsOwnerReaches) {
  const ScratchFolder folder;
  const auto worker = folder.path() / "worker";
  std::filesystem::copy_file(REMOTE_TEST_WORKER, worker);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  const auto device = open("honest", {}, worker);
  ASSERT_NE(device, nullptr);
  EXPECT_TRUE(device->alive().ok());
}

// A user's own machine file travels into the box, for a slice of the machine, too.
TEST(BoxedWorker, TakesAMachineFileAlong) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder.path() / "mine.toml";
  std::filesystem::copy_file(std::filesystem::path(ROOFWALK_TEST_SOURCE_DIR) / "common/specs/classroom.toml", file);
  for (const char* slice : {"", "/2"}) {
    const auto command =
        boxed_worker(REMOTE_TEST_WORKER, ROOFWALK_TEST_SOURCE_DIR, "virtual:" + file.string() + slice, 2);
    ASSERT_TRUE(command.ok()) << command.error().text();
    const std::string inside = command->arguments.at(2);
    EXPECT_THAT(inside,
                testing::AllOf(testing::StartsWith("virtual:"), testing::EndsWith(std::string("/mine.toml") + slice)));
    EXPECT_THAT(inside, testing::Not(HasSubstr(folder.path().string())));
    const auto& files = command->box->files;
    EXPECT_TRUE(
        std::any_of(files.begin(), files.end(), [](const auto& one) { return one.to.ends_with("/mine.toml"); }));
  }
}

// A box limits the size of files, but not that of the memory that its worker shares.
TEST_F(BoxedDevice, LargeBuffersTravelInPieces) {
  const auto device = open("honest");
  ASSERT_NE(device, nullptr);
  const std::vector<std::uint8_t> bytes(kSharedBytes + 5, 9);
  std::vector<std::uint8_t> back(bytes.size());
  const auto buffer = device->allocate("large", bytes.size(), 1);
  ASSERT_TRUE(buffer.ok());
  device->write(*buffer, 0, bytes);
  device->read(*buffer, 0, back);
  EXPECT_EQ(back, bytes);
  EXPECT_TRUE(device->alive().ok());
}

TEST_F(BoxedDevice, PlansAsItIsDoneHere) {
  const auto artifact = compile(R"(#include <roofwalk.cuh>
__global__ void k(float* x, float* s, float* t) { x[threadIdx.x] = 1; }
SOLVE(float* x, int n) {
  float* s = scratch<float>(n);
  float* t = scratch<float>(2 * n);
  for (int i = 0; i < 3; ++i) k<<<n + i, 32>>>(x, s, t);
  cudaMemsetAsync(s, 7, 4 * n);
  cudaMemcpyAsync(t, s, 4 * n, cudaMemcpyDeviceToDevice);
}
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  const std::vector<ArgumentBytes> arguments = {bytes_of(std::uint64_t{0x1000}), bytes_of(5)};
  std::vector<std::uint64_t> asked;
  const auto scratch = [&asked](std::uint64_t size_bytes) -> Result<std::uint64_t> {
    asked.push_back(size_bytes);
    return std::uint64_t{0x10000} * asked.size();
  };
  const auto here = make_plan(*artifact, arguments, scratch);
  ASSERT_TRUE(here.ok()) << here.error().text();
  asked.clear();
  const auto device = open("honest");
  ASSERT_NE(device, nullptr);
  ASSERT_TRUE(device->load(*artifact).ok());
  const auto there = device->plan(arguments, scratch);
  ASSERT_TRUE(there.has_value());
  ASSERT_TRUE(there->ok()) << there->error().text();
  EXPECT_EQ(to_json(**there), to_json(*here));
  EXPECT_EQ(asked, (std::vector<std::uint64_t>{20, 40}));
}

TEST_F(BoxedDevice, RefusalsOfAPlanComeBackWithTheirLine) {
  const auto artifact = compile(
      "#include <roofwalk.cuh>\n__global__ void k() {}\nSOLVE(float* x, int n) {\n"
      "  k<<<(int)x[0], 32>>>();\n}\n");
  ASSERT_TRUE(artifact.ok());
  const auto device = open("honest");
  ASSERT_TRUE(device->load(*artifact).ok());
  const auto plan = device->plan(std::vector<ArgumentBytes>{bytes_of(std::uint64_t{0x1000}), bytes_of(5)}, {});
  ASSERT_TRUE(plan.has_value());
  ASSERT_FALSE(plan->ok());
  EXPECT_EQ(plan->error().line, 4);
  EXPECT_THAT(plan->error().message, HasSubstr("solve reads data"));
}

// A crash of the process that interprets a kernel is not the kernel's fault.
// A device with less memory than the file asks for is no trouble of ours.
TEST_F(BoxedDevice, TooMuchScratchMemoryIsTheFiles) {
  const auto artifact = compile(R"(#include <roofwalk.cuh>
__global__ void k(float* x) { x[threadIdx.x] = 1; }
SOLVE(float* x, int n) { k<<<1, 32>>>(scratch<float>(n)); })");
  ASSERT_TRUE(artifact) << artifact.error().text();
  const auto device = open("honest");
  ASSERT_NE(device, nullptr);
  ASSERT_TRUE(device->load(*artifact));
  const auto plan =
      device->plan(std::vector<ArgumentBytes>{bytes_of(std::uint64_t{0x1000}), bytes_of(1 << 20)},
                   [](std::uint64_t) -> Result<std::uint64_t> { return Error{.message = "too little memory"}; });
  ASSERT_TRUE(plan.has_value());
  ASSERT_FALSE(plan->ok());
  EXPECT_EQ(plan->error().message, "too little memory");
  EXPECT_EQ(plan->error().file, artifact->source_path);
  EXPECT_TRUE(device->alive());
}

TEST_F(BoxedDevice, ACrashOfItsOwnIsNoFaultOfTheKernel) {
  Runner runner(open("always-segv"));
  Buffer x{"x", {1}}, y{"y", {0}};
  const auto record = runner.run(*compile(kContractKernel), {&x, &y, 1, 2.0f});
  ASSERT_FALSE(record.ok());
  EXPECT_THAT(record.error().message, HasSubstr("segmentation fault"));
}

TEST_F(BoxedDevice, SeesNothingOfThisMachine) {
  const auto device = open("tell");
  ASSERT_NE(device, nullptr);
  const Status told = device->load(*compile(kContractKernel));
  ASSERT_FALSE(told.ok());
  EXPECT_THAT(told.error().message, HasSubstr("environment: LC_ALL=C ROOFWALK_ROOT=/src PWD=/src\n"));
  EXPECT_THAT(told.error().message,
              HasSubstr("folders: /usr/bin /usr/lib\n"));  // what the program that sets limits needs
  EXPECT_THAT(told.error().message, HasSubstr("address space: limited"));
}

}  // namespace
}  // namespace roofwalk::test
