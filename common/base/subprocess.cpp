#include "common/base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

#include "common/base/child.h"

namespace roofwalk {
namespace {

using Clock = std::chrono::steady_clock;

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
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Error{.message = "cannot start '" + name + "': " + std::strerror(errno)};
  }
  const Descriptor output(ends[0]);
  Descriptor theirs(ends[1]);
  ChildStart start{.program = *program,
                   .arguments = command.arguments,
                   .environment = std::nullopt,
                   .working_directory = command.working_directory,
                   .output = theirs.get(),
                   .max_memory_bytes = command.max_memory_bytes,
                   .max_file_bytes = command.max_file_bytes};
  if (!command.environment.empty()) start.environment = command.environment;
  ROOFWALK_TRY(const pid_t pid, start_child(start));
  theirs.close();
  return supervise(pid, output.get(), command);
}

}  // namespace roofwalk
