#include "common/sandbox/box_guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

namespace roofwalk {
namespace {

// A shell, since a fork of this process would keep all of its memory. The line ends when this process does.
constexpr const char* kScript = R"(read -r group <&3 && { read -r end <&3; kill -s KILL -- "-$group"; })";

}  // namespace

Result<BoxGuard> BoxGuard::start(const std::optional<UserId>& run_as) {
  int line[2];
  const Descriptor null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (null.get() < 0 || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0) {
    return Error{.message = fmt::format("cannot prepare a sandbox: {}", std::strerror(errno))};
  }
  Descriptor ours(line[0]);
  const Descriptor theirs(line[1]);
  ROOFWALK_TRY(const pid_t pid, start_child({.program = "/bin/sh",
                                             .arguments = {"sh", "-c", kScript},
                                             .environment = std::map<std::string, std::string>(),
                                             .working_directory = "/",
                                             .output = null.get(),
                                             .channel = theirs.get(),
                                             .run_as = run_as,
                                             .outlives_parent = true}));
  return BoxGuard(std::move(ours), pid);
}

BoxGuard& BoxGuard::operator=(BoxGuard&& other) noexcept {
  if (this == &other) return *this;
  dismiss();
  line_ = std::move(other.line_);
  pid_ = std::exchange(other.pid_, -1);
  return *this;
}

void BoxGuard::dismiss() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace roofwalk
