#include "grader/class/batch/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "common/base/child.h"
#include "common/base/json.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostAnswerBytes = std::size_t{256} << 20;
constexpr std::size_t kMostOutputBytes = 64 << 10;

bool send_all(int fd, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::send(fd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return ::shutdown(fd, SHUT_WR) == 0;
}

// Appends the bytes that are available to `out`, up to a total of `most_bytes`, and drops the rest. False at the end.
bool read_some(int fd, std::size_t most_bytes, std::string& out) {
  char buffer[65536];
  const ssize_t count = ::read(fd, buffer, sizeof buffer);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  out.append(buffer, std::min(static_cast<std::size_t>(count), most_bytes - std::min(most_bytes, out.size())));
  return true;
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  constexpr std::size_t kMostColumns = 200;
  return shortened(printable(text.substr(text.rfind('\n') + 1)), kMostColumns);
}

Error ended(const std::string& how, const std::string& output) {
  const std::string words = last_line(output);
  return Error{.message = words.empty() ? how : fmt::format("{}: {}", how, words)};
}

}  // namespace

Result<Json> run_in_worker(const std::filesystem::path& program, const Json& job, const WorkerLimits& limits) {
  int line[2], pipe[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0) {
    return Error{.message = fmt::format("no worker can be started: {}", std::strerror(errno))};
  }
  const Descriptor ours(line[0]);
  Descriptor theirs(line[1]);
  if (::pipe2(pipe, O_CLOEXEC) != 0)
    return Error{.message = fmt::format("no worker can be started: {}", std::strerror(errno))};
  const Descriptor output_read(pipe[0]);
  Descriptor output_write(pipe[1]);
  ROOFWALK_TRY(const pid_t pid, start_child({.program = program,
                                             .arguments = {program.string(), "grade-worker"},
                                             .environment = std::nullopt,
                                             .output = output_write.get(),
                                             .channel = theirs.get(),
                                             .max_memory_bytes = limits.memory_bytes}));
  theirs.close();
  output_write.close();

  std::string answer, output;
  const bool sent = send_all(ours.get(), json_line(job));
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits.wall_s));
  bool answering = sent, late = false;
  // Loops until the worker has ended, because only then is its folder free. The compilers that it started are killed
  // with it.
  while (!has_ended(pid)) {
    if (Clock::now() >= deadline) {
      late = true;
      break;
    }
    pollfd waiting[] = {{answering ? ours.get() : -1, POLLIN, 0}, {output_read.get(), POLLIN, 0}};
    if (::poll(waiting, 2, answering ? 50 : 5) <= 0) continue;
    if (waiting[0].revents != 0) answering = read_some(ours.get(), kMostAnswerBytes, answer);
    if (waiting[1].revents != 0 && !read_some(output_read.get(), kMostOutputBytes, output)) {
      ::usleep(1000);  // the pipe is closed, so all that remains is to wait for the worker's end
    }
  }
  ::kill(-pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  const auto drain = [](int fd, std::size_t most_bytes, std::string& out) {
    pollfd rest{fd, POLLIN, 0};
    while (::poll(&rest, 1, 0) > 0 && read_some(fd, most_bytes, out)) {
    }
  };
  drain(ours.get(), kMostAnswerBytes, answer);
  drain(output_read.get(), kMostOutputBytes, output);
  if (late) return ended(fmt::format("the worker did not end within {:.0f} s", limits.wall_s), output);
  if (WIFSIGNALED(status)) {
    return ended(fmt::format("the worker died by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status))),
                 output);
  }
  const Json json = parse_json(answer);
  if (!json.is_object())
    return ended(fmt::format("the worker ended with {} and no answer", WEXITSTATUS(status)), output);
  if (const std::string error = json.text_of("error"); !error.empty()) return Error{.message = error};
  return json;
}

SameProgram::SameProgram(std::filesystem::path program) : program_(std::move(program)), first_(identity_of(program_)) {}

SameProgram::Identity SameProgram::identity_of(const std::filesystem::path& program) {
  struct stat info {};
  if (::stat(program.c_str(), &info) != 0) return {};
  return {static_cast<std::int64_t>(info.st_ino), static_cast<std::int64_t>(info.st_size), info.st_mtim.tv_sec,
          info.st_mtim.tv_nsec};
}

Status SameProgram::check() const {
  if (identity_of(program_) == first_) return kOk;
  return Error{.message = "this program was built anew while it graded", .advice = "give the same command again"};
}

bool is_grade_worker() {
  struct stat info {};
  return ::fstat(kChannelDescriptor, &info) == 0 && S_ISSOCK(info.st_mode);
}

Result<Json> receive_job() {
  ::fcntl(kChannelDescriptor, F_SETFD, FD_CLOEXEC);  // so that compilers do not inherit it
  std::string text;
  while (read_some(kChannelDescriptor, kMostAnswerBytes, text)) {
  }
  Json json = parse_json(text);
  if (!json.is_object()) return Error{.message = "the job cannot be read"};
  return json;
}

Status send_answer(const Json& answer) {
  if (send_all(kChannelDescriptor, json_line(answer))) return kOk;
  return Error{.message = "nobody takes the answer"};
}

}  // namespace roofwalk
