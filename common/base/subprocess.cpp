#include "common/base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  void reset(int fd) {
    close();
    fd_ = fd;
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

struct Pipe {
  Descriptor read_end, write_end;

  bool open() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return false;
    read_end.reset(fds[0]);
    write_end.reset(fds[1]);
    return true;
  }
};

// Where the program lies, absolute, so that a change of directory does not change what runs.
std::optional<fs::path> find_program(const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos) return fs::absolute(name);
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "/usr/bin:/bin";
  while (true) {
    const std::size_t colon = rest.find(':');
    const fs::path candidate = fs::absolute(fs::path(rest.substr(0, colon)) / name);
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    if (colon == std::string::npos) return std::nullopt;
    rest.erase(0, colon + 1);
  }
}

// All that the child needs, laid out before the fork: between fork and exec nothing may allocate.
struct Prepared {
  std::string program;
  std::string directory;
  std::vector<std::string> environment;
  std::vector<char*> argv, envp;
};

Prepared prepare(const Command& command, const fs::path& program) {
  Prepared prepared{.program = program.string(),
                    .directory = command.working_directory.string(),
                    .environment = {},
                    .argv = {},
                    .envp = {}};
  for (const auto& [key, value] : command.environment) prepared.environment.push_back(key + "=" + value);
  for (const std::string& argument : command.arguments) prepared.argv.push_back(const_cast<char*>(argument.c_str()));
  prepared.argv.push_back(nullptr);
  for (std::string& entry : prepared.environment) prepared.envp.push_back(entry.data());
  prepared.envp.push_back(nullptr);
  return prepared;
}

void limit(decltype(RLIMIT_AS) resource, std::size_t bytes) {
  const rlimit value{bytes, bytes};
  ::setrlimit(resource, &value);
}

// In the child: says through `status_fd` why the program cannot be started, and ends.
[[noreturn]] void give_up(int status_fd) {
  const int code = errno;
  [[maybe_unused]] const auto written = ::write(status_fd, &code, sizeof code);
  ::_exit(127);
}

// Runs in the child, between fork and exec.
[[noreturn]] void start_child(const Command& command, Prepared& prepared, int output_fd, int status_fd, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // we died before the line above took hold

  // What the parent blocks or ignores is no business of the program's.
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || ::dup2(null, 0) < 0 || ::dup2(output_fd, 1) < 0 || ::dup2(output_fd, 2) < 0) give_up(status_fd);
  ::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
  if (!prepared.directory.empty() && ::chdir(prepared.directory.c_str()) != 0) give_up(status_fd);
  limit(RLIMIT_CORE, 0);
  if (command.max_memory_bytes > 0) limit(RLIMIT_AS, command.max_memory_bytes);
  if (command.max_file_bytes > 0) limit(RLIMIT_FSIZE, command.max_file_bytes);
  ::execve(prepared.program.c_str(), prepared.argv.data(),
           command.environment.empty() ? environ : prepared.envp.data());
  give_up(status_fd);
}

// Whether the program has ended. It stays a zombie, so that its process group cannot become another's before the kill.
bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

int reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// Reads what is there now. False at the end of the stream.
bool read_some(int fd, std::size_t max_bytes, CommandResult& result) {
  char buffer[16384];
  const ssize_t count = ::read(fd, buffer, sizeof buffer);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  const std::size_t room = max_bytes - std::min(max_bytes, result.output.size());
  const std::size_t kept = std::min(room, static_cast<std::size_t>(count));
  result.output.append(buffer, kept);
  result.output_cut |= kept < static_cast<std::size_t>(count);
  return true;
}

// Collects output until the program ends or the time is up, then leaves no process of the group behind.
CommandResult supervise(pid_t pid, int output_fd, const Command& command) {
  // A limit beyond what the clock can add up is as good as none.
  const double limit_s = std::clamp(command.timeout_s, 0.0, 1e6);
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
  CommandResult result;
  ::fcntl(output_fd, F_SETFL, O_NONBLOCK);
  bool open = true;
  while (!has_ended(pid)) {
    if (Clock::now() >= deadline) {
      result.timed_out = true;
      break;
    }
    // Short waits, because a grandchild may hold the pipe open after the program has ended, and the program may close
    // it and run on.
    pollfd waiting{open ? output_fd : -1, POLLIN, 0};
    if (::poll(&waiting, 1, open ? 10 : 1) > 0) open = read_some(output_fd, command.max_output_bytes, result);
  }
  ::kill(-pid, SIGKILL);
  result.exit_code = exit_code_of(reap(pid));
  // What was written before the end is in the pipe (64 KiB at most); what comes later is not waited for.
  pollfd rest{output_fd, POLLIN, 0};
  for (int i = 0; open && i < 64 && ::poll(&rest, 1, 0) > 0; ++i) {
    open = read_some(output_fd, command.max_output_bytes, result);
  }
  return result;
}

}  // namespace

Result<CommandResult> run_command(const Command& command) {
  ROOFWALK_CHECK(!command.arguments.empty());
  const std::string& name = command.arguments.front();
  const auto program = find_program(name);
  if (!program) return Error{.message = "cannot find the program '" + name + "' on the PATH"};
  Prepared prepared = prepare(command, *program);

  Pipe output, status;
  if (!output.open() || !status.open()) {
    return Error{.message = "cannot start '" + name + "': " + std::strerror(errno)};
  }
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return Error{.message = "cannot start '" + name + "': " + std::strerror(errno)};
  if (pid == 0) start_child(command, prepared, output.write_end.get(), status.write_end.get(), parent);
  ::setpgid(pid, pid);  // in both processes, so that the group exists whoever runs first
  output.write_end.close();
  status.write_end.close();

  int code = 0;
  ssize_t count = 0;
  do {
    count = ::read(status.read_end.get(), &code, sizeof code);
  } while (count < 0 && errno == EINTR);
  if (count == static_cast<ssize_t>(sizeof code)) {
    reap(pid);
    return Error{.message = "cannot start '" + name + "': " + std::strerror(code)};
  }
  return supervise(pid, output.read_end.get(), command);
}

}  // namespace roofwalk
