#include "common/base/child.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

// All data that the child needs, prepared before the fork, because nothing may allocate between fork and exec.
struct Prepared {
  std::string program;
  std::string directory;
  std::vector<std::string> environment;
  std::vector<char*> argv, envp;
  std::vector<PassedDescriptor> passed;
  int output = -1, status = -1, group_line = -1;
};

Prepared prepare(const ChildStart& child) {
  Prepared prepared{.program = child.program.string(),
                    .directory = child.working_directory.string(),
                    .environment = {},
                    .argv = {},
                    .envp = {},
                    .passed = {}};
  for (const std::string& argument : child.arguments) prepared.argv.push_back(const_cast<char*>(argument.c_str()));
  prepared.argv.push_back(nullptr);
  if (child.environment) {
    for (const auto& [key, value] : *child.environment) prepared.environment.push_back(key + "=" + value);
    for (std::string& entry : prepared.environment) prepared.envp.push_back(entry.data());
    prepared.envp.push_back(nullptr);
  }
  return prepared;
}

void limit(decltype(RLIMIT_AS) resource, std::size_t most, std::size_t more = 0) {
  const rlimit value{most, most + more};
  ::setrlimit(resource, &value);
}

// Drops all of root's privileges; false on failure.
bool become_user(const UserId& user) {
  return ::setgroups(0, nullptr) == 0 && ::setresgid(user.group, user.group, user.group) == 0 &&
         ::setresuid(user.user, user.user, user.user) == 0 && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

// Reports through the status pipe why the program cannot be started, and exits. Runs in the child.
[[noreturn]] void give_up(int status) {
  const int code = errno;
  [[maybe_unused]] const auto written = ::write(status, &code, sizeof code);
  ::_exit(127);
}

// Asks the kernel to kill this process with its parent, or ends it if the parent has died.
void die_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
}

// Leads a session of its own, and tells the number of its process group. False if nobody listens.
bool tell_group(int line) {
  char digits[16] = {};
  std::size_t at = sizeof digits;
  digits[--at] = '\n';
  for (pid_t rest = ::setsid(); rest > 0; rest /= 10) digits[--at] = static_cast<char>('0' + rest % 10);
  const std::size_t count = sizeof digits - at;
  return count > 1 && ::send(line, digits + at, count, MSG_NOSIGNAL) == static_cast<ssize_t>(count);
}

// Runs in the child, between fork and exec.
[[noreturn]] void become(const ChildStart& child, Prepared& prepared, pid_t parent) {
  if (!child.outlives_parent) die_with(parent);
  if (prepared.group_line < 0) {
    ::setpgid(0, 0);
  } else if (!tell_group(prepared.group_line)) {
    give_up(prepared.status);
  }

  // Undo signal masks and handlers that the child inherits from the parent.
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || ::dup2(null, 0) < 0 || ::dup2(prepared.output, 1) < 0 || ::dup2(prepared.output, 2) < 0) {
    give_up(prepared.status);
  }
  ::close_range(kChannelDescriptor, ~0u, CLOSE_RANGE_CLOEXEC);
  for (const PassedDescriptor& passed : prepared.passed) {
    if (::dup2(passed.ours, passed.number) < 0) give_up(prepared.status);
  }
  if (!prepared.directory.empty() && ::chdir(prepared.directory.c_str()) != 0) give_up(prepared.status);
  // The limit is 1, because with 0 the kernel still pipes a core dump to a program that core_pattern names (core(5)).
  limit(RLIMIT_CORE, 1);
  if (child.max_memory_bytes > 0) limit(RLIMIT_AS, child.max_memory_bytes);
  if (child.max_file_bytes > 0) limit(RLIMIT_FSIZE, child.max_file_bytes);
  if (child.max_stack_bytes > 0) limit(RLIMIT_STACK, child.max_stack_bytes);
  // The first limit sends SIGXCPU, so that SIGKILL comes from the system alone, when it lacks memory.
  if (child.max_cpu_s > 0) limit(RLIMIT_CPU, child.max_cpu_s, 5);
  if (child.run_as) {
    if (!become_user(*child.run_as)) give_up(prepared.status);
    if (!child.outlives_parent) die_with(parent);  // changing the user made the kernel forget it
  }
  ::execve(prepared.program.c_str(), prepared.argv.data(), child.environment ? prepared.envp.data() : environ);
  give_up(prepared.status);
}

// Duplicates a descriptor to a number above those that the child uses.
Descriptor above(int fd) { return Descriptor(fd < 0 ? -1 : ::fcntl(fd, F_DUPFD_CLOEXEC, kMostDescriptors)); }

}  // namespace

void Descriptor::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

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

Result<pid_t> start_child(const ChildStart& child) {
  ROOFWALK_CHECK(!child.arguments.empty() && child.output >= 0);
  const auto cannot = [&](int code) {
    return Error{.message = "cannot start '" + child.arguments.front() + "': " + std::strerror(code)};
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return cannot(errno);
  const Descriptor status_read(ends[0]);
  Descriptor status = above(ends[1]);
  ::close(ends[1]);
  const Descriptor output = above(child.output), group_line = above(child.group_line);
  if (status.get() < 0 || output.get() < 0 || (child.group_line >= 0 && group_line.get() < 0)) return cannot(errno);
  Prepared prepared = prepare(child);
  prepared.output = output.get();
  prepared.status = status.get();
  prepared.group_line = group_line.get();
  std::vector<PassedDescriptor> passed = child.passed;
  if (child.channel >= 0) passed.push_back({child.channel, kChannelDescriptor});
  std::vector<Descriptor> copies;
  for (const PassedDescriptor& one : passed) {
    ROOFWALK_CHECK(one.number >= kChannelDescriptor && one.number < kMostDescriptors);
    copies.push_back(above(one.ours));
    if (copies.back().get() < 0) return cannot(errno);
    prepared.passed.push_back({copies.back().get(), one.number});
  }

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return cannot(errno);
  if (pid == 0) become(child, prepared, parent);
  // In both processes, so that the group exists no matter which of them runs first. A leader of a group could lead no
  // session.
  if (child.group_line < 0) ::setpgid(pid, pid);
  status.close();

  int code = 0;
  ssize_t count = 0;
  do {
    count = ::read(status_read.get(), &code, sizeof code);
  } while (count < 0 && errno == EINTR);
  if (count != static_cast<ssize_t>(sizeof code)) return pid;
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return cannot(code);
}

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

}  // namespace roofwalk
