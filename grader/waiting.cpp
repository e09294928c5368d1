#include "grader/waiting.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "grader/terminal.h"

namespace roofwalk {

Waiting::Waiting(std::string what) : what_(std::move(what)) {
  if (is_screen() && ::isatty(STDERR_FILENO) == 1) counter_ = std::thread([this] { count(); });
}

Waiting::~Waiting() {
  if (!counter_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ends_.notify_one();
  counter_.join();
}

void Waiting::count() {
  constexpr int kPatienceSeconds = 4;
  std::unique_lock lock(mutex_);
  int seconds = 0;
  while (!ends_.wait_for(lock, std::chrono::seconds(1), [this] { return has_ended_; })) {
    if (++seconds < kPatienceSeconds) continue;
    std::fputs(fmt::format("\r{} takes a while: {} s", what_, seconds).c_str(), stderr);
    std::fflush(stderr);
  }
  if (seconds >= kPatienceSeconds) std::fputs("\r\x1b[K", stderr);
}

}  // namespace roofwalk
