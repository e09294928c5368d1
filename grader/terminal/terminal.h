// A terminal that hands over every key at once, and is put back in order on every way out of the program.
#pragma once

#include <csignal>
#include <optional>
#include <string>

#include <termios.h>

namespace roofwalk {

struct TerminalSize {
  int columns = 80, rows = 24;
};

// Of the terminal that stdout is. Where it is none: as wide as COLUMNS says, else 80 x 24.
TerminalSize terminal_size();

// Stdin and stdout are one, and it can clear its screen.
bool is_screen();

// While one lives and is not paused: keys come without echo and without Enter, and SIGINT, SIGTERM, SIGHUP, SIGTSTP,
// SIGCONT and SIGWINCH come through signal_descriptor() instead of ending the program. Threads must be started after
// it. Should the program crash, the terminal is restored first. One at a time.
class KeyTerminal {
 public:
  KeyTerminal();
  ~KeyTerminal();
  KeyTerminal(const KeyTerminal&) = delete;
  KeyTerminal& operator=(const KeyTerminal&) = delete;

  // As the shell knows the terminal, for questions that end with Enter; signals act as usual. Then keys again.
  void pause();
  void resume();

  int signal_descriptor() const { return signals_; }
  std::optional<int> next_signal();  // nothing where none is there

  // Keys that are there, in order; those that are not one printable character or a control are left out. Nothing at the
  // end of the input.
  std::optional<std::string> keys();

  // Restores the terminal, then ends or stops the program by this signal as if it had never been caught. Comes back
  // where the program was stopped and goes on.
  void obey(int signal);

 private:
  termios before_{};
  sigset_t caught_{}, mask_before_{};
  int signals_ = -1;
  bool paused_ = true;
};

}  // namespace roofwalk
