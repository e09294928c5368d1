#include "common/vgpu/timing/lone_block.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/base/mix.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::uint64_t kMostInstructions = 1'500'000;  // limit on the instructions that take() replays

class Hash {
 public:
  void add(std::uint64_t value) { state_ = mix(state_ ^ value); }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

// Returns a hash of everything that determines the time of a block when it is alone on an SM.
std::uint64_t hash_of(const BlockTrace& block) {
  Hash hash;
  for (const WarpTrace& warp : block.warps) {
    hash.add(warp.blocks.size());
    for (const std::uint32_t entered : warp.blocks) {
      hash.add(warp.block_of(entered));
      if (!WarpTrace::is_part(entered)) continue;
      hash.add(std::uint64_t{warp.part_of(entered).first} << 32 | warp.part_of(entered).end);
    }
    for (const Outcome& o : warp.outcomes) {
      const auto pack = [](auto... fields) {
        std::uint64_t bits = 0;
        ((bits = bits << 8 | static_cast<std::uint8_t>(fields)), ...);
        return bits;
      };
      const std::uint64_t rest = pack(o.dram_pages, o.arrives);
      hash.add(pack(o.lines, o.wavefronts, o.l2_read_sectors, o.l2_write_sectors, o.dram_read_sectors,
                    o.shared_wavefronts, o.shared_conflicts, o.copies) ^
               (rest == 0 ? 0 : mix(rest)));
    }
    for (const SyncPoint& m : warp.sync_points) {
      hash.add(std::uint64_t{m.outcome} << 32 | m.number);
      hash.add(static_cast<std::uint64_t>(m.kind));
    }
    for (const Found& f : warp.found) {
      hash.add(std::uint64_t{f.outcome} << 32 | f.fetch);
      hash.add(f.fetching_warp);
    }
    hash.add(warp.sleeps.size());
    for (const auto* sleeps : {&warp.sleeps, &warp.naps}) {
      for (const Sleep& s : *sleeps) hash.add(std::uint64_t{s.outcome} << 32 | s.cycles);
    }
    for (const AtomicTurns& t : warp.turns) {
      hash.add(std::uint64_t{t.outcome} << 32 | t.place);
      hash.add(std::uint64_t{t.lanes} << 8 | static_cast<std::uint64_t>(t.kind));
    }
  }
  return hash.value();
}

}  // namespace

AloneTimes::AloneTimes(const GridTrace& trace, std::uint64_t key, std::function<double(std::uint32_t)> replay)
    : trace_(trace),
      key_(key),
      replay_(std::move(replay)),
      cycles_(trace.blocks.size()),
      likenesses_(trace.blocks.size()) {}

void AloneTimes::take(std::vector<std::uint32_t> blocks) {
  struct Turn {
    std::uint64_t rank = 0;
    std::uint32_t of_stratum = 0;  // number of earlier members of its stratum
    double cost = 0;
    std::uint32_t block = 0;
  };
  std::vector<Turn> turns;
  for (const std::uint32_t i : blocks) turns.push_back({mix(trace_.blocks[i].index + key_), 0, 0, i});
  std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) { return a.rank < b.rank; });
  std::unordered_map<std::uint32_t, std::uint32_t> taken;  // by stratum: number of members taken
  for (Turn& turn : turns) {
    turn.of_stratum = taken[trace_.blocks[turn.block].stratum]++;
    turn.cost = trace_.blocks[turn.block].work.cost();
  }
  std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    return std::tie(a.of_stratum, b.cost) < std::tie(b.of_stratum, a.cost);
  });
  for (const Turn& turn : turns) {
    if (cycles_[turn.block] != 0) continue;
    const BlockTrace& block = trace_.blocks[turn.block];
    const std::uint64_t hash = likeness_of(turn.block), instructions = length_of(block.instructions, block.operations);
    if (const auto like = of_likes_.find(hash); like != of_likes_.end()) {
      cycles_[turn.block] = like->second;
    } else if (replayed_ + instructions <= kMostInstructions) {
      replayed_ += instructions;
      of_likes_[hash] = always_of(turn.block);
    }
  }
}

std::uint64_t AloneTimes::likeness_of(std::uint32_t block) {
  std::uint64_t& likeness = likenesses_[block];
  if (likeness == 0) likeness = hash_of(trace_.blocks[block]);
  return likeness;
}

bool AloneTimes::are_alike() {
  const auto usual = static_cast<std::uint32_t>(trace_.blocks.size() / 2);
  const BlockWork& work = trace_.blocks[usual].work;
  int others = 0;
  for (std::uint32_t i = 0; i < trace_.blocks.size(); ++i) {
    if (likeness_of(i) == likeness_of(usual)) continue;
    const BlockWork& own = trace_.blocks[i].work;
    const bool did_less = own.cost() <= work.cost() && own.longest_warp <= work.longest_warp &&
                          own.longest_wait_cycles <= work.longest_wait_cycles;
    if (!did_less || ++others > 1) return false;
  }
  return true;
}

double AloneTimes::always_of(std::uint32_t block) {
  if (cycles_[block] == 0) cycles_[block] = std::max(replay_(block), 1.0);
  return cycles_[block];
}

void AloneTimes::know(std::uint32_t block, double cycles) { cycles_[block] = std::max(cycles, 1.0); }

std::optional<double> AloneTimes::of(std::uint32_t block) const {
  return cycles_[block] == 0 ? std::nullopt : std::optional(cycles_[block]);
}

}  // namespace roofwalk::vgpu
