#include "grader/programs/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace roofwalk {
namespace {

constexpr std::size_t kFewestColumns = 60, kMostColumns = 240;

bool is_screen_at_stderr() {
  const char* const kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb";
}

// Makes sure that there is a line below the cursor, by scrolling if need be, and writes there.
std::string below_the_cursor(const std::string& text) {
  constexpr const char* kDownAndUp =
      "\x1b"
      "D\x1b[A";  // keeps the column
  constexpr const char* kSave =
      "\x1b"
      "7";
  constexpr const char* kRestore =
      "\x1b"
      "8";
  return fmt::format("{}{}\x1b[B\r{}\x1b[K{}", kDownAndUp, kSave, text, kRestore);
}

}  // namespace

std::size_t columns_of_stderr() {
  constexpr std::size_t kOfALog = 120;
  winsize size{};
  std::size_t columns = kOfALog;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) {
    columns = size.ws_col;
  } else if (const char* const asked = std::getenv("COLUMNS")) {
    const std::string_view digits = asked;
    std::from_chars(digits.data(), digits.data() + digits.size(), columns);
  }
  return std::clamp(columns, kFewestColumns, kMostColumns);
}

Colors colors_of_stderr() {
  const char* const no_color = std::getenv("NO_COLOR");
  return Colors(is_screen_at_stderr() && (no_color == nullptr || *no_color == '\0'));
}

std::string progress_text(const Progress& now, std::size_t columns) {
  std::string rest = fmt::format(": launch {} ({} of all kernels)", grouped(static_cast<double>(now.launch)),
                                 grouped(static_cast<double>(now.launches)));
  if (now.in_launch_s >= 1) rest += fmt::format(", {:.0f} s in it", now.in_launch_s);
  if (now.time_share) rest += fmt::format("; {:.0f} % of the modelled time until now", 100 * *now.time_share);
  constexpr std::size_t kFewestName = 12;
  const std::size_t room = std::max(kFewestName, columns - std::min(columns, rest.size()));
  return cut_to(shown_kernel_name(now.kernel, room) + rest, columns);
}

ProgressLine::ProgressLine(LaunchLog& log) : log_(log) {
  if (!is_screen_at_stderr()) return;
  is_beside_output_ = isatty(STDOUT_FILENO) == 1;
  if (is_beside_output_) log_.when_a_launch_ends([this] { erase(); });
  thread_ = std::thread([this] { show(); });
}

void ProgressLine::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ends_.notify_one();
  thread_.join();
  erase();
}

void ProgressLine::erase() {
  const std::lock_guard lock(mutex_);
  if (!is_drawn_) return;
  is_drawn_ = false;
  std::fputs(below_the_cursor("").c_str(), stderr);
  std::fflush(stderr);
}

void ProgressLine::show() {
  constexpr auto kPatience = std::chrono::milliseconds(1000), kPause = std::chrono::milliseconds(250);
  constexpr double kShortSeconds = 0.2;  // launches for which the line would flicker
  std::unique_lock lock(mutex_);
  if (ends_.wait_for(lock, kPatience, [this] { return has_ended_; })) return;
  while (!ends_.wait_for(lock, kPause, [this] { return has_ended_; })) {
    // With the lock held, so that a launch that ends meanwhile erases the line.
    const Progress now = log_.progress();
    if (now.launches == 0 || (is_beside_output_ && (!now.is_in_launch || now.in_launch_s < kShortSeconds))) continue;
    is_drawn_ = true;
    std::fputs(below_the_cursor(progress_text(now, columns_of_stderr() - 1)).c_str(), stderr);
    std::fflush(stderr);
  }
}

}  // namespace roofwalk
