// A terminal that delivers every key at once, and is restored however the program ends.
#pragma once

#include <csignal>
#include <optional>
#include <string>

#include <termios.h>

namespace roofwalk {

struct TerminalSize {
  int columns = 80, rows = 24;
};

// The size of the terminal at stdout. Without one, the width is COLUMNS if set; the default is 80 x 24.
TerminalSize terminal_size();

// Whether stdin and stdout are a terminal that can clear its screen.
bool is_screen();

// While an object lives and is not paused, keys are delivered without echo and without Enter, and SIGINT, SIGTERM,
// SIGHUP, SIGTSTP, SIGCONT and SIGWINCH are delivered through signal_descriptor() instead of ending the program.
// Construct it before starting threads. If the program crashes, the terminal is restored first. Only one object may
// live at a time.
class KeyTerminal {
 public:
  KeyTerminal();
  ~KeyTerminal();
  KeyTerminal(const KeyTerminal&) = delete;
  KeyTerminal& operator=(const KeyTerminal&) = delete;

  // pause(): restores the shell's mode, with normal signals, for questions that end with Enter. resume(): delivers
  // keys again.
  void pause();
  void resume();

  int signal_descriptor() const { return signals_; }
  std::optional<int> next_signal();  // nullopt if no signal is pending

  // The pending keys in order: printable ASCII characters and control characters; all other keys are dropped. nullopt
  // at the end of the input.
  std::optional<std::string> keys();

  // Restores the terminal, then ends or stops the program by this signal, as if it had not been caught. Returns only
  // if the program was stopped and continues.
  void obey(int signal);

 private:
  termios before_{};
  sigset_t caught_{}, mask_before_{};
  int signals_ = -1;
  bool paused_ = true;
};

}  // namespace roofwalk
