#include "grader/programs/run_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "common/base/child.h"

namespace roofwalk {
namespace {

volatile pid_t running = 0;

void pass_on(int signal) {
  if (running > 0) kill(running, signal);
}

}  // namespace

Result<int> run_in_foreground(const std::vector<std::string>& command,
                              const std::map<std::string, std::string>& environment) {
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  const auto program = find_program(command.front());  // on the PATH of that environment
  if (!program || access(program->c_str(), X_OK) != 0)
    return Error{.message = fmt::format("there is no program {}", command.front())};
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  // The terminal sends these to the program, too.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  const pid_t child = fork();
  if (child < 0) return Error{.message = fmt::format("cannot start {}: {}", command.front(), std::strerror(errno))};
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGQUIT, SIG_DFL);
    execv(program->c_str(), arguments.data());
    constexpr int kCannotRun = 126;
    _exit(kCannotRun);
  }
  running = child;
  std::signal(SIGTERM, pass_on);
  std::signal(SIGHUP, pass_on);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string put_first(const char* variable, const std::string& first, char separator) {
  const char* const old = std::getenv(variable);
  return old == nullptr || *old == '\0' ? first : first + separator + old;
}

}  // namespace roofwalk
