// Independent pieces of work on a few threads. The results never depend on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

namespace roofwalk {

// Calls work(0) ... work(count - 1), at most `threads` at a time, and waits for all. If a call throws an exception (out
// of memory, say), it is rethrown here after all running calls have ended; some calls may then not be made.
template <class Work>
void parallel_for(std::size_t count, int threads, Work work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr trouble;
  const auto loop = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      trouble = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t wanted = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
    for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back(loop);
    loop();
  }
  if (trouble) std::rethrow_exception(trouble);
}

// Starts work in the background; with only one thread, defers it until its result is needed.
template <class Work>
auto start(int threads, Work work) {
  return std::async(threads > 1 ? std::launch::async : std::launch::deferred, std::move(work));
}

}  // namespace roofwalk
