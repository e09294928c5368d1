#include "common/device/remote/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

namespace roofwalk {
namespace {

using Clock = std::chrono::steady_clock;

// Killed workers that have not ended yet, by the device that each holds.
class StuckWorkers {
 public:
  void add(const std::string& device, pid_t pid) {
    const std::lock_guard lock(mutex_);
    by_device_.emplace(device, pid);
  }

  // Returns a worker that still holds the device; 0 if there is none.
  pid_t of(const std::string& device) {
    const std::lock_guard lock(mutex_);
    for (auto [at, end] = by_device_.equal_range(device); at != end;) {
      if (::waitpid(at->second, nullptr, WNOHANG) == 0) return at->second;
      at = by_device_.erase(at);
    }
    return 0;
  }

 private:
  std::mutex mutex_;
  std::multimap<std::string, pid_t> by_device_;
};

StuckWorkers& stuck_workers() {
  static StuckWorkers workers;
  return workers;
}

// Waits until `happened` returns true; false on timeout.
template <class Happened>
bool wait_for(double seconds, Happened happened) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  for (auto pause = std::chrono::microseconds(50); !happened(); pause = std::min(pause * 2, decltype(pause)(10'000))) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace

std::map<std::string, std::string> worker_environment() {
  std::map<std::string, std::string> out;
  for (const char* name :
       {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "ROOFWALK_ROOT", "ROOFWALK_CUDA", "CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER", "CUDA_CACHE_PATH", "CUDA_CACHE_DISABLE", "CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(name)) out[name] = value;
  }
  return out;
}

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const WorkerCommand& command, std::string device) {
  ROOFWALK_CHECK(!command.arguments.empty());
  if (const pid_t pid = stuck_workers().of(device); pid > 0) {
    return Error{
        .message = fmt::format("{} is held by process {}, which was killed and does not end", device, pid),
        .advice = "it waits for the driver; if it stays, the machine has to be restarted; other devices can be used"};
  }
  ChildStart child{.program = {}, .arguments = command.arguments, .environment = command.environment};
  std::optional<BoxStart> box;
  if (command.box) {
    ROOFWALK_TRY(box, prepare_box(*command.box, command.arguments));
    child.arguments = box->arguments;
    child.environment.emplace();
    child.passed = box->passed;
    child.run_as = box->run_as;
    child.group_line = box->guard->line();
  }
  const auto program = find_program(child.arguments.front());
  if (!program) return Error{.message = fmt::format("cannot find the program '{}'", child.arguments.front())};
  child.program = *program;
  int line[2], words[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0) {
    return Error{.message = fmt::format("cannot make a socket: {}", std::strerror(errno))};
  }
  Descriptor ours(line[0]), theirs(line[1]);
  if (::pipe2(words, O_CLOEXEC) != 0) {
    return Error{.message = fmt::format("cannot make a pipe: {}", std::strerror(errno))};
  }
  Descriptor words_read(words[0]), words_write(words[1]);
  ::fcntl(words_read.get(), F_SETFL, O_NONBLOCK);
  child.output = words_write.get();
  child.channel = theirs.get();
  ROOFWALK_TRY(SharedMemory shared, SharedMemory::make());
  child.passed.push_back({shared.descriptor(), kSharedDescriptor});
  ROOFWALK_TRY(const pid_t pid, start_child(child));
  std::optional<BoxStatus> status;
  std::optional<BoxGuard> guard;
  if (box) {
    status.emplace(std::move(box->status));
    guard = std::move(box->guard);
  }
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(pid, std::move(ours), std::move(words_read),
                                                          std::move(shared), std::move(device), std::move(status),
                                                          std::move(guard)));
}

WorkerProcess::WorkerProcess(pid_t pid, Descriptor channel, Descriptor words, SharedMemory shared, std::string device,
                             std::optional<BoxStatus> box, std::optional<BoxGuard> guard)
    : pid_(pid),
      channel_(std::move(channel)),
      words_(std::move(words)),
      wire_(channel_.get(), words_.get()),
      shared_(std::move(shared)),
      device_(std::move(device)),
      box_(std::move(box)),
      guard_(std::move(guard)) {}

WorkerProcess::~WorkerProcess() {
  constexpr double kEndSeconds = 5;
  if (pid_ > 0) end(0, kEndSeconds);
}

WorkerProcess::End WorkerProcess::end(double patience_s, double end_s) {
  ROOFWALK_CHECK(pid_ > 0);
  End end;
  end.by_itself = wait_for(patience_s, [&] { return has_ended(pid_); });
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);  // in case it left its process group
  int status = 0;
  pid_t reaped = 0;
  const bool gone = wait_for(end_s, [&] { return (reaped = ::waitpid(pid_, &status, WNOHANG)) != 0; });
  if (!gone) {
    end.stuck = true;
    stuck_workers().add(device_, pid_);
  } else if (reaped == pid_) {
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    constexpr int kSignalled = 128;
    if (box_ && end.exit_code > kSignalled) {  // bubblewrap's exit code for a signal inside
      end.signal = end.exit_code - kSignalled;
      end.exit_code = 0;
    }
  }
  if (box_) box_->wait_until_gone(end_s);
  guard_.reset();
  pid_ = -1;
  return end;
}

}  // namespace roofwalk
