// A few threads that execute pieces of work together, one piece after the other. Pieces are short (tens of
// microseconds), so idle members spin for a while before they sleep.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace roofwalk::vgpu {

class Team {
 public:
  // `members` includes the caller, who is member 0. The team is smaller if the system gives fewer threads.
  explicit Team(int members);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Calls work(0), work(1) ... for all members, each on its own thread. Waits for all, then rethrows an exception if
  // one of them threw (out of memory, say).
  void run(const std::function<void(int)>& work);

 private:
  void serve(int member);
  void do_piece(int member);

  const std::function<void(int)>* work_ = nullptr;  // nullptr ends the team
  std::atomic<std::uint32_t> pieces_{0};            // number of pieces started so far
  std::atomic<std::uint32_t> busy_{0};              // members that have not finished the latest piece
  std::mutex mutex_;
  std::exception_ptr trouble_;  // exception of the latest piece
  std::vector<std::thread> threads_;
};

}  // namespace roofwalk::vgpu
