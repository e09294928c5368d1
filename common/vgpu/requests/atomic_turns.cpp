#include "common/vgpu/requests/atomic_turns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "common/base/mix.h"
#include "common/vgpu/requests/global_flow.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::size_t kPlaceHashes = 1u << 16;

// Sorts by counting, for each word, those that come before it: few steps of wide vectors.
void sort(Words& words) {
  std::uint32_t keys[kWarpSize] = {};
  const std::uint64_t first = *std::min_element(words.of, words.of + words.count);
  const std::uint64_t last = *std::max_element(words.of, words.of + words.count);
  if (last - first > std::numeric_limits<std::uint32_t>::max()) return std::sort(words.of, words.of + words.count);
  for (int i = 0; i < kWarpSize; ++i)
    keys[i] =
        i < words.count ? static_cast<std::uint32_t>(words.of[i] - first) : std::numeric_limits<std::uint32_t>::max();
  for (int i = 0; i < words.count; ++i) {
    std::uint32_t place = 0;
    for (int j = 0; j < kWarpSize; ++j) place += keys[j] < keys[i] || (keys[j] == keys[i] && j < i) ? 1 : 0;
    words.of[place] = first + keys[i];
  }
}

}  // namespace

Words words_of(const Access& access) {
  Words words;
  bool sorted = true;
  const int shift = std::countr_zero(std::max<std::uint32_t>(access.bytes, 4));
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const std::uint64_t word = access.of(std::countr_zero(left)) >> shift;
    sorted &= words.count == 0 || words.of[words.count - 1] <= word;
    words.of[words.count++] = word;
  }
  if (!sorted) sort(words);
  return words;
}

std::size_t place_of_sector(std::uint64_t sector) { return (sector + mix(sector / kSectorPlaces)) % kSectorPlaces; }

namespace {

// Calls visit(word, lanes) for each of the words.
template <class Visit>
void for_each_word(const Words& words, Visit&& visit) {
  for (int first = 0, last = 0; first < words.count; first = last) {
    while (last < words.count && words.of[last] == words.of[first]) ++last;
    visit(words.of[first], static_cast<std::uint8_t>(last - first));
  }
}

void record(Launch& launch, Warp& warp, const Op* op, std::uint32_t place, std::uint8_t lanes, AtomicTurns::Kind kind) {
  if (warp.trace == nullptr) return;
  const auto outcome = static_cast<std::uint32_t>(warp.first_outcome + op->memory);
  warp.trace->turns.push_back({outcome, place, lanes, kind});
  launch.sm->traced.bytes += sizeof(AtomicTurns);
}

// Adds turns at a word that take so many cycles, from `now` on at the earliest. Returns when all turns are over that
// follow one another with these. Warps do not run in order of time, so those that come later in the run may have had
// their turns before. Of more rows than `most`, the pause between the first two is forgotten.
std::int64_t end_of_turns(std::vector<TurnsInARow>& rows, std::size_t most, std::int64_t now, std::int64_t cycles) {
  auto row = std::find_if(rows.begin(), rows.end(), [&](const TurnsInARow& each) { return each.end() >= now; });
  if (row == rows.end() || row->from > now) row = rows.insert(row, {now, 0});
  row->cycles += cycles;
  auto next = row + 1;
  for (; next != rows.end() && next->from <= row->end(); ++next) row->cycles += next->cycles;
  const std::int64_t end = row->end();
  rows.erase(row + 1, next);
  if (rows.size() > most) {
    rows[1] = {rows[0].from, rows[0].cycles + rows[1].cycles};
    rows.erase(rows.begin());
  }
  return end;
}

// Where blocks may wait for each other (block_chain.h): puts a warp off by the turns of its lanes, of which its basic
// block has the latency of one access only, and in shared memory by those of other warps of its block. The timing model
// replays turns by the same rules (Simulation::swap).
class TurnsOfAWarp {
 public:
  TurnsOfAWarp(const Launch& launch, Warp& warp, const Op* op, bool shared)
      : warp_(warp), op_(op), shared_(shared), now_(warp.path.now().of_grid - rest_of_block(launch, op)) {
    const Machine& machine = launch.machine;
    read_ = shared ? machine.shared_latency_cycles : machine.l2_latency_cycles;
    turn_ = shared ? machine.shared_swap_cycles : machine.l2_latency_cycles + 2 * machine.alu_latency_cycles;
  }

  void add(std::uint64_t word, int lanes) {
    const double first = shared_ ? 0 : read_;  // in shared memory, the read is part of the first turn
    end_ = std::max(end_, now_ + static_cast<std::int64_t>(first + turn_ * lanes));
    if (!shared_) return;
    constexpr std::size_t kFewWords = 128, kMostRows = 16;  // of more words, no pauses are known
    auto& swapped = warp_.block->swapped;
    std::vector<TurnsInARow>& rows = swapped[word];
    const std::size_t most = swapped.size() <= kFewWords ? kMostRows : 1;
    end_ = std::max(end_, end_of_turns(rows, most, now_, static_cast<std::int64_t>(read_ * lanes)));
  }

  void finish() {
    const auto more = std::max<std::int64_t>(end_ - now_ - static_cast<std::int64_t>(read_), 0);
    warp_.path.behind_cycles += more;
    // A try of a warp that waits takes as long as its turns do.
    if (!shared_ && (op_->spins || op_->ends_loops)) warp_.wait_for_block.slept += more;
  }

 private:
  Warp& warp_;
  const Op* op_;
  bool shared_;
  std::int64_t now_ = 0, end_ = 0;  // PathClock::of_grid
  double read_ = 0, turn_ = 0;
};

}  // namespace

void count_swaps(Launch& launch, Warp& warp, const Op* op, const Access& access, bool shared) {
  if (!launch.counts) return;
  constexpr std::uint64_t kBanks = 32;
  std::vector<std::uint32_t>& counts = shared ? warp.block->swaps : launch.sm->swaps;
  if (counts.empty()) counts.resize(shared ? launch.program.shared_bytes / 4 + 1 : kPlaceHashes);
  const Words words = words_of(access);
  std::uint8_t of_bank[kBanks] = {};
  if (shared) {
    for_each_word(words, [&](std::uint64_t word, std::uint8_t lanes) { of_bank[word % kBanks] += lanes; });
    warp.swaps += *std::max_element(of_bank, of_bank + kBanks);
  }
  TurnsOfAWarp turns(launch, warp, op, shared);
  for_each_word(words, [&](std::uint64_t word, std::uint8_t lanes) {
    if (shared) lanes = of_bank[word % kBanks];
    if (launch.chain != nullptr) turns.add(word, lanes);
    const auto hash = static_cast<std::uint32_t>(mix(word));
    std::uint32_t& of_word = counts[shared ? word : hash % kPlaceHashes];
    of_word += lanes;
    if (shared) warp.block->most_swaps = std::max(warp.block->most_swaps, of_word);
    record(launch, warp, op, hash, lanes, shared ? AtomicTurns::Kind::swap_shared : AtomicTurns::Kind::swap_global);
  });
  if (launch.chain != nullptr) turns.finish();
}

namespace {

void prepare_updates(const Machine& machine, Multiprocessor& sm) {
  sm.update_cycles.resize(kSectorPlaces);
  for (const bool is_float : {false, true}) {
    for (int lanes = 0; lanes <= kWarpSize; ++lanes) {
      const double ticks = machine.update_cycles(lanes, is_float) * kUpdateTicksOfACycle;
      sm.update_ticks[is_float ? 1 : 0][lanes] = static_cast<std::uint32_t>(std::lround(ticks));
    }
  }
}

}  // namespace

void count_updates(Launch& launch, Warp& warp, const Op* op, const Access& access) {
  if (!launch.counts) return;
  Multiprocessor& sm = *launch.sm;
  if (sm.update_cycles.empty()) prepare_updates(launch.machine, sm);
  const int shift = std::countr_zero(kSectorBytes / std::max<std::uint32_t>(access.bytes, 4));
  const auto& ticks = sm.update_ticks[ptx::is_float(op->instruction->type) ? 1 : 0];
  std::uint64_t sector = 0;
  std::uint8_t most = 0;
  const auto end_sector = [&] {
    if (most == 0) return;
    sm.update_cycles[place_of_sector(sector)] += ticks[most];
    sm.updates += most;
    record(launch, warp, op, static_cast<std::uint32_t>(mix(sector)), most, AtomicTurns::Kind::update);
    most = 0;
  };
  for_each_word(words_of(access), [&](std::uint64_t word, std::uint8_t lanes) {
    if (word >> shift != sector) end_sector();
    sector = word >> shift;
    most = std::max(most, lanes);
  });
  end_sector();
}

}  // namespace roofwalk::vgpu
