// Whether a team is faster than one thread just now: where other programs want the processors too, it need not be.
// Tries both from time to time and stays with the faster one. What it decides changes nothing but how long a launch
// takes.
#pragma once

#include <algorithm>
#include <cstdint>

namespace roofwalk::vgpu {

class Pace {
 public:
  // Which of the two the next round shall be played by.
  bool team() const { return team_; }

  // What that round took, for so many instructions.
  void note(double seconds, std::uint64_t instructions) {
    newest_[left_ % kTryRounds] = static_cast<double>(instructions) / std::max(seconds, 1e-9);
    if (--left_ > 0) return;
    // The middle one: a round that the system cut short says nothing about the others.
    std::nth_element(newest_, newest_ + kTryRounds / 2, newest_ + kTryRounds);
    rate_[team_ ? 1 : 0] = newest_[kTryRounds / 2];
    if (rate_[team_ ? 0 : 1] == 0 || !trying_) {  // the other one's turn, to be compared
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
  bool trying_ = true;  // in a short stretch, to be compared with the one before
  int left_ = kTryRounds, stay_ = kStayRounds;
  double newest_[kTryRounds] = {};  // instructions a second of this stretch's last rounds, in no order
  double rate_[2] = {0, 0};         // of the newest stretch of one thread, of the team
};

}  // namespace roofwalk::vgpu
