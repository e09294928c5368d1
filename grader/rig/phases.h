// The phases between saving a file and seeing the card, and their times: `run --timings`.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "common/base/json_fwd.h"

namespace roofwalk {

// The phases of one program call; some run in parallel. Any thread may add one.
class Phases {
 public:
  // Time 0 is when the user's command began: ./roofwalk sets $ROOFWALK_STARTED to it, in seconds since 1970. If the
  // variable is missing or implausible, time 0 is now.
  Phases();

  struct Phase {
    std::string name;
    double begin_s = 0, seconds = 0;
  };
  void add(std::string name, double begin_s, double end_s);
  double now_s() const;

  std::vector<Phase> all() const;  // sorted by begin

 private:
  std::chrono::system_clock::time_point zero_;
  mutable std::mutex mutex_;
  std::vector<Phase> phases_;
};

// Adds a phase that lasts as long as this object lives. If `phases` is null, nothing is recorded.
class PhaseTimer {
 public:
  PhaseTimer(Phases* phases, const char* name)
      : phases_(phases), name_(name), begin_s_(phases != nullptr ? phases->now_s() : 0) {}
  ~PhaseTimer() {
    if (phases_ != nullptr) phases_->add(name_, begin_s_, phases_->now_s());
  }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  Phases* phases_;
  const char* name_;
  double begin_s_;
};

// One row per phase, with a bar that shows when it ran; 80 columns.
std::string timings_text(const std::vector<Phases::Phase>& phases, double total_s);
Json timings_json(const std::vector<Phases::Phase>& phases, double total_s);  // "roofwalk.timings/1"

}  // namespace roofwalk
