#include "common/vgpu/requests/atomic_turns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "common/base/mix.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::size_t kPlaceHashes = 1u << 16;

// The words of the active lanes, sorted.
struct Words {
  std::uint64_t of[kWarpSize];
  int count = 0;
};

Words words_of(const Access& access) {
  Words words;
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1)
    words.of[words.count++] = access.of(std::countr_zero(left)) / std::max<std::uint32_t>(access.bytes, 4);
  std::sort(words.of, words.of + words.count);
  return words;
}

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
  for_each_word(words, [&](std::uint64_t word, std::uint8_t lanes) {
    if (shared) lanes = of_bank[word % kBanks];
    const auto hash = static_cast<std::uint32_t>(mix(word));
    std::uint32_t& of_word = counts[shared ? word : hash % kPlaceHashes];
    of_word += lanes;
    if (shared) warp.block->most_swaps = std::max(warp.block->most_swaps, of_word);
    record(launch, warp, op, hash, lanes, shared ? AtomicTurns::Kind::swap_shared : AtomicTurns::Kind::swap_global);
  });
}

void count_updates(Launch& launch, Warp& warp, const Op* op, const Access& access) {
  if (!launch.counts) return;
  Multiprocessor& sm = *launch.sm;
  if (sm.update_cycles.empty()) sm.update_cycles.resize(kPlaceHashes);
  const std::uint64_t words_of_sector = kSectorBytes / std::max<std::uint32_t>(access.bytes, 4);
  const bool is_float = ptx::is_float(op->instruction->type);
  std::uint64_t sector = 0;
  std::uint8_t most = 0;
  const auto end_sector = [&] {
    if (most == 0) return;
    const auto hash = static_cast<std::uint32_t>(mix(sector));
    const double cycles = launch.machine.update_cycles(most, is_float);
    sm.update_cycles[hash % kPlaceHashes] += static_cast<std::uint64_t>(std::llround(cycles * kUpdateTicksOfACycle));
    sm.updates += most;
    record(launch, warp, op, hash, most, AtomicTurns::Kind::update);
    most = 0;
  };
  for_each_word(words_of(access), [&](std::uint64_t word, std::uint8_t lanes) {
    if (word / words_of_sector != sector) end_sector();
    sector = word / words_of_sector;
    most = std::max(most, lanes);
  });
  end_sector();
}

}  // namespace roofwalk::vgpu
