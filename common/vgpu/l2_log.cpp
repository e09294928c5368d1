#include "common/vgpu/l2_log.h"

#include <algorithm>
#include <bit>

#include "common/vgpu/launch.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::uint32_t kWholeSector = ~0u;
constexpr std::size_t kAhead = 8;  // lines whose sets are fetched before their turn

std::uint64_t count(unsigned sectors) { return static_cast<std::uint64_t>(std::popcount(sectors)); }

}  // namespace

void L2Log::write(std::uint64_t line, const WrittenBytes& bytes) {
  unsigned sectors = 0;
  bool partial = false;
  for (unsigned s = 0; s < 4; ++s) {
    if (bytes.of_sector[s] == 0) continue;
    sectors |= 1u << s;
    partial |= bytes.of_sector[s] != kWholeSector;
  }
  lines_.push_back({line, sectors & 0xfu, partial});
  if (partial) partial_.push_back(bytes);
}

void L2Answer::tell() const {
  Outcome& to = trace->outcomes[outcome];
  add_to(to.dram_read_sectors, dram_read_sectors);
  add_to(to.dram_write_sectors, dram_write_sectors);
  if (arrives != Arrival::none) to.arrives = arrives;
}

void L2Log::replay(L2Cache& l2, std::vector<Site>& sites, SiteId first_site, std::vector<SiteTraffic>& traffic,
                   std::vector<L2Answer>& answers) {
  std::size_t at = 0, next_partial = 0;
  L2Cache::Place ahead[kAhead];
  for (std::size_t i = 0; i < std::min(kAhead, lines_.size()); ++i) ahead[i] = l2.prefetch(lines_[i].line);
  for (const Request& request : requests_) {
    const SiteId id = first_site + request.pc;
    Site& site = sites[request.pc];
    std::uint64_t read = 0, from_dram = 0, dirtied = 0;
    bool arriving = false;  // at L2, from DRAM
    for (; at < request.end; ++at) {
      const Line& line = lines_[at];
      const L2Cache::Place place = ahead[at % kAhead];
      if (at + kAhead < lines_.size()) ahead[at % kAhead] = l2.prefetch(lines_[at + kAhead].line);
      switch (request.kind) {
        case Kind::load:
          read += count(line.sectors);
          if (request.trace != nullptr) arriving |= l2.came_this_round(place);
          from_dram += count(l2.read(place, line.sectors, id, traffic));
          break;
        case Kind::arriving:
          arriving |= l2.came_this_round(place);
          break;
        case Kind::store: {
          dirtied += count(line.partial ? l2.write(place, partial_[next_partial++].of_sector, id, traffic)
                                        : l2.write(place, line.sectors, id, traffic));
          break;
        }
        case Kind::atomic: {
          const L2Cache::Updated updated = l2.update(place, line.sectors, id, traffic);
          from_dram += count(updated.missed);
          dirtied += count(updated.dirtied);
          break;
        }
      }
    }
    if (request.kind == Kind::arriving) {
      answers.push_back({request.trace, request.outcome, 0, 0, arriving ? Arrival::from_dram : Arrival::from_l2});
      continue;
    }
    site.l2_hit_sectors += read - (request.kind == Kind::load ? from_dram : 0);
    if (request.kind != Kind::store) ++(from_dram != 0 ? site.served_by_dram : site.served_by_l2);
    if (request.trace != nullptr) {
      answers.push_back({request.trace, request.outcome, static_cast<std::uint32_t>(from_dram),
                         static_cast<std::uint32_t>(dirtied),
                         arriving && from_dram == 0 ? Arrival::from_dram : Arrival::none});
    }
  }
  request_begin_ = 0;
  asked_lines_ = 0;
  lines_.clear();
  partial_.clear();
  requests_.clear();
}

L2Round::L2Round(L2Cache& l2, std::size_t sites, SiteId first_site, std::vector<SiteTraffic>& traffic)
    : l2_(l2), first_site_(first_site), traffic_(traffic), sites_(sites) {}

L2Round::~L2Round() = default;

void L2Round::take(L2Log& log) {
  if (log.empty()) return;
  if (taken_ == logs_.size()) logs_.emplace_back();
  std::swap(logs_[taken_++], log);
}

void L2Round::replay_half() {
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) replay_to(taken_ / 2);
}

void L2Round::replay() {
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) replay_alone();
}

void L2Round::replay_alone() {
  replay_to(taken_);
  taken_ = replayed_ = 0;
}

void L2Round::replay_to(std::size_t end) {
  if (replayed_ == 0 && end != 0) l2_.begin_round();
  for (; replayed_ < end; ++replayed_) logs_[replayed_].replay(l2_, sites_, first_site_, traffic_, answers_);
}

void L2Round::tell_traces() {
  for (const L2Answer& answer : answers_) answer.tell();
  answers_.clear();
}

}  // namespace roofwalk::vgpu
