#include "common/device/remote/shared_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "common/device/remote/remote_device.h"
#include "common/device/remote/wire.h"
#include "common/record/run_record_json.h"
#include "tests/support/device_contract.h"

namespace roofwalk {
namespace {

using testing::HasSubstr;

// Returns how much of the memory takes up pages.
std::int64_t used_bytes(const SharedMemory& memory) {
  struct stat info {};
  EXPECT_EQ(::fstat(memory.descriptor(), &info), 0);
  return info.st_blocks * 512;
}

TEST(SharedMemory, TheOtherSideSeesTheSameBytes) {
  auto memory = SharedMemory::make();
  ASSERT_TRUE(memory.ok()) << memory.error().text();
  void* other = ::mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory->descriptor(), 0);
  ASSERT_NE(other, MAP_FAILED);
  auto* bytes = static_cast<std::uint8_t*>(other);
  memory->put(std::vector<std::uint8_t>{1, 2, 3});
  EXPECT_EQ(bytes[2], 3);
  bytes[1] = 7;
  std::vector<std::uint8_t> back(3);
  memory->take(back);
  EXPECT_EQ(back, (std::vector<std::uint8_t>{1, 7, 3}));
  ::munmap(other, kSharedBytes);
}

TEST(SharedMemory, OnlyPagesThatWereUsedCostMemory) {
  auto memory = SharedMemory::make();
  ASSERT_TRUE(memory.ok()) << memory.error().text();
  EXPECT_EQ(used_bytes(*memory), 0);
  for (int i = 0; i < 100; ++i) memory->put(std::vector<std::uint8_t>(100));
  EXPECT_LE(used_bytes(*memory), 64 << 10);  // one page, which is larger on some machines
}

TEST(SharedMemory, NobodyCanChangeItsSize) {
  const auto memory = SharedMemory::make();
  ASSERT_TRUE(memory.ok()) << memory.error().text();
  for (const std::size_t size : {std::size_t{0}, kSharedBytes - 1, kSharedBytes + 1}) {
    EXPECT_EQ(::ftruncate(memory->descriptor(), static_cast<off_t>(size)), -1);
    EXPECT_EQ(errno, EPERM);
  }
  EXPECT_EQ(::fcntl(memory->descriptor(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
  EXPECT_EQ(errno, EPERM);
}

TEST(SharedMemory, IfThereIsNoneAnErrorSaysWhy) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4096, before.rlim_max};
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto memory = SharedMemory::make();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.error().text(), "cannot share memory: File too large");
}

TEST(SharedMemory, AWorkerWithoutItSaysSo) {
  int line[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line), 0);
  const Descriptor ours(line[0]), theirs(line[1]), null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const auto pid = start_child({.program = REMOTE_TEST_WORKER,
                                .arguments = {"worker", "honest", "/dev/null"},
                                .environment = std::nullopt,
                                .output = null.get(),
                                .channel = theirs.get()});
  ASSERT_TRUE(pid.ok()) << pid.error().text();
  Wire::Head greeting;
  EXPECT_FALSE(Wire(ours.get()).take_head(greeting, std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  EXPECT_THAT(json_line(greeting.json), HasSubstr("the process shares no memory with its parent: Bad file descriptor"));
  EXPECT_EQ(::waitpid(*pid, nullptr, 0), *pid);
}

// Starts a worker that misbehaves as `mode` says.
std::unique_ptr<Device> device_of(const std::string& mode) {
  const RemoteLimits limits{.start_s = 60, .load_s = 60, .request_s = 60};
  auto device = make_remote_device({{REMOTE_TEST_WORKER, mode, "/dev/null"}, worker_environment()}, mode, limits);
  EXPECT_TRUE(device.ok()) << device.error().text();
  return device ? std::move(*device) : nullptr;
}

// If this worker had its way, the parent would touch memory that is gone, and die of a bus error.
TEST(SharedMemory, AWorkerCannotTakeItAway) {
  const auto device = device_of("shrink");
  ASSERT_NE(device, nullptr);
  const std::vector<std::uint8_t> bytes(100'000, 7);
  std::vector<std::uint8_t> back(bytes.size());
  const auto buffer = device->allocate("b", bytes.size(), 1);
  ASSERT_TRUE(buffer.ok());
  device->write(*buffer, 0, bytes);
  device->read(*buffer, 0, back);
  EXPECT_EQ(back, bytes);
  EXPECT_TRUE(device->alive().ok());
}

TEST(SharedMemory, AWorkerThatScribblesInItSpoilsOnlyItsOwnBuffers) {
  test::Runner scribbling(device_of("scribble")), honest(device_of("honest"));
  const auto kept = scribbling.device().allocate("kept", 100'000, 1);  // is lost with its worker
  ASSERT_TRUE(kept.ok());
  std::vector<std::uint8_t> back(100'000);
  scribbling.device().read(*kept, 0, back);  // from now on, the worker scribbles
  const auto artifact = test::compile(test::kContractKernel);
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  for (int i = 0; i < 20; ++i) {
    const auto run = [&](test::Runner& runner) {
      test::Buffer x{"x", test::numbers(20'000)}, y{"y", std::vector<float>(20'000)};
      const auto record = runner.run(*artifact, {&x, &y, 20'000, 2.0f});
      EXPECT_TRUE(record.ok()) << record.error().text();
      return record ? whole_json(*record) : Json();
    };
    ASSERT_EQ(run(scribbling), run(honest));
  }
  EXPECT_TRUE(scribbling.device().alive().ok());
}

}  // namespace
}  // namespace roofwalk
