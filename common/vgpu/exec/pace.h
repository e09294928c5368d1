// Decides whether several threads or one thread runs rounds faster at present; a team may be slower while other
// programs use the processors. Tries both from time to time and stays with the faster one. This affects only the wall
// time of a launch.
#pragma once

#include <algorithm>
#include <cstdint>

namespace roofwalk::vgpu {

class Pace {
 public:
  // Whether a team runs the next round.
  bool team() const { return team_; }

  // Records the duration of that round and the number of its instructions.
  void note(double seconds, std::uint64_t instructions) {
    newest_[left_ % kTryRounds] = static_cast<double>(instructions) / std::max(seconds, 1e-9);
    if (--left_ > 0) return;
    // The median is used, because a round that the system interrupted is not typical.
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
  bool trying_ = true;  // whether this is a short stretch, for comparison with the previous one
  int left_ = kTryRounds, stay_ = kStayRounds;
  double newest_[kTryRounds] = {};  // instructions per second of the last rounds of this stretch, in no order
  double rate_[2] = {0, 0};         // of the latest stretch: with one thread, with the team
};

}  // namespace roofwalk::vgpu
