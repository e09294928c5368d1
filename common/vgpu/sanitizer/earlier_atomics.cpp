// Atomics in front of the latest one on a word: a plain access may be ordered behind the latest, but not behind these.
#include "common/vgpu/sanitizer/earlier_atomics.h"

#include "common/vgpu/sanitizer/race_detector.h"

namespace roofwalk::vgpu {

std::optional<RaceDetector::Finding> RaceDetector::check_earlier(std::size_t word, std::uint32_t warp, int lane,
                                                                 SharedTouch touch) const {
  for (const Record& atomic : earlier_.of(word)) {
    if (atomic.lanes == 0 || bears(touch, atomic.touch, atomic.warp == warp)) continue;
    const int other = rival(atomic, warp, lane);
    if (other < 0) continue;
    return Finding{.kind = Finding::Kind::race,
                   .lane = lane,
                   .thread = atomic.warp * kWarpSize + static_cast<std::uint32_t>(other),
                   .pc = atomic.pc,
                   .touch = atomic.touch};
  }
  return std::nullopt;
}

void RaceDetector::keep_earlier(std::size_t word, bool tells, Record& now) {
  const Id last = writes_[word];
  if (!is_atomic(now.touch) || tells) return earlier_.forget(word);
  if (last < whole_block_met_ || (last & kCopy) != 0 || is_gate(word)) return;
  const Record write = recall(last, word);
  if (!is_atomic(write.touch)) return;
  if (write.warp != now.warp) {
    earlier_.add(word, writes_.size(), write);
  } else if (write.clock == now.clock && write.touch == now.touch) {
    now.lanes |= write.lanes;
  }
}

}  // namespace roofwalk::vgpu
