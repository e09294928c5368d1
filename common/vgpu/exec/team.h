// A few threads that do one piece of work together, again and again. Pieces are short (tens of microseconds), so the
// members watch for the next one for a while before they sleep.
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
  // `members` counts the caller, who is member 0. Fewer where the system gives no more threads.
  explicit Team(int members);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Calls work(0), work(1) ... for all members, each on its own thread, and waits for all. What one of
  // them throws (no memory is left, say) is thrown here then.
  void run(const std::function<void(int)>& work);

 private:
  void serve(int member);
  void do_piece(int member);

  const std::function<void(int)>* work_ = nullptr;  // nullptr ends the team
  std::atomic<std::uint32_t> pieces_{0};            // begun so far
  std::atomic<std::uint32_t> busy_{0};              // members that have not finished the newest
  std::mutex mutex_;
  std::exception_ptr trouble_;  // of the newest
  std::vector<std::thread> threads_;
};

}  // namespace roofwalk::vgpu
