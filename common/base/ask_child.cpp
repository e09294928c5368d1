#include "common/base/ask_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "common/base/json.h"

namespace roofwalk {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void answer_and_exit(const std::function<Json()>& answer, int pipe) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);  // drivers print when something goes wrong
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, standard);
  const std::string text = json_line(answer());
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(pipe, text.data() + at, text.size() - at);
    if (count <= 0) ::_exit(1);
    at += static_cast<std::size_t>(count);
  }
  ::_exit(0);
}

// Reads the child's output until it ends or time runs out.
bool read_until(int pipe, Clock::time_point end, std::string& text) {
  char part[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd ready{.fd = pipe, .events = POLLIN, .revents = 0};
    if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) == 0) return false;
    const ssize_t count = ::read(pipe, part, sizeof part);
    if (count == 0) return true;
    if (count > 0) text.append(part, static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) return false;
  }
}

}  // namespace

ChildAnswer ask_child(double timeout_s, const std::function<Json()>& answer) {
  ChildAnswer out;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return out;
  const pid_t child = ::fork();
  if (child == 0) answer_and_exit(answer, ends[1]);
  ::close(ends[1]);
  std::string text;
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s));
  const bool ended = child > 0 && read_until(ends[0], Clock::now() + limit, text);
  ::close(ends[0]);
  if (child < 0) return out;
  if (!ended) {
    ::kill(child, SIGKILL);
    for (int turn = 0; turn < 20 && ::waitpid(child, nullptr, WNOHANG) == 0; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    out.end = ChildAnswer::End::late;
    return out;
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    out.end = ChildAnswer::End::crashed;
    out.signal = WTERMSIG(status);
    return out;
  }
  out.json = parse_json(text);
  out.end = out.json.is_object() ? ChildAnswer::End::answered : ChildAnswer::End::unreadable;
  return out;
}

}  // namespace roofwalk
