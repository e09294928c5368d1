// A line that tells a user at a terminal that something takes a while.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace roofwalk {

// While one lives: after some seconds, shows "WHAT takes a while: 12 s" on stderr and counts on; the line is erased at
// the end. Shows nothing if there is no terminal.
class Spinner {
 public:
  explicit Spinner(std::string what);
  ~Spinner();

  // Shows this text in its place, at once; empty: no longer. Without a terminal, prints only the first such text, on a
  // line of its own.
  void say(const std::string& instead);

  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;

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
