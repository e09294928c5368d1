// A line that says that something takes a while, for a person who waits at a terminal.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace roofwalk {

// While one lives: once some seconds have passed, "WHAT takes a while: 12 s" on stderr, counting on; the line is wiped
// at the end. Nothing where stderr is no terminal.
class Waiting {
 public:
  explicit Waiting(std::string what);
  ~Waiting();

  // Shows this in place of it, at once; empty: no more. Where stderr is no terminal, a line of its own, and only the
  // first of several.
  void say(const std::string& instead);

  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  void count();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable ends_;
  std::string instead_, on_screen_;
  bool has_ended_ = false, has_said_ = false;
  std::thread counter_;
};

}  // namespace roofwalk
