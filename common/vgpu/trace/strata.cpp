#include "common/vgpu/trace/strata.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace roofwalk::vgpu {
namespace {

// Returns a logarithm with 16 steps per doubling, in integers, so that it is the same on every machine.
std::uint16_t step_of(std::uint64_t value) {
  if (value < 16) return static_cast<std::uint16_t>(value);
  const int above = std::bit_width(value) - 5;  // number of bits below the five highest
  return static_cast<std::uint16_t>(above * 16 + static_cast<int>(value >> above));
}

void add_example(std::vector<std::uint64_t>& examples, std::vector<std::uint64_t>& ranks, std::uint64_t index,
                 std::uint64_t rank) {
  if (ranks.size() == Strata::kExamples && rank >= ranks.back()) return;
  const auto at = std::upper_bound(ranks.begin(), ranks.end(), rank) - ranks.begin();
  ranks.insert(ranks.begin() + at, rank);
  examples.insert(examples.begin() + at, index);
  if (ranks.size() > Strata::kExamples) ranks.pop_back(), examples.pop_back();
}

}  // namespace

Strata::Key Strata::key_of(const BlockWork& work) const {
  const auto step = [this](std::uint64_t value, unsigned times = 1) {
    return static_cast<std::uint16_t>(step_of(value) >> times * halvings_);
  };
  // Which blocks miss L2 is a matter of chance in most kernels, so steps of waits are coarse.
  constexpr unsigned kCoarser = 3;
  const auto coarse = [&](std::uint64_t value) { return static_cast<std::uint16_t>(step(value) >> kCoarser); };
  // L1 hits are a matter of chance, too, so there is one step per two doublings. It is never widened: wider steps would
  // make a hundred loads from L2 equal to none.
  const auto far = static_cast<std::uint16_t>(step_of(work.most_far_loads) >> 5);
  return {step(work.instructions),
          step(work.longest_warp),
          step(work.memory),
          step(work.latency_cycles),
          coarse(work.wait_cycles),
          coarse(work.longest_wait_cycles),
          far,
          step(work.busy_cycles),
          step(work.path[0], 2),
          step(work.path[1], 2)};
}

void Strata::raise(std::uint64_t value, std::uint64_t block, std::uint64_t& most, std::uint64_t& block_of_most) {
  if (value <= most) return;
  most = value;
  block_of_most = block;
}

void Strata::add(const BlockWork& work, std::uint64_t index, std::uint64_t rank) {
  const Key key = key_of(work);
  if (last_ == nullptr || key != last_key_) {
    last_ = &strata_[key];
    last_key_ = key;
  }
  Stratum& stratum = last_->stratum;
  ++stratum.blocks;
  stratum.instructions += work.instructions;
  stratum.memory += work.memory;
  if (stratum.blocks == 1) stratum.longest_block = stratum.waiting_block = stratum.busiest_block = index;
  raise(work.longest_warp, index, stratum.longest_warp, stratum.longest_block);
  raise(work.longest_wait_cycles, index, stratum.longest_wait_cycles, stratum.waiting_block);
  raise(work.busy_cycles, index, stratum.busy_cycles, stratum.busiest_block);
  stratum.by_part[static_cast<std::size_t>(static_cast<double>(index) / static_cast<double>(grid_blocks_) *
                                           static_cast<double>(kGridParts))] += 1;
  const std::uint64_t cell_blocks = blocks_per_cell(grid_blocks_);
  if (stratum.by_cell.empty()) stratum.by_cell.resize(static_cast<std::size_t>((grid_blocks_ - 1) / cell_blocks) + 1);
  ++stratum.by_cell[static_cast<std::size_t>(index / cell_blocks)];
  add_example(stratum.examples, last_->ranks, index, rank);
  if (strata_.size() > kMost) widen();
}

void Strata::merge(Entry& into, Entry&& from) {
  Stratum& stratum = into.stratum;
  if (stratum.blocks == 0) {
    into = std::move(from);
    return;
  }
  stratum.blocks += from.stratum.blocks;
  stratum.instructions += from.stratum.instructions;
  stratum.memory += from.stratum.memory;
  const Stratum& other = from.stratum;
  raise(other.longest_warp, other.longest_block, stratum.longest_warp, stratum.longest_block);
  raise(other.longest_wait_cycles, other.waiting_block, stratum.longest_wait_cycles, stratum.waiting_block);
  raise(other.busy_cycles, other.busiest_block, stratum.busy_cycles, stratum.busiest_block);
  for (std::size_t i = 0; i < kGridParts; ++i) stratum.by_part[i] += from.stratum.by_part[i];
  for (std::size_t i = 0; i < stratum.by_cell.size(); ++i) stratum.by_cell[i] += from.stratum.by_cell[i];
  for (std::size_t i = 0; i < from.ranks.size(); ++i) {
    add_example(stratum.examples, into.ranks, from.stratum.examples[i], from.ranks[i]);
  }
}

void Strata::widen() {
  ++halvings_;
  std::map<Key, Entry> wider;
  for (auto& [key, entry] : strata_) {
    Key half = key;
    for (std::size_t i = 0; i < half.size(); ++i) {
      if (i != kFarLoads) half[i] = static_cast<std::uint16_t>(half[i] >> (i < half.size() - kPaths ? 1 : 2));
    }
    merge(wider[half], std::move(entry));
  }
  strata_ = std::move(wider);
  last_ = nullptr;
}

void Strata::join_untraced(const std::set<Key>& traced) {
  constexpr int kShorter = 1, kLonger = 4;  // steps by which the waits may differ
  const auto joins = [&](const Key& key) {
    constexpr int kWays = kLonger + kShorter + 1;
    for (int way = 0; way < kWays * kWays * kWays; ++way) {
      Key other = key;
      int left = way;
      for (const std::size_t wait : kWaits) {
        other[wait] = static_cast<std::uint16_t>(other[wait] + left % kWays - kShorter);
        left /= kWays;
      }
      if (!traced.contains(other)) continue;
      merge(strata_.at(other), std::move(strata_.at(key)));
      return true;
    }
    return false;
  };
  for (auto it = strata_.begin(); it != strata_.end();)
    it = !traced.contains(it->first) && joins(it->first) ? strata_.erase(it) : std::next(it);
  last_ = nullptr;
}

std::vector<std::uint32_t> Strata::settle(const std::vector<BlockWork>& traced, double untraced_share) {
  std::vector<std::uint32_t> out(traced.size());
  while (true) {
    std::set<Key> keys;
    for (const BlockWork& work : traced) keys.insert(key_of(work));
    join_untraced(keys);
    std::map<Key, std::uint32_t> places;
    settled_.clear();
    for (const auto& [key, entry] : strata_) {
      places[key] = static_cast<std::uint32_t>(settled_.size());
      settled_.push_back(entry.stratum);
    }
    for (std::size_t i = 0; i < traced.size(); ++i) {
      out[i] = places.at(key_of(traced[i]));
      ++settled_[out[i]].traced;
    }
    double all = 0, untraced = 0;
    for (const Stratum& stratum : settled_) {
      all += stratum.cost();
      if (stratum.traced == 0) untraced += stratum.cost();
    }
    if (untraced <= untraced_share * all || halvings_ >= kCoarsest) return out;
    widen();
  }
}

}  // namespace roofwalk::vgpu
