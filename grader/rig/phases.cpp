#include "grader/rig/phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/base/json.h"

namespace roofwalk {

Phases::Phases() : zero_(std::chrono::system_clock::now()) {
  constexpr double kLongestFront_s = 3600;  // limit for the time before this process began, which may include a build
  const char* started = std::getenv("ROOFWALK_STARTED");
  if (started == nullptr) return;
  const std::chrono::duration<double> since_1970(std::strtod(started, nullptr));
  const auto then = std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(since_1970));
  const double front_s = std::chrono::duration<double>(zero_ - then).count();
  if (!(front_s >= 0 && front_s < kLongestFront_s)) return;
  zero_ = then;
  add("./roofwalk, and a build", 0, front_s);
}

double Phases::now_s() const { return std::chrono::duration<double>(std::chrono::system_clock::now() - zero_).count(); }

void Phases::add(std::string name, double begin_s, double end_s) {
  const std::lock_guard lock(mutex_);
  phases_.push_back({std::move(name), begin_s, std::max(end_s - begin_s, 0.0)});
}

std::vector<Phases::Phase> Phases::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Phase> phases = phases_;
  std::stable_sort(phases.begin(), phases.end(), [](const Phase& a, const Phase& b) { return a.begin_s < b.begin_s; });
  return phases;
}

std::string timings_text(const std::vector<Phases::Phase>& phases, double total_s) {
  constexpr double kColumns = 40;
  std::string text = "\ntimings, in seconds; bars in the same columns ran in parallel\n";
  for (const Phases::Phase& phase : phases) {
    const auto column = [&](double at_s) { return static_cast<int>(std::lround(kColumns * at_s / total_s)); };
    const int from = column(phase.begin_s);
    const int length = std::max(column(phase.begin_s + phase.seconds) - from, 1);
    text += fmt::format("  {:<24} {:>7.3f}  {}{}\n", phase.name, phase.seconds,
                        std::string(static_cast<std::size_t>(from), ' '),
                        std::string(static_cast<std::size_t>(length), '='));
  }
  return text + fmt::format("  {:<24} {:>7.3f}\n", "all", total_s);
}

Json timings_json(const std::vector<Phases::Phase>& phases, double total_s) {
  Json rows = Json::array();
  for (const Phases::Phase& phase : phases) {
    rows.push_back({{"phase", phase.name}, {"begin_s", phase.begin_s}, {"seconds", phase.seconds}});
  }
  return {{"schema", "roofwalk.timings/1"}, {"total_s", total_s}, {"phases", std::move(rows)}};
}

}  // namespace roofwalk
