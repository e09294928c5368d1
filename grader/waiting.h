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
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  void count();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool has_ended_ = false;
  std::thread counter_;
};

}  // namespace roofwalk
