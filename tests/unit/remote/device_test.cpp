// A device in another process gives the same results. If that process fails, only one run is lost.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "common/base/json.h"
#include "common/device/remote/remote_device.h"
#include "common/device/remote/shared_memory.h"
#include "common/record/run_record_json.h"
#include "tests/support/device_contract.h"

namespace roofwalk::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Short limits, so that tests of hangs are short.
constexpr RemoteLimits kShort{.start_s = 60, .load_s = 60, .request_s = 60, .run_slack_s = 0.3, .end_s = 60};
const RunOptions kShortRun{.max_seconds = 0.2, .sanitize = true};
const RunOptions kLongRun{.max_seconds = 60, .sanitize = true};

// Starts workers of one mode and reads their process ids.
class Workers {
 public:
  explicit Workers(std::string mode) : mode_(std::move(mode)), log_(fs::temp_directory_path() / unique_name()) {}
  ~Workers() {
    fs::remove(log_);
    fs::remove(release());
  }

  WorkerCommand command() const { return {{REMOTE_TEST_WORKER, mode_, log_.string()}, worker_environment()}; }
  Result<std::unique_ptr<Device>> open(const RemoteLimits& limits = kShort) const {
    return make_remote_device(command(), "virtual:" + mode_, limits);
  }
  std::unique_ptr<Device> device(const RemoteLimits& limits = kShort) const {
    auto opened = open(limits);
    EXPECT_TRUE(opened.ok()) << opened.error().text();
    return opened ? std::move(*opened) : nullptr;
  }

  fs::path release() const { return log_.string() + ".release"; }

  std::vector<pid_t> started() const {
    std::ifstream in(log_);
    return {std::istream_iterator<pid_t>(in), {}};
  }

 private:
  static std::string unique_name() {
    static int count = 0;
    return "roofwalk-workers-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
  }
  std::string mode_;
  fs::path log_;
};

// Whether the process ends within ten seconds. A zombie counts as ended.
bool gone(pid_t pid) {
  for (int i = 0; i < 1000; ++i) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    if (!(status >> number >> name >> state) || state == "Z" || state == "X") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

Artifact contract_artifact() {
  auto artifact = compile(kContractKernel);
  EXPECT_TRUE(artifact.ok()) << artifact.error().text();
  return *artifact;
}

TEST(RemoteDevice, KeepsTheContractOfDevices) {
  const Workers workers("honest");
  run_device_contract([&] { return workers.device(); });
  EXPECT_EQ(workers.started().size(), 1u);
  EXPECT_TRUE(gone(workers.started().at(0)));
}

TEST(RemoteDevice, RecordsAndOutputsAreThoseWithoutThePipe) {
  const std::string prints = R"(#include <roofwalk.cuh>
__global__ void k(const float* x, float* y, int n) {
  int i = threadIdx.x;
  if (i < 3) printf("%d\n", i);
  y[i] = x[i];
}
SOLVE(const float* x, float* y, int n) { k<<<1, 32>>>(x, y, n); k<<<1, 32>>>(x, y, n); }
)";
  const std::string races = R"(#include <roofwalk.cuh>
__global__ void k(const float* x, float* y, int n) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[63 - threadIdx.x];
}
SOLVE(const float* x, float* y, int n) { k<<<1, 64>>>(x, y, n); }
)";
  const Workers workers("honest");
  Runner here, there(workers.device());
  const auto compare = [&](const std::string& text, const std::vector<std::size_t>& sizes, const std::vector<int>& tail,
                           const RunOptions& options) {
    const auto run = [&](Runner& runner, std::vector<Buffer>& buffers) {
      for (std::size_t i = 0; i < sizes.size(); ++i) buffers.push_back({"b" + std::to_string(i), numbers(sizes[i])});
      std::vector<Runner::Argument> arguments;
      for (Buffer& buffer : buffers) arguments.emplace_back(&buffer);
      for (const int number : tail) arguments.emplace_back(number);
      const auto record = runner.run(text, arguments, options);
      EXPECT_TRUE(record.ok()) << record.error().text();
      return record ? whole_json(*record) : Json();
    };
    std::vector<Buffer> mine, theirs;
    EXPECT_EQ(run(here, mine), run(there, theirs));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(std::memcmp(mine[i].values.data(), theirs[i].values.data(), 4 * sizes[i]), 0);
    }
  };
  for (const std::string& file : kernels_of("01-vector-add")) {
    compare(text_of(file), {5000, 5000, 5000}, {5000}, RunOptions{});
  }
  for (const std::string& file : kernels_of("02-naive-gemm")) {
    compare(text_of(file), {33 * 20, 20 * 35, 33 * 35}, {33, 35, 20}, kSanitized);
  }
  compare(prints, {32, 32}, {32}, kSanitized);
  compare(races, {64, 64}, {64}, kSanitized);
  compare(kContractKernel, {10, 10}, {11, 0}, kSanitized);  // out of bounds
}

TEST(RemoteDevice, LayoutsAndProtectionReachTheWorker) {
  const Workers workers("honest");
  std::vector<std::uint64_t> addresses;
  for (const std::uint64_t layout : {0, 7, 8}) {
    Runner runner(workers.device());
    runner.device().lay_out(layout);
    const auto input = runner.device().allocate("x", 64, 4);
    ASSERT_TRUE(input.ok());
    addresses.push_back(input->address);
    runner.device().protect(*input);
    const auto record = runner.run(R"(#include <roofwalk.cuh>
__global__ void k(float* x) { x[threadIdx.x] = 1; }
SOLVE(float* x) { k<<<1, 8>>>(x); }
)",
                                   {*input});
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_TRUE(record->fault);
    EXPECT_EQ(record->fault->kind, FaultKind::read_only);
    EXPECT_TRUE(runner.device().alive().ok());
  }
  EXPECT_NE(addresses[0], addresses[1]);
  EXPECT_NE(addresses[1], addresses[2]);
}

TEST(RemoteDevice, LargeBuffersTravelInPieces) {
  const Workers workers("honest");
  const auto device = workers.device();
  std::vector<std::uint8_t> bytes(2 * kSharedBytes + 3), back(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 2654435761u >> 13);
  const auto buffer = device->allocate("large", bytes.size() + 10, 1);
  ASSERT_TRUE(buffer.ok());
  device->write(*buffer, 7, bytes);
  device->read(*buffer, 7, back);
  EXPECT_EQ(back, bytes);
  EXPECT_TRUE(device->alive().ok());
}

// A mode in which the worker spoils a run, and what the run returns: a fault or an Error, with these words.
struct Wrong {
  const char* mode;
  std::optional<FaultKind> fault;  // no value: the run returns an Error
  const char* words;
};

class AWorkerThatGoesWrong : public testing::TestWithParam<Wrong> {};

TEST_P(AWorkerThatGoesWrong, CostsOneRun) {
  const Workers workers(GetParam().mode);
  Runner runner(workers.device());
  Device& device = runner.device();
  const Artifact artifact = contract_artifact();
  Buffer x{"x", numbers(100)}, y{"y", std::vector<float>(100, 7.0f)};
  auto plan = runner.plan(artifact, {&x, &y, 100, 2.0f});
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  const bool hangs = GetParam().fault == FaultKind::runaway;
  const auto record = device.run(*plan, hangs ? kShortRun : kLongRun);
  if (GetParam().fault) {
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_TRUE(record->fault.has_value());
    EXPECT_EQ(record->fault->kind, *GetParam().fault);
    EXPECT_THAT(record->fault->message, HasSubstr(GetParam().words));
    EXPECT_EQ(record->fault->file, artifact.source_path);
    EXPECT_EQ(record->fault->line, 6);  // the line of the launch
  } else {
    ASSERT_FALSE(record.ok());
    EXPECT_THAT(record.error().text(), HasSubstr(GetParam().words));
    EXPECT_TRUE(record.error().file.empty());  // the error is not the learner's
  }
  EXPECT_TRUE(gone(workers.started().at(0)));

  // The buffers are lost, and the device reports that until they are released.
  ASSERT_FALSE(device.alive().ok());
  EXPECT_FALSE(device.run(*plan, kShortRun).ok());
  EXPECT_FALSE(device.load(artifact).ok());
  EXPECT_FALSE(device.allocate("z", 4, 4).ok());
  EXPECT_EQ(workers.started().size(), 1u);
  runner.release();
  EXPECT_TRUE(device.alive().ok());

  // A fresh device has no code loaded.
  EXPECT_FALSE(device.run(*plan, kShortRun).ok());
  const auto again = runner.run(artifact, {&x, &y, 100, 2.0f});
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_FALSE(again->fault);
  EXPECT_EQ(y.values[99], 2 * x.values[99]);
  EXPECT_EQ(workers.started().size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(
    RemoteDevice, AWorkerThatGoesWrong,
    testing::Values(
        Wrong{"hang", FaultKind::runaway, "did not end within 0.5 s"},
        Wrong{"trickle", FaultKind::runaway, "did not end within 0.5 s"},
        Wrong{"half", FaultKind::runaway, "did not end within 0.5 s"},
        Wrong{"segv", FaultKind::trap, "it died of a segmentation fault"},
        Wrong{"abort", FaultKind::trap, "it died of an abort"},
        Wrong{"kill", {}, "killed from outside (signal 9) (the machine may be out of memory)"},
        Wrong{"term", {}, "killed from outside (signal 15)"},
        Wrong{"exit", {}, "it ended (exit code 7), its last words: the driver said ?[31mno"},
        Wrong{"half-and-close", {}, "it ended (exit code 0)"}, Wrong{"close", {}, "it closed the connection"},  //
        Wrong{"garbage", {}, "it sent what is no message"},
        Wrong{"endless-head", {}, "it sent a message that is too long"},
        Wrong{"long-body", {}, "it answered what nobody asked"},
        Wrong{"other-serial", {}, "it answered what nobody asked"}, Wrong{"no-json", {}, "it is not JSON"},  //
        Wrong{"deep-json", {}, "its JSON is too deep"}, Wrong{"nan", {}, "`elapsed_ns` must be a number"},
        Wrong{"infinite", {}, "`parts` must be a number"}, Wrong{"negative", {}, "`elapsed_ns` must be a number"},
        Wrong{"more-kernels", {}, "more kernels than the plan has steps"},
        Wrong{"no-kernels", {}, "fewer kernels than the plan has steps"},
        Wrong{"longer-than-it-took", {}, "it says that it ran longer than it took"}),
    [](const auto& wrong) {
      std::string name = wrong.param.mode;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(RemoteDevice, AStickyErrorKeepsItsRecordAndEndsItsWorker) {
  const Workers workers("sticky");
  Runner runner(workers.device());
  Buffer x{"x", numbers(10)}, y{"y", std::vector<float>(10)};
  const Artifact artifact = contract_artifact();
  auto plan = runner.plan(artifact, {&x, &y, 10, 2.0f});
  ASSERT_TRUE(plan.ok());
  const auto record = runner.device().run(*plan);
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_EQ(record->fault->message, "an illegal address");
  ASSERT_FALSE(runner.device().alive().ok());
  EXPECT_THAT(runner.device().alive().error().text(), HasSubstr("CUDA_ERROR_LAUNCH_FAILED (719)"));
  EXPECT_TRUE(gone(workers.started().at(0)));
  runner.release();
  const auto again = runner.run(artifact, {&x, &y, 10, 2.0f});
  ASSERT_TRUE(again.ok() && !again->fault);
}

TEST(RemoteDevice, WhatIsReadFromALostDeviceIsZerosAndAliveSaysSo) {
  const Workers workers("exit-in-read");
  const auto device = workers.device();
  auto buffer = device->allocate("b", 4, 1), other = device->allocate("c", 4, 1);
  ASSERT_TRUE(buffer.ok() && other.ok());
  device->write(*buffer, 0, std::vector<std::uint8_t>{1, 2, 3, 4});
  EXPECT_TRUE(device->alive().ok());
  std::vector<std::uint8_t> back(4, 9);
  device->read(*buffer, 0, back);
  EXPECT_EQ(back, std::vector<std::uint8_t>(4, 0));
  ASSERT_FALSE(device->alive().ok());
  EXPECT_THAT(device->alive().error().text(), HasSubstr("it ended (exit code 5)"));
  back.assign(4, 9);
  device->read(*other, 0, back);
  EXPECT_EQ(back, std::vector<std::uint8_t>(4, 0));
  device->release(*buffer);
  EXPECT_FALSE(device->alive().ok());
  device->release(*other);
  EXPECT_TRUE(device->alive().ok());
  // A buffer of a lost device is invalid on the next device, even if its address is in use there.
  ASSERT_TRUE(device->allocate("d", 4, 1).ok());
  device->write(*buffer, 0, back);
  EXPECT_TRUE(device->alive().ok());
}

TEST(RemoteDevice, AHangOutsideARunEndsAtItsLimitToo) {
  const Workers in_write("hang-in-write"), in_load("hang-in-load");
  RemoteLimits limits = kShort;
  limits.request_s = 0.3;
  const auto device = in_write.device(limits);
  const auto buffer = device->allocate("b", 4, 1);
  ASSERT_TRUE(buffer.ok());
  device->write(*buffer, 0, std::vector<std::uint8_t>{1, 2, 3, 4});
  ASSERT_FALSE(device->alive().ok());
  EXPECT_THAT(device->alive().error().text(), HasSubstr("did not answer in time"));
  limits = kShort;
  limits.load_s = 0.3;
  const auto loaded = in_load.device(limits)->load(contract_artifact());
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.error().text(), HasSubstr("did not answer in time"));
  EXPECT_TRUE(gone(in_write.started().at(0)) && gone(in_load.started().at(0)));
}

// An interpreted kernel ends at its work limit. So if a run takes too long, that is the host's fault and not the
// kernel's.
TEST(RemoteDevice, AHangOfAnInterpreterIsNoFaultOfAKernel) {
  const Workers workers("hang");
  auto device = make_remote_device(workers.command(), "virtual:hang", kShort, {.kernels_may_end_it = false});
  ASSERT_TRUE(device.ok()) << device.error().text();
  Runner runner(std::move(*device));
  Buffer x{"x", numbers(10)}, y{"y", std::vector<float>(10)};
  const auto record = runner.run(contract_artifact(), {&x, &y, 10, 2.0f}, kShortRun);
  ASSERT_FALSE(record.ok());
  EXPECT_THAT(record.error().text(), HasSubstr("did not answer in time"));
  EXPECT_TRUE(record.error().file.empty());
}

TEST(RemoteDevice, AddressesThatMakeNoSenseAreRefused) {
  const auto overlapping = Workers("overlap").device(), odd = Workers("odd-address").device();
  ASSERT_TRUE(overlapping->allocate("a", 8, 1).ok());
  EXPECT_FALSE(overlapping->allocate("b", 8, 1).ok());
  EXPECT_FALSE(odd->allocate("a", 8, 1).ok());
}

TEST(RemoteDevice, AWorkerThatCannotBeginSaysWhy) {
  const auto message = [](const Result<std::unique_ptr<Device>>& device) {
    return device ? std::string("it began") : device.error().text();
  };
  EXPECT_EQ(message(Workers("no-device").open()), "there is no GPU here (take the virtual one)");
  EXPECT_THAT(message(Workers("exit-at-once").open()), HasSubstr("it ended (exit code 4)"));
  RemoteLimits limits = kShort;
  limits.start_s = 0.3;
  const Workers silent("silent");
  EXPECT_THAT(message(silent.open(limits)), HasSubstr("did not answer in time"));
  EXPECT_TRUE(gone(silent.started().at(0)));
  EXPECT_THAT(message(make_remote_device({{"/nowhere/worker"}, {}}, "cuda:0")), HasSubstr("/nowhere/worker"));
}

TEST(RemoteDevice, AFreshWorkerWithAnotherDeviceIsRefused) {
  const Workers workers("other-machine");
  Runner runner(workers.device());
  Buffer x{"x", numbers(10)}, y{"y", std::vector<float>(10)};
  const auto first = runner.run(contract_artifact(), {&x, &y, 10, 2.0f}, kShortRun);
  ASSERT_TRUE(first.ok() && first->fault);
  const auto second = runner.run(contract_artifact(), {&x, &y, 10, 2.0f}, kShortRun);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().text(), HasSubstr("the device is another one than before"));
}

TEST(RemoteDevice, WhatADeviceWritesToStdoutGoesToTheRecord) {
  const Workers workers("print");
  Runner runner(workers.device());
  Buffer x{"x", numbers(10)}, y{"y", std::vector<float>(10)};
  const auto record = runner.run(contract_artifact(), {&x, &y, 10, 2.0f}, {});
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_THAT(record->printed.text, testing::StartsWith("hello from thread 3\nand again\n"));
  EXPECT_LE(record->printed.text.size(), 64u << 10);
  const auto kept = std::count(record->printed.text.begin(), record->printed.text.end(), '\n');
  EXPECT_EQ(static_cast<std::uint64_t>(kept) + record->printed.more_lines, 100'002u);
}

TEST(RemoteDevice, TextsOfAWorkerSteerNoTerminal) {
  const Workers workers("escape");
  Runner runner(workers.device());
  Buffer x{"x", numbers(10)}, y{"y", std::vector<float>(10)};
  const auto record = runner.run(contract_artifact(), {&x, &y, 10, 2.0f}, {});
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_EQ(record->kernels.at(0).name, "a?[2Jb\ufffd");
}

TEST(RemoteDevice, AWorkerInheritsOnlyWhatItNeeds) {
  ::setenv("ROOFWALK_TEST_SECRET_SEED", "4711-secret", 1);
  const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  const int leak = ::fcntl(zero, F_DUPFD, 100);  // above the child's own descriptors; without O_CLOEXEC on purpose
  ::close(zero);
  const Workers workers("tell");
  const auto device = workers.device();
  const auto told = device->load(contract_artifact());
  ::close(leak);
  ::unsetenv("ROOFWALK_TEST_SECRET_SEED");
  ASSERT_FALSE(told.ok());
  const std::string text = told.error().message;
  EXPECT_THAT(text, testing::Not(HasSubstr("SECRET")));
  EXPECT_THAT(text, testing::Not(HasSubstr("4711")));
  EXPECT_THAT(text, HasSubstr(" PATH="));
  // 0 is stdin, 1 the pipe for printed text, 2 the pipe for last words, 3 the channel, 4 the other end of pipe 1.
  EXPECT_THAT(text, HasSubstr("descriptors: 0=/dev/null 1=pipe 2=pipe 3=socket 4=pipe\n"));
  EXPECT_THAT(text, HasSubstr("oom: 1000\n"));
  EXPECT_THAT(text, HasSubstr("core: 1\n"));  // 1 byte: no core dump to a file or a pipe
  EXPECT_THAT(text, HasSubstr("address space: unlimited"));
  EXPECT_THAT(text, HasSubstr("signal: " + std::to_string(SIGKILL)));
  EXPECT_THAT(text, HasSubstr("leads its group: yes"));
}

TEST(RemoteDevice, WhatAWorkerStartedEndsWithIt) {
  const Workers workers("brood");
  Runner runner(workers.device());
  Buffer x{"x", numbers(10)}, y{"y", std::vector<float>(10)};
  const auto record = runner.run(contract_artifact(), {&x, &y, 10, 2.0f}, kShortRun);
  ASSERT_TRUE(record.ok() && record->fault);
  ASSERT_EQ(workers.started().size(), 2u);
  for (const pid_t pid : workers.started()) EXPECT_TRUE(gone(pid));
}

// Waits until a worker has written its process id, and returns the id.
pid_t first_worker(const Workers& workers) {
  for (int i = 0; i < 1000; ++i) {
    if (const auto pids = workers.started(); !pids.empty()) return pids[0];
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return -1;
}

TEST(RemoteDevice, TheDeathOfTheParentEndsTheWorkerWhateverItDoes) {
  const Artifact artifact = contract_artifact();
  for (const char* mode : {"honest", "always-hang"}) {
    const Workers workers(mode);
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t parent = ::fork();
    if (parent == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      Runner runner(workers.device());
      Buffer x{"x", numbers(10)}, y{"y", std::vector<float>(10)};
      auto plan = runner.plan(artifact, {&x, &y, 10, 2.0f});
      [[maybe_unused]] const auto count = ::write(ready[1], "r", 1);
      if (plan && mode[0] == 'a') (void)runner.device().run(*plan, {});
      while (true) ::pause();
    }
    char got = 0;
    ASSERT_EQ(::read(ready[0], &got, 1), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const pid_t worker = first_worker(workers);
    ASSERT_GT(worker, 0);
    EXPECT_EQ(::kill(worker, 0), 0) << "it should still live";
    ::kill(parent, SIGKILL);
    ::waitpid(parent, nullptr, 0);
    EXPECT_TRUE(gone(worker)) << mode;
    ::close(ready[0]);
    ::close(ready[1]);
  }
}

TEST(RemoteDevice, AWorkerThatCannotBeEndedKeepsOthersOffItsDeviceUntilItHas) {
  const Workers workers("held");
  RemoteLimits limits = kShort;
  limits.end_s = 0.1;
  Runner runner(workers.device(limits));
  const Artifact artifact = contract_artifact();
  Buffer x{"x", numbers(10)}, y{"y", std::vector<float>(10)};
  const auto record = runner.run(artifact, {&x, &y, 10, 2.0f}, kShortRun);
  if (!record && record.error().message.find("ptrace is not allowed") != std::string::npos) {
    GTEST_SKIP() << "ptrace is not allowed here: nothing else holds a dead process";
  }
  ASSERT_TRUE(record.ok() && record->fault) << record.error().text();
  EXPECT_THAT(record->fault->message, HasSubstr("it was killed and does not end"));
  const auto refused = runner.run(artifact, {&x, &y, 10, 2.0f}, kShortRun);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().text(),
              HasSubstr("virtual:held is held by process " + std::to_string(workers.started().at(0)) +
                        ", which was killed and does not end"));
  EXPECT_FALSE(workers.open().ok());  // nor can another device object open it
  EXPECT_TRUE(Workers("honest").open().ok());
  std::ofstream(workers.release()) << std::endl;
  for (int i = 0; i < 600; ++i) {
    const auto again = runner.run(artifact, {&x, &y, 10, 2.0f}, kSanitized);
    if (again.ok()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "the device was never free again";
}

}  // namespace
}  // namespace roofwalk::test
