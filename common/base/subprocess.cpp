#include "common/base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

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

// One stream that the program writes to.
struct Stream {
  int fd = -1;
  std::size_t max_bytes = 0;
  std::string& text;
  bool& cut;
  bool open = true;
  std::size_t thrown_bytes = 0;

  // Reads the bytes that are available now.
  void read_some() {
    char buffer[16384];
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count <= 0) {
      open = false;
      return;
    }
    const std::size_t room = max_bytes - std::min(max_bytes, text.size());
    const std::size_t kept = std::min(room, static_cast<std::size_t>(count));
    text.append(buffer, kept);
    thrown_bytes += static_cast<std::size_t>(count) - kept;
    cut |= thrown_bytes > 0;
  }
};

// Collects output until the program ends, times out or floods, then kills the rest of its process group.
void supervise(pid_t pid, std::vector<Stream>& streams, const Command& command, CommandResult& result) {
  // Longer limits become 1e6 s, because the clock could not represent infinity, for example.
  const double limit_s = std::clamp(command.timeout_s, 0.0, 1e6);
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
  for (const Stream& stream : streams) ::fcntl(stream.fd, F_SETFL, O_NONBLOCK);
  std::vector<pollfd> waiting(streams.size());
  const auto read_ready = [&](int patience_ms) {
    for (std::size_t i = 0; i < streams.size(); ++i) waiting[i] = {streams[i].open ? streams[i].fd : -1, POLLIN, 0};
    if (::poll(waiting.data(), waiting.size(), patience_ms) <= 0) return false;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (waiting[i].revents != 0) streams[i].read_some();
    }
    return true;
  };
  const auto is_open = [](const Stream& stream) { return stream.open; };
  const auto floods = [&](const Stream& stream) { return stream.thrown_bytes > command.max_thrown_bytes; };
  while (!has_ended(pid)) {
    result.timed_out = Clock::now() >= deadline;
    result.flooded = std::any_of(streams.begin(), streams.end(), floods);
    if (result.timed_out || result.flooded) break;
    // Wait only briefly: a grandchild may hold the stream open after the program has ended, or the program may close
    // it and run on.
    read_ready(std::any_of(streams.begin(), streams.end(), is_open) ? 10 : 1);
  }
  ::kill(-pid, SIGKILL);
  result.exit_code = exit_code_of(reap(pid));
  // Reads what was written before the program ended, which is still in the sockets (at most 1 MiB each). Does not wait
  // for more.
  for (int i = 0; i < 64 && read_ready(0); ++i) {
  }
}

}  // namespace

Result<CommandResult> run_command(const Command& command) {
  ROOFWALK_CHECK(!command.arguments.empty());
  const std::string& name = command.arguments.front();
  const auto program = find_program(name);
  if (!program) return Error{.message = "cannot find the program '" + name + "' on the PATH"};
  const auto cannot = [&name] { return Error{.message = "cannot start '" + name + "': " + std::strerror(errno)}; };
  CommandResult result;
  std::vector<Stream> streams;
  Descriptor reads[2], writes[2];
  const auto add_stream = [&](std::size_t max_bytes, std::string& text, bool& cut) {
    // A socket, not a pipe: a program that opens a pipe by its name (/dev/stderr) and reads it waits for ever.
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
    ::shutdown(ends[0], SHUT_WR);
    reads[streams.size()].reset(ends[0]);
    writes[streams.size()].reset(ends[1]);
    streams.push_back({.fd = ends[0], .max_bytes = max_bytes, .text = text, .cut = cut});
    return true;
  };
  if (!add_stream(command.max_output_bytes, result.output, result.output_cut)) return cannot();
  const bool has_channel = command.max_channel_bytes > 0;
  if (has_channel && !add_stream(command.max_channel_bytes, result.channel, result.channel_cut)) return cannot();
  ChildStart start{.program = *program,
                   .arguments = command.arguments,
                   .environment = std::nullopt,
                   .working_directory = command.working_directory,
                   .output = writes[0].get(),
                   .channel = has_channel ? writes[1].get() : -1,
                   .passed = command.passed,
                   .run_as = command.run_as,
                   .group_line = command.group_line,
                   .max_memory_bytes = command.max_memory_bytes,
                   .max_file_bytes = command.max_file_bytes,
                   .max_stack_bytes = command.max_stack_bytes,
                   .max_cpu_s = command.max_cpu_s};
  if (!command.environment.empty() || !command.has_environment) start.environment = command.environment;
  ROOFWALK_TRY(const pid_t pid, start_child(start));
  for (Descriptor& end : writes) end.close();
  supervise(pid, streams, command, result);
  return result;
}

}  // namespace roofwalk
