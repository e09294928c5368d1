#include "grader/terminal/terminal.h"

#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "common/base/check.h"

namespace roofwalk {
namespace {

constexpr int kCaught[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH};
constexpr int kCrashes[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

termios restored_by_a_crash;

// Calls only async-signal-safe functions.
void restore_and_crash(int signal) {
  ::tcsetattr(STDIN_FILENO, TCSANOW, &restored_by_a_crash);
  constexpr char kNewLine[] = "\r\n";
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, kNewLine, sizeof kNewLine - 1);
  ::raise(signal);  // the handler was removed before this call (SA_RESETHAND), so the signal ends the program
}

void on_crash(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = handler == SIG_DFL ? 0 : static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (const int signal : kCrashes) ::sigaction(signal, &action, nullptr);
}

}  // namespace

TerminalSize terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 && size.ws_row != 0) {
    return {size.ws_col, size.ws_row};
  }
  TerminalSize asked;
  const char* columns = std::getenv("COLUMNS");
  const std::string_view digits = columns == nullptr ? "" : columns;
  int value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec == std::errc() && read.ptr == digits.data() + digits.size() && value > 0) asked.columns = value;
  return asked;
}

bool is_screen() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1 && kind != nullptr && *kind != '\0' &&
         std::string_view(kind) != "dumb";
}

KeyTerminal::KeyTerminal() {
  ROOFWALK_CHECK(::tcgetattr(STDIN_FILENO, &before_) == 0);
  ::sigemptyset(&caught_);
  for (const int signal : kCaught) ::sigaddset(&caught_, signal);
  ::pthread_sigmask(SIG_BLOCK, &caught_, &mask_before_);
  signals_ = ::signalfd(-1, &caught_, SFD_NONBLOCK | SFD_CLOEXEC);
  ROOFWALK_CHECK(signals_ >= 0);
  restored_by_a_crash = before_;
  on_crash(restore_and_crash);
  resume();
}

KeyTerminal::~KeyTerminal() {
  pause();
  on_crash(SIG_DFL);
  ::close(signals_);
}

void KeyTerminal::pause() {
  if (paused_) return;
  paused_ = true;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

void KeyTerminal::resume() {
  paused_ = false;
  ::pthread_sigmask(SIG_BLOCK, &caught_, nullptr);
  termios keys = before_;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C and Ctrl-Z still send signals
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
}

std::optional<int> KeyTerminal::next_signal() {
  signalfd_siginfo info{};
  if (::read(signals_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

std::optional<std::string> KeyTerminal::keys() {
  char typed[64];
  const ssize_t count = ::read(STDIN_FILENO, typed, sizeof typed);
  if (count <= 0) return std::nullopt;
  std::string keys;
  // An arrow or a function key arrives as an escape sequence in one read; the rest of that read is dropped, too.
  for (ssize_t i = 0; i < count && typed[i] != '\x1b'; ++i) {
    if (static_cast<unsigned char>(typed[i]) < 0x80) keys += typed[i];
  }
  return keys;
}

void KeyTerminal::obey(int signal) {
  pause();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  if (signal == SIGTSTP) resume();
}

}  // namespace roofwalk
