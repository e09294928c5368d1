#include "common/vgpu/memory/l2_log.h"

#include <algorithm>
#include <bit>

namespace roofwalk::vgpu {
namespace {

constexpr std::uint32_t kWholeSector = ~0u;
constexpr std::size_t kAhead = 8;  // how many lines ahead of the current one sets are prefetched

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
  if (found.number != 0) trace->found.push_back({outcome, found.warp, found.outcome});
}

std::uint64_t L2Log::replay(L2Cache& l2, FetchLog& fetches, std::vector<InstructionCounters>& sites,
                            InstructionId first_site, std::vector<InstructionTraffic>& traffic,
                            std::vector<L2Answer>& answers, SmRequests& sm, std::vector<ServedLoads>& served) {
  std::size_t at = 0, next_partial = 0;
  std::uint64_t dram_sectors = 0;
  L2Cache::Place ahead[kAhead];
  for (std::size_t i = 0; i < std::min(kAhead, lines_.size()); ++i) ahead[i] = l2.prefetch(lines_[i].line);
  for (const Request& request : requests_) {
    const InstructionId id = first_site + request.pc;
    InstructionCounters& site = sites[request.pc];
    std::uint64_t read = 0, from_dram = 0, written = 0, dirtied = 0;
    std::uint32_t newest = 0;  // newest DRAM fetch among the request's lines that L2 holds
    for (; at < request.end; ++at) {
      const Line& line = lines_[at];
      const L2Cache::Place place = ahead[at % kAhead];
      if (at + kAhead < lines_.size()) ahead[at % kAhead] = l2.prefetch(lines_[at + kAhead].line);
      switch (request.kind) {
        case Kind::load:
          read += count(line.sectors);
          if (request.trace != nullptr) newest = std::max(newest, l2.fetch_of(place));
          from_dram += count(l2.read(place, line.sectors, id, traffic));
          break;
        case Kind::arriving:
          newest = std::max(newest, l2.fetch_of(place));
          break;
        case Kind::store: {
          written += count(line.sectors);
          dirtied += count(line.partial ? l2.write(place, partial_[next_partial++].of_sector, id, traffic)
                                        : l2.write(place, line.sectors, id, traffic));
          break;
        }
        case Kind::atomic: {
          if (request.trace != nullptr) newest = std::max(newest, l2.fetch_of(place));
          const L2Cache::Updated updated = l2.update(place, line.sectors, id, traffic);
          from_dram += count(updated.missed);
          dirtied += count(updated.dirtied);
          break;
        }
      }
    }
    const bool arriving = newest != 0 && fetches.may_arrive(newest, l2.fetch());
    if (request.kind == Kind::arriving) {
      answers.push_back({request.trace, request.outcome, 0, 0, arriving ? Arrival::from_dram : Arrival::from_l2});
      continue;
    }
    site.l2_hit_sectors += read - (request.kind == Kind::load ? from_dram : 0);
    if (request.kind != Kind::store) {
      ++(from_dram != 0 ? site.served_by_dram : site.served_by_l2);
      ++served[request.warp_slot].all;
    }
    if (request.trace != nullptr) {
      const Fetch* const fetch = fetches.find(newest);
      const bool is_own = fetch != nullptr && fetch->block == request.trace->block;
      const bool is_same = is_own && fetch->warp == request.trace->warp && fetch->outcome == request.outcome;
      answers.push_back({request.trace, request.outcome, static_cast<std::uint32_t>(from_dram),
                         static_cast<std::uint32_t>(dirtied),
                         arriving && from_dram == 0 && !is_own ? Arrival::from_dram : Arrival::none,
                         is_own && !is_same ? *fetch : Fetch{}});
      if (from_dram != 0) fetches.note(l2.fetch(), *request.trace, request.outcome);
    }
    if (from_dram != 0) {
      l2.end_fetch();
      ++served[request.warp_slot].by_dram;
    }
    dram_sectors += from_dram + dirtied;
    if (request.is_counted) sm.add(read, request.kind == Kind::load ? from_dram : 0, written);
  }
  clear();
  return dram_sectors;
}

void L2Log::clear() {
  request_begin_ = 0;
  asked_lines_ = 0;
  lines_.clear();
  partial_.clear();
  requests_.clear();
}

L2Round::L2Round(const Machine& machine, std::size_t sms, std::size_t warp_slots, L2Cache& l2, std::size_t sites,
                 InstructionId first_site, std::vector<InstructionTraffic>& traffic)
    : l2_(l2),
      fetches_(machine, sms),
      first_site_(first_site),
      traffic_(traffic),
      sites_(sites),
      requests_(sms),
      served_(sms, std::vector<ServedLoads>(warp_slots)) {}

L2Round::~L2Round() = default;

void L2Round::take(L2Log& log, std::size_t sm) {
  if (log.empty()) return;
  if (taken_ == logs_.size()) {
    logs_.emplace_back();
    sm_of_log_.emplace_back();
  }
  sm_of_log_[taken_] = sm;
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
  if (replayed_ == 0 && end != 0) fetches_.begin_round(l2_.fetch(), began_);
  for (; replayed_ < end; ++replayed_)
    dram_sectors_ += logs_[replayed_].replay(l2_, fetches_, sites_, first_site_, traffic_, answers_,
                                             requests_[sm_of_log_[replayed_]], served_[sm_of_log_[replayed_]]);
}

std::uint64_t L2Round::tell_traces() {
  std::uint64_t bytes = 0;
  for (const L2Answer& answer : answers_) {
    answer.tell();
    if (answer.found.number != 0) bytes += sizeof(Found);
  }
  answers_.clear();
  return bytes;
}

}  // namespace roofwalk::vgpu
