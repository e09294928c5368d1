#include "grader/class/batch/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace roofwalk {
namespace {

std::string duration(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", std::ceil(seconds));
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", std::ceil(seconds / 60));
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

std::string progress_line(const GradeProgress& progress) {
  constexpr std::size_t kCells = 24;
  const std::size_t all = std::max<std::size_t>(progress.all, 1), full = kCells * progress.done / all;
  std::string line = fmt::format("[{}{}] {} of {}", std::string(full, '#'), std::string(kCells - full, '.'),
                                 progress.done, progress.all);
  if (progress.done > 0 && progress.done < progress.all) {
    const double each_s = progress.elapsed_s / static_cast<double>(progress.done);
    line += fmt::format(", about {} left", duration(each_s * static_cast<double>(progress.all - progress.done)));
  }
  if (progress.faults > 0)
    line += fmt::format(", {} fault{} of ours", progress.faults, progress.faults == 1 ? "" : "s");
  return line;
}

ProgressBar::ProgressBar() : on_terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (on_terminal_ && shown_) std::fputs("\r\033[K", stderr);
}

void ProgressBar::show(const GradeProgress& progress) {
  const std::size_t tenth = 10 * progress.done / std::max<std::size_t>(progress.all, 1);
  shown_ = true;
  if (on_terminal_) {
    std::fputs(("\r\033[K" + progress_line(progress)).c_str(), stderr);
  } else if (tenth > last_tenth_) {
    std::fputs((progress_line(progress) + "\n").c_str(), stderr);
  }
  last_tenth_ = tenth;
  std::fflush(stderr);
}

}  // namespace roofwalk
