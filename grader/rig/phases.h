// Where the time between a saved edit and the card goes: `run --timings`.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "common/base/json_fwd.h"

namespace roofwalk {

// Phases of one call of the program, some of them side by side. Any thread may add one.
class Phases {
 public:
  // Time 0 is when the person's command began: ./roofwalk leaves it in $ROOFWALK_STARTED, in seconds since 1970.
  // Without it, or where it makes no sense, it is now.
  Phases();

  struct Phase {
    std::string name;
    double begin_s = 0, seconds = 0;
  };
  void add(std::string name, double begin_s, double end_s);
  double now_s() const;

  std::vector<Phase> all() const;  // by their beginning

 private:
  std::chrono::system_clock::time_point zero_;
  mutable std::mutex mutex_;
  std::vector<Phase> phases_;
};

// A phase that lasts as long as this lives. `phases` may be null: nobody asked.
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

// A row a phase, with a bar for when it ran: 80 columns.
std::string timings_text(const std::vector<Phases::Phase>& phases, double total_s);
Json timings_json(const std::vector<Phases::Phase>& phases, double total_s);  // "roofwalk.timings/1"

}  // namespace roofwalk
