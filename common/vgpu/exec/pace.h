// Decides whether a team of threads or one thread runs the next rounds. A team may be slower while other programs use
// the processors, so both are tried from time to time, and the faster one stays. This affects only the wall time of a
// launch.
#pragma once

#include <algorithm>
#include <cstdint>

namespace roofwalk::vgpu {

class Pace {
 public:
  // Whether a team runs the next round.
  bool team() const { return team_; }

  // Records the duration of that round and the work done in it (work.h).
  void note(double seconds, std::uint64_t instructions) {
    newest_[left_ % kTryRounds] = static_cast<double>(instructions) / std::max(seconds, 1e-9);
    if (--left_ > 0) return;
    // The median is used, because a round that the system interrupted is not typical.
    std::nth_element(newest_, newest_ + kTryRounds / 2, newest_ + kTryRounds);
    rate_[team_ ? 1 : 0] = newest_[kTryRounds / 2];
    if (rate_[team_ ? 0 : 1] == 0 || !trying_) {  // try the other one, for comparison
      trying_ = true;
      team_ = !team_;
      left_ = kTryRounds;
      return;
    }
    trying_ = false;
    const bool team_is_faster = rate_[1] > rate_[0];
    // Stays briefly with a new winner, and longer each time that the old one wins.
    stay_ = team_is_faster == team_ ? kStayRounds : std::min(stay_ * 2, kMostStayRounds);
    team_ = team_is_faster;
    left_ = stay_;
  }

 private:
  static constexpr int kTryRounds = 8, kStayRounds = 128, kMostStayRounds = 4096;

  bool team_ = true;
  bool trying_ = true;  // whether this stretch of rounds is a short one, for comparison with the previous one
  int left_ = kTryRounds, stay_ = kStayRounds;
  double newest_[kTryRounds] = {};  // work per second of the last rounds of this stretch, in no order
  double rate_[2] = {0, 0};         // of the latest stretch: with one thread, with the team
};

}  // namespace roofwalk::vgpu
