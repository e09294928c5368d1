// A line that tells a user at a terminal that something takes a while.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace roofwalk {

// During its lifetime: after some seconds, shows "WHAT takes a while: 12 s" on stderr and updates the time; the line
// is erased at the end. Shows nothing if there is no terminal.
class Spinner {
 public:
  explicit Spinner(std::string what);
  ~Spinner();

  // Shows `instead` at once, in place of the usual line; an empty text ends that. Without a terminal, prints only the
  // first such text, on a line of its own.
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
