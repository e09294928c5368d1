// A worker that serves the virtual GPU: `remote_test_worker MODE LOG`. It writes its process id to a line of LOG. The
// first worker misbehaves as MODE says, later ones work correctly; with `always-MODE` all misbehave.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "common/base/child.h"
#include "common/device/device.h"
#include "common/device/remote/shared_memory.h"
#include "common/device/remote/wire.h"
#include "common/device/remote/worker.h"
#include "common/record/run_record.h"

namespace roofwalk {
namespace {

[[noreturn]] void hang() {
  while (true) ::pause();
}

void put(const std::string& bytes) { ::send(kChannelDescriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

std::string prefix(std::uint32_t head_bytes, std::uint64_t body_bytes) {
  std::string out = "RKW1";
  out.append(reinterpret_cast<const char*>(&head_bytes), sizeof head_bytes);
  out.append(reinterpret_cast<const char*>(&body_bytes), sizeof body_bytes);
  return out.append(8, '\0');
}

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Returns what the process inherited from its parent: environment variables, descriptors and limits, in one text.
std::string inheritance() {
  std::string out = "environment:";
  for (char** variable = environ; *variable != nullptr; ++variable) out += " " + std::string(*variable);
  out += "\ndescriptors:";
  DIR* folder = ::opendir("/proc/self/fd");  // null in a box
  while (const dirent* entry = folder != nullptr ? ::readdir(folder) : nullptr) {
    const std::string name = entry->d_name;
    if (name[0] == '.' || std::stoi(name) == ::dirfd(folder)) continue;
    char target[256] = {};
    [[maybe_unused]] const auto count = ::readlink(("/proc/self/fd/" + name).c_str(), target, sizeof target - 1);
    out += " " + name + "=" + std::string(target).substr(0, std::string(target).find(':'));
  }
  if (folder != nullptr) ::closedir(folder);
  rlimit core{}, memory{};
  ::getrlimit(RLIMIT_CORE, &core);
  ::getrlimit(RLIMIT_AS, &memory);
  int signal = 0;
  ::prctl(PR_GET_PDEATHSIG, &signal);
  out += "\noom: " + text_of("/proc/self/oom_score_adj") + "core: " + std::to_string(core.rlim_cur) +
         "\naddress space: " + (memory.rlim_cur == RLIM_INFINITY ? "unlimited" : "limited") +
         "\nsignal: " + std::to_string(signal) + "\nleads its group: " + (::getpgrp() == ::getpid() ? "yes" : "no");
  out += "\nfolders:";
  for (const char* place : {"/home", "/usr/bin", "/usr/lib", "/proc/self", "/roofwalk/chapters"}) {
    if (::access(place, F_OK) == 0) out += std::string(" ") + place;
  }
  return out + "\n";
}

// Starts a process of another group that keeps this one from being reaped after its death, like a driver that hangs,
// until a file LOG.release exists.
void be_held(const std::string& log) {
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  int ready[2];
  if (::pipe(ready) != 0) std::abort();
  if (::fork() == 0) {
    ::setsid();
    ::close(kChannelDescriptor);
    const char seized = ::ptrace(PTRACE_SEIZE, ::getppid(), nullptr, nullptr) == 0 ? 'y' : 'n';
    [[maybe_unused]] const auto count = ::write(ready[1], &seized, 1);
    for (int i = 0; i < 6000 && ::access((log + ".release").c_str(), F_OK) != 0; ++i) ::usleep(10'000);
    ::_exit(0);
  }
  char seized = 'n';
  [[maybe_unused]] const auto count = ::read(ready[0], &seized, 1);
  if (seized == 'n') {
    std::fprintf(stderr, "ptrace is not allowed here\n");
    ::_exit(9);
  }
}

// A second descriptor of the shared memory, because serve_device closes the first; -1: not kept.
int kept_shared = -1;

// Makes the shared memory empty, if its descriptor allows that.
void take_away_shared() { [[maybe_unused]] const int failed = ::ftruncate(kept_shared, 0); }

// Overwrites the shared memory and removes its pages for as long as the process lives.
void scribble(std::uint8_t* shared) {
  std::thread([shared] {
    for (int i = 0;; ++i) {
      std::memset(shared, i, kSharedBytes);
      ::fallocate(kept_shared, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kSharedBytes / 2);
    }
  }).detach();
}

class OddDevice final : public Device {
 public:
  OddDevice(std::unique_ptr<Device> inner, std::string mode, std::string log)
      : inner_(std::move(inner)), mode_(std::move(mode)), log_(std::move(log)) {}

 private:
  const Machine& do_machine() const override { return inner_->machine(); }
  bool do_supports(Counter counter) const override { return inner_->supports(counter); }
  Result<DeviceBuffer> do_allocate(std::string_view name, std::uint64_t size, std::uint32_t element) override {
    ROOFWALK_TRY(DeviceBuffer buffer, inner_->allocate(name, size, element));
    if (mode_ == "overlap") buffer.address = 4096;
    if (mode_ == "odd-address") buffer.address += 1;
    return buffer;
  }
  void do_release(const DeviceBuffer& buffer) override { inner_->release(buffer); }
  void do_protect(const DeviceBuffer& buffer) override { inner_->protect(buffer); }
  void do_lay_out(std::uint64_t seed) override { inner_->lay_out(seed); }
  void do_write(const DeviceBuffer& buffer, std::uint64_t offset, std::span<const std::uint8_t> data) override {
    if (mode_ == "hang-in-write") hang();
    inner_->write(buffer, offset, data);
  }
  void do_read(const DeviceBuffer& buffer, std::uint64_t offset, std::span<std::uint8_t> data) const override {
    if (mode_ == "exit-in-read") ::_exit(5);
    inner_->read(buffer, offset, data);
    if (mode_ == "shrink") take_away_shared();
    if (mode_ == "scribble" && !std::exchange(scribbles_, true)) scribble(data.data());
  }
  void do_forget(const DeviceBuffer& buffer, std::uint64_t offset, std::uint64_t size) override {
    inner_->forget(buffer, offset, size);
  }
  Status do_load(const Artifact& artifact) override {
    if (mode_ == "tell") return Error{.message = inheritance()};
    if (mode_ == "hang-in-load") hang();
    return inner_->load(artifact);
  }
  Status do_alive() const override {
    if (lost_) return Error{.message = "CUDA_ERROR_LAUNCH_FAILED (719)"};
    return kOk;
  }
  Result<RunRecord> do_run(const Plan& plan, const RunOptions& options) override;

  std::unique_ptr<Device> inner_;
  std::string mode_, log_;
  bool lost_ = false;
  mutable bool scribbles_ = false;
};

Result<RunRecord> OddDevice::do_run(const Plan& plan, const RunOptions& options) {
  if (mode_ == "hang") hang();
  if (mode_ == "brood") {
    const pid_t child = ::fork();
    if (child == 0) hang();
    std::ofstream(log_, std::ios::app) << child << std::endl;
    hang();
  }
  if (mode_ == "held") {
    be_held(log_);
    hang();
  }
  for (const auto& [mode, signal] :
       {std::pair{"segv", SIGSEGV}, {"abort", SIGABRT}, {"kill", SIGKILL}, {"term", SIGTERM}}) {
    if (mode_ == mode) ::raise(signal);
  }
  if (mode_ == "exit") {
    std::fprintf(stderr, "nothing\nthe driver said \033[31mno\n");
    ::_exit(7);
  }
  if (mode_ == "close") {
    ::close(kChannelDescriptor);
    hang();
  }
  if (mode_ == "garbage") put(std::string(5000, 'x'));
  if (mode_ == "endless-head") put(prefix(0xffff'ffffu, 0));
  if (mode_ == "long-body") put(prefix(2, ~0ull) + "{}");
  if (mode_ == "no-json") put(prefix(5, 0) + "{\"a\":");
  if (mode_ == "deep-json") put(prefix(4000, 0) + std::string(4000, '['));
  if (mode_ == "other-serial") put(prefix(2, 0) + "{}");
  if (mode_ == "half") {
    put(prefix(1000, 0) + "{\"value\":");
    hang();
  }
  if (mode_ == "half-and-close") {
    put(prefix(1000, 0) + "{\"value\":");
    ::_exit(0);
  }
  if (mode_ == "trickle") {
    put(prefix(1000, 0));
    while (true) {
      put(" ");
      ::usleep(20'000);
    }
  }
  ROOFWALK_TRY(RunRecord record, inner_->run(plan, options));
  if (mode_ == "nan") record.elapsed_ns = std::nan("");
  if (mode_ == "infinite") record.kernels.at(0).parts.dram_ns = INFINITY;
  if (mode_ == "negative") record.elapsed_ns = -1;
  if (mode_ == "more-kernels") record.kernels.push_back(record.kernels.at(0));
  if (mode_ == "no-kernels") record.kernels.clear();
  if (mode_ == "longer-than-it-took") {
    record.time_is_modelled = false;
    record.elapsed_ns = 1e15;
  }
  if (mode_ == "escape") record.kernels.at(0).name = "a\033[2Jb\xff";
  if (mode_ == "print") {
    std::printf("hello from thread %d\n", 3);
    for (int i = 0; i < 100'000; ++i) std::printf("and again\n");
    [[maybe_unused]] const auto count = ::write(STDOUT_FILENO, "\033\xff\n", 3);
  }
  if (mode_ == "sticky") {
    record.fault.emplace().message = "an illegal address";
    lost_ = true;
  }
  return record;
}

}  // namespace
}  // namespace roofwalk

int main(int argc, char** argv) {
  using namespace roofwalk;
  if (argc != 3) return 2;
  std::string mode = argv[1];
  const std::string log = argv[2];
  const bool is_first = text_of(log).empty();
  std::ofstream(log, std::ios::app) << ::getpid() << std::endl;
  if (mode.starts_with("always-")) {
    mode = mode.substr(7);
  } else if (!is_first && mode != "other-machine") {
    mode = "honest";
  }
  if (mode == "shrink" || mode == "scribble") kept_shared = ::fcntl(kSharedDescriptor, F_DUPFD_CLOEXEC, 10);
  if (mode == "silent") hang();
  if (mode == "exit-at-once") return 4;
  return serve_device([&]() -> Result<std::unique_ptr<Device>> {
    if (mode == "no-device") return Error{.message = "there is no GPU here", .advice = "take the virtual one"};
    ROOFWALK_TRY(auto inner, open_device(mode == "other-machine" && !is_first ? "virtual:rtx4090" : "virtual"));
    if (mode == "other-machine") mode = is_first ? "hang" : "honest";
    return std::unique_ptr<Device>(std::make_unique<OddDevice>(std::move(inner), mode, log));
  });
}
