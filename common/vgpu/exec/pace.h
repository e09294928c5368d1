// Decides whether a team or one thread is faster at present, as a team may not be where other programs use the
// processors. Tries both from time to time and stays with the faster one. This affects only how long a launch takes.
#pragma once

#include <algorithm>
#include <cstdint>

namespace roofwalk::vgpu {

class Pace {
 public:
  // Whether a team plays the next round.
  bool team() const { return team_; }

  // Records how long that round took, and its instructions.
  void note(double seconds, std::uint64_t instructions) {
    newest_[left_ % kTryRounds] = static_cast<double>(instructions) / std::max(seconds, 1e-9);
    if (--left_ > 0) return;
    // The median: a round that the system interrupted says nothing about the others.
    std::nth_element(newest_, newest_ + kTryRounds / 2, newest_ + kTryRounds);
    rate_[team_ ? 1 : 0] = newest_[kTryRounds / 2];
    if (rate_[team_ ? 0 : 1] == 0 || !trying_) {  // try the other one, to compare
      trying_ = true;
      team_ = !team_;
      left_ = kTryRounds;
      return;
    }
    trying_ = false;
    const bool team_is_faster = rate_[1] > rate_[0];
    stay_ =
        team_is_faster == team_ ? kStayRounds : std::min(stay_ * 2, kMostStayRounds);  // a new winner, or the old one
    team_ = team_is_faster;
    left_ = stay_;
  }

 private:
  static constexpr int kTryRounds = 8, kStayRounds = 128, kMostStayRounds = 4096;

  bool team_ = true;
  bool trying_ = true;  // in a short stretch, to compare with the previous one
  int left_ = kTryRounds, stay_ = kStayRounds;
  double newest_[kTryRounds] = {};  // instructions per second of this stretch's last rounds, in no order
  double rate_[2] = {0, 0};         // of the latest stretch of one thread, of the team
};

}  // namespace roofwalk::vgpu
