#include "grader/terminal/spinner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "grader/terminal/terminal.h"

namespace roofwalk {

Spinner::Spinner(std::string what) : what_(std::move(what)) {
  if (is_screen() && ::isatty(STDERR_FILENO) == 1) counter_ = std::thread([this] { count(); });
}

Spinner::~Spinner() {
  if (!counter_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ends_.notify_one();
  counter_.join();
}

void Spinner::say(const std::string& instead) {
  if (!counter_.joinable()) {
    if (!instead.empty() && !std::exchange(has_said_, true)) std::fputs((instead + "\n").c_str(), stderr);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    instead_ = instead;
  }
  ends_.notify_one();
}

void Spinner::count() {
  constexpr auto kPatience = std::chrono::seconds(4), kSecond = std::chrono::seconds(1);
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  std::string shown;
  std::unique_lock lock(mutex_);
  const auto has_news = [&] { return has_ended_ || instead_ != shown; };
  while (true) {
    ends_.wait_for(lock, kSecond, has_news);
    if (has_ended_) break;
    if (!shown.empty() && instead_.empty()) begin = Clock::now();  // the work begins only after the wait
    shown = instead_;
    const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin);
    std::string line = shown;
    if (line.empty() && elapsed >= kPatience) line = fmt::format("{} takes a while: {} s", what_, elapsed.count());
    if (line == on_screen_) continue;
    on_screen_ = line;
    std::fputs(("\r\x1b[K" + line).c_str(), stderr);
    std::fflush(stderr);
  }
  if (!on_screen_.empty()) std::fputs("\r\x1b[K", stderr);
}

}  // namespace roofwalk
