#include "tests/random/requests.h"

#include <algorithm>
#include <map>
#include <set>

namespace roofwalk::random {
namespace {

constexpr std::uint64_t kSector = 32, kLine = 128, kWord = 4;
constexpr int kBanks = 32;

// Whether each participating lane has the address of its partner (lane ^ apart). Absent partners are ignored.
bool in_pairs(const Request& request, int apart) {
  std::map<int, std::uint64_t> address;
  for (const auto& lane : request.lanes) address[lane.lane] = lane.address;
  return std::all_of(address.begin(), address.end(), [&](const auto& one) {
    const auto partner = address.find(one.first ^ apart);
    return partner == address.end() || partner->second == one.second;
  });
}

}  // namespace

Footprint global_footprint(const Request& request) {
  std::set<std::uint64_t> sectors, lines;
  for (const auto& lane : request.lanes) {
    for (std::uint64_t byte = 0; byte < request.bytes; ++byte) {
      sectors.insert((lane.address + byte) / kSector);
      lines.insert((lane.address + byte) / kLine);
    }
  }
  return {sectors.size(), lines.size()};
}

Footprint local_footprint(const Request& request) {
  Footprint out;
  const std::uint64_t piece = std::min(request.bytes, kWord);
  for (std::uint64_t part = 0; part < request.bytes; part += piece) {
    Request word{piece, {}};
    for (const auto& lane : request.lanes) {
      const std::uint64_t offset = lane.address + part;
      const auto beside = static_cast<std::uint64_t>(lane.lane) * kWord;
      word.lanes.push_back({lane.lane, offset / kWord * kWord * kLanes + beside + offset % kWord});
    }
    const Footprint own = global_footprint(word);
    out.sectors += own.sectors;
    out.lines += own.lines;
  }
  return out;
}

Turns shared_turns(const Request& request, bool is_load, bool is_atomic) {
  int phase_lanes = request.bytes <= 4 ? 32 : request.bytes == 8 ? 16 : 8;
  if (is_load && phase_lanes < kLanes && (in_pairs(request, 1) || in_pairs(request, 2))) phase_lanes *= 2;
  Turns out;
  for (int first = 0; first < kLanes; first += phase_lanes) {
    std::multiset<std::uint64_t> words;
    for (const auto& lane : request.lanes) {
      if (lane.lane < first || lane.lane >= first + phase_lanes) continue;
      for (std::uint64_t part = 0; part < std::max<std::uint64_t>(request.bytes / kWord, 1); ++part) {
        const std::uint64_t word = lane.address / kWord + part;
        if (is_atomic || !words.contains(word)) words.insert(word);
      }
    }
    std::map<std::uint64_t, std::uint64_t> turns;
    std::uint64_t most = 0;
    for (const std::uint64_t word : words) most = std::max(most, ++turns[word % kBanks]);
    out.wavefronts += most;
    out.conflicts += most - (most != 0);
  }
  return out;
}

}  // namespace roofwalk::random
