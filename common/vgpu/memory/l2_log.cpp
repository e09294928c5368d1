#include "common/vgpu/memory/l2_log.h"

#include <algorithm>
#include <bit>

namespace roofwalk::vgpu {
namespace {

constexpr std::uint32_t kWholeSector = ~0u;

std::uint64_t count(unsigned sectors) { return static_cast<std::uint64_t>(std::popcount(sectors)); }

// Whether an instruction waits for a write of another block.
bool waits_for_block(const WarpTrace& trace, std::uint32_t outcome) {
  const auto at = std::lower_bound(trace.block_waits.begin(), trace.block_waits.end(), outcome,
                                   [](const BlockWait& wait, std::uint32_t of) { return wait.outcome < of; });
  return at != trace.block_waits.end() && at->outcome == outcome;
}

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
  add_to(to.dram_pages, dram_pages);
  if (arrives != Arrival::none) to.arrives = arrives;
  if (found.number != 0) trace->found.push_back({outcome, found.warp, found.outcome});
}

L2Log::Served L2Log::serve(L2Cache& l2, std::size_t sm_index, const Request& request, Cursor& cursor, InstructionId id,
                           std::vector<InstructionTraffic>& traffic) const {
  Served out;
  const auto note_missed = [&](std::uint64_t line, L2Cache::Missed missed) {
    out.is_far |= missed.is_far;
    if (missed.asked == 0) return;
    out.missed += count(missed.asked);
    out.from_dram += count(missed.fetched);
    if (l2.opens_page(line)) ++out.pages;
  };
  for (; cursor.at < request.end; ++cursor.at) {
    const Line& line = lines_[cursor.at];
    L2Cache::Place& ahead = cursor.ahead[cursor.at % kAhead];
    const L2Cache::Place in_l2 = ahead;
    if (cursor.at + kAhead < lines_.size()) ahead = l2.prefetch(lines_[cursor.at + kAhead].line, sm_index);
    if (request.kind == Kind::arriving || (request.kind != Kind::store && request.trace != nullptr))
      out.newest = std::max(
          out.newest,
          l2.fetch_of(in_l2, request.kind == Kind::atomic ? L2Cache::kAtHome : static_cast<unsigned>(line.sectors)));
    switch (request.kind) {
      case Kind::arriving:
        break;
      case Kind::load:
        out.read += count(line.sectors);
        note_missed(line.line, l2.read(in_l2, line.sectors, id, traffic));
        break;
      case Kind::store:
        out.written += count(line.sectors);
        out.dirtied += count(line.partial ? l2.write(in_l2, partial_[cursor.next_partial++].of_sector, id, traffic)
                                          : l2.write(in_l2, line.sectors, id, traffic));
        break;
      case Kind::atomic: {
        const L2Cache::Updated updated = l2.update(in_l2, line.sectors, id, traffic);
        note_missed(line.line, updated.missed);
        out.dirtied += count(updated.dirtied);
        break;
      }
    }
  }
  return out;
}

std::uint64_t L2Log::replay(L2Cache& l2, std::size_t sm_index, FetchLog& fetches,
                            std::vector<InstructionCounters>& sites, InstructionId first_site,
                            std::vector<InstructionTraffic>& traffic, std::vector<L2Answer>& answers, SmRequests& sm,
                            std::vector<ServedLoads>& served) {
  std::uint64_t dram_sectors = 0;
  Cursor cursor;
  for (std::size_t i = 0; i < std::min(kAhead, lines_.size()); ++i)
    cursor.ahead[i] = l2.prefetch(lines_[i].line, sm_index);
  for (const Request& request : requests_) {
    const Served got = serve(l2, sm_index, request, cursor, first_site + request.pc, traffic);
    const bool arriving = got.newest != 0 && fetches.may_arrive(got.newest, l2.fetch());
    if (request.kind == Kind::arriving) {
      answers.push_back({request.trace, request.outcome, 0, 0, 0, arriving ? Arrival::from_dram : Arrival::from_l2});
      continue;
    }
    InstructionCounters& site = sites[request.pc];
    const std::uint64_t loaded_from_dram = request.kind == Kind::load ? got.missed : 0;
    site.l2_hit_sectors += got.read - loaded_from_dram;
    if (request.kind != Kind::store) {
      ++(got.from_dram != 0 ? site.served_by_dram : site.served_by_l2);
      ++served[request.warp_slot].all;
    }
    if (request.trace != nullptr) {
      const Fetch* const fetch = fetches.find(got.newest);
      const bool is_own = fetch != nullptr && fetch->block == request.trace->block;
      const bool is_same = is_own && fetch->warp == request.trace->warp && fetch->outcome == request.outcome;
      // Who sees what an atomic has made of the line after the fetch cannot come before the fetch.
      const bool is_there =
          is_own || (fetch != nullptr && fetch->changed && waits_for_block(*request.trace, request.outcome));
      Arrival arrives = got.is_far ? Arrival::from_far_l2 : Arrival::none;
      if (arriving && !is_there) arrives = Arrival::from_dram;
      if (got.from_dram != 0) arrives = Arrival::none;
      if (request.kind == Kind::atomic && got.from_dram == 0 && arrives != Arrival::from_dram)
        fetches.note_change(got.newest);
      answers.push_back({request.trace, request.outcome, static_cast<std::uint32_t>(got.from_dram),
                         static_cast<std::uint32_t>(got.dirtied), got.pages, arrives,
                         is_own && !is_same ? *fetch : Fetch{}});
      if (got.from_dram != 0) fetches.note(l2.fetch(), *request.trace, request.outcome);
    }
    if (got.from_dram != 0) {
      l2.end_fetch();
      ++served[request.warp_slot].by_dram;
    }
    dram_sectors += got.from_dram + got.dirtied;
    if (request.is_counted) sm.add(got.read, loaded_from_dram, got.written);
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
  for (; replayed_ < end; ++replayed_) {
    const std::size_t sm = sm_of_log_[replayed_];
    dram_sectors_ +=
        logs_[replayed_].replay(l2_, sm, fetches_, sites_, first_site_, traffic_, answers_, requests_[sm], served_[sm]);
  }
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
