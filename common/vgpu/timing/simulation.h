// The SMs of the clock, cycle by cycle: schedulers, scoreboards, pipes, the memory path, L2 and DRAM behind it. Only
// clock.cpp includes this.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <queue>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/vgpu/memory/cache.h"
#include "common/vgpu/timing/block_latency.h"
#include "common/vgpu/timing/clock.h"
#include "common/vgpu/timing/instruction_cost.h"
#include "common/vgpu/timing/sm_state.h"

namespace roofwalk::vgpu {

inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max() / 4;

// What is blamed for waits at barriers; a chapter's kernels have a few dozen such pairs.
inline constexpr std::size_t kMostBlamed = 500'000;

// What takes as long as to issue an operation: to make so many scoreboard slots anew, to rename so many.
inline constexpr std::size_t kScoresOfAnOperation = 64, kRenamesOfAnOperation = 16;

inline constexpr std::size_t kLineHashes = 4096, kAskedHashes = 4096;

inline Cycle round_up(double cycles) { return static_cast<Cycle>(std::ceil(cycles - 1e-9)); }

class Simulation {
 public:
  // By hash, words of global memory.
  using Words = std::unordered_set<std::uint32_t>;

  // Runs `blocks` blocks on `sms` SMs that have their share of L2 and DRAM; `traces` (places in the input's) are taken
  // in turn. `words_of_several`: of the input's trace.
  Simulation(const ClockInput& input, const Words& words_of_several, std::vector<std::uint32_t> traces, int sms,
             double share_of_memory, std::uint64_t blocks)
      : in_(input),
        m_(input.machine),
        words_of_several_(words_of_several),
        traces_(std::move(traces)),
        blocks_(blocks) {
    dram_sector_full_ = kSectorBytes * m_.clock_hz / (m_.dram_bytes_per_s * m_.dram_sustained_share);
    l2_sector_full_ = kSectorBytes / m_.l2_bytes_per_clock;
    dram_sector_ = dram_sector_full_ / share_of_memory;
    l2_sector_ = l2_sector_full_ / share_of_memory;
    port_sector_ = kSectorBytes / m_.l2_port_bytes_per_clock;
    for (std::size_t u = 0; u < kUnitCount; ++u) interval_[u] = interval(static_cast<Unit>(u));
    for (const BasicBlock& block : input.program.blocks) {
      memory_ops_.push_back(block.memory.size());
    }
    waits_.resize(input.program.function->instructions.size());
    path_waits_.resize(waits_.size());
    for (const ptx::Instruction& in : input.program.function->instructions) {
      const bool is_fence = ptx::info(in.opcode).form == ptx::Form::fence;
      orders_stores_.push_back((is_fence || in.releases) && !in.of_block);
    }
    others_ = 1 / share_of_memory;
    lay_out(sms);
  }

  // False where it takes more than so many operations: it stops then.
  bool run(std::uint64_t most_operations) {
    using Event = std::pair<Cycle, std::uint32_t>;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    for (std::size_t slot = 0; slot < sms_[0].blocks.size(); ++slot) {
      for (SimSm& sm : sms_) start_block(sm, sm.blocks[slot], 0);
    }
    for (std::uint32_t i = 0; i < sms_.size(); ++i) events.push({0, i});
    while (!events.empty()) {
      auto [next, index] = events.top();
      events.pop();
      SimSm& sm = sms_[index];
      // While nobody else's turn comes first, this SM goes on.
      const Cycle until = events.empty() ? kNever : events.top().first;
      do {
        if (operations_ > most_operations) return false;
        if (next >= forget_at_) forget_before(next);
        next = step(sm, next);
      } while (next < until);
      if (next < kNever) events.push({next, index});
      if (events.empty()) {
        for (const std::uint32_t stuck : release_stuck()) events.push({now_ + 1, stuck});
      }
    }
    ROOFWALK_CHECK(live_blocks_ == 0);
    for (const SimSm& sm : sms_) end_ = std::max({end_, sm.end, sm.memory_path.free});
    end_ = std::max({end_, l2_.end(), dram_.end()});
    settle_waits();
    return true;
  }

  // Those that several blocks swap: SMs that are not in the simulation do so too.
  static Words words_of_several(const GridTrace& trace) {
    Words out;
    std::unordered_map<std::uint32_t, std::size_t> swapped_by;
    for (std::size_t b = 0; b < trace.blocks.size(); ++b) {
      for (const WarpTrace& warp : trace.blocks[b].warps) {
        for (const Swaps& each : warp.swaps) {
          if (!each.shared && swapped_by.try_emplace(each.word, b).first->second != b) out.insert(each.word);
        }
      }
    }
    return out;
  }

  double end() const { return end_; }
  const std::vector<Cycle>& starts() const { return starts_; }  // of the blocks, in order
  const std::vector<Cycle>& ends() const { return ends_; }      // beside starts
  const std::vector<WarpCycles>& waits() const { return waits_; }
  const std::vector<HeldUp>& held_up() const { return held_up_; }
  // Cycles that warps take for a PTX instruction of theirs, waits included.
  std::uint64_t operations() const { return operations_; }  // issued, and what costs as much
  double cycles_per_instruction() const { return instructions_ == 0 ? 0 : lived_ / static_cast<double>(instructions_); }

 private:
  void lay_out(int sms) {
    const std::size_t warps = in_.trace.blocks.front().warps.size();
    const std::uint64_t an_sm = (blocks_ + static_cast<std::uint64_t>(sms) - 1) / static_cast<std::uint64_t>(sms);
    sms_.resize(static_cast<std::size_t>(sms));
    for (SimSm& sm : sms_) {
      sm.schedulers.resize(static_cast<std::size_t>(m_.schedulers_per_sm));
      sm.arriving.resize(kLineHashes);
      sm.asked.resize(kAskedHashes);
      sm.blocks.resize(std::min(static_cast<std::size_t>(in_.blocks_per_sm), static_cast<std::size_t>(an_sm)));
      sm.warps.resize(sm.blocks.size() * warps);
      for (std::uint32_t w = 0; w < sm.warps.size(); ++w) {
        SimWarp& warp = sm.warps[w];
        warp.scores.resize(in_.schedule.slots);
        warp.parts.resize(in_.schedule.parts);
        warp.sim_block = static_cast<std::uint32_t>(w / warps);
        warp.scheduler = static_cast<std::uint32_t>(w % sm.schedulers.size());
        Scheduler& scheduler = sm.schedulers[warp.scheduler];
        warp.place = static_cast<std::uint32_t>(scheduler.warps.size());
        scheduler.warps.push_back(w);
        scheduler.ready.push_back(kNever);
        scheduler.unit.push_back(0);
      }
      for (std::uint32_t b = 0; b < sm.blocks.size(); ++b)
        sm.blocks[b].first_warp = static_cast<std::uint32_t>(b * warps);
    }
  }

  // Cycles between two warp instructions of one scheduler on its part of a pipe.
  double interval(Unit unit) const {
    const auto lanes = [&](double per_sm) { return kWarpSize * m_.schedulers_per_sm / per_sm; };
    switch (unit) {
      case Unit::fp32:
        return lanes(m_.fp32_lanes_per_sm);
      case Unit::half:
        return lanes(m_.half2_lanes_per_sm);
      case Unit::integer:
        return lanes(m_.int_lanes_per_sm);
      case Unit::multiply:
        return lanes(m_.multiply_lanes_per_sm);
      case Unit::fp64:
        return lanes(m_.fp64_lanes_per_sm);
      case Unit::special:
        return lanes(m_.special_lanes_per_sm);
      case Unit::memory:
      case Unit::constant:
        return lanes(m_.memory_lanes_per_sm);
      case Unit::tensor:  // of one FMA
        return m_.schedulers_per_sm / (m_.tensor_fmas_per_clock * m_.mma_sync_share);
      case Unit::control:
        return 1;
    }
    ROOFWALK_CHECK(false);
  }

  std::uint32_t warps_per_block(const SimSm& sm) const {
    return static_cast<std::uint32_t>(sm.warps.size() / sm.blocks.size());
  }

  void start_block(SimSm& sm, SimBlock& block, Cycle now) {
    if (starts_.size() == blocks_) return;
    const BlockTrace& trace = in_.trace.blocks[traces_[starts_.size() % traces_.size()]];
    instructions_ += trace.instructions;
    block.number = starts_.size();
    starts_.push_back(now);
    ends_.push_back(now);
    ++live_blocks_;
    block.live = warps_per_block(sm);
    block.standing = 0;
    std::fill(std::begin(block.arrived), std::end(block.arrived), 0u);
    block.phases = phases_before(trace);
    block.waiting.clear();
    for (std::uint32_t w = 0; w < warps_per_block(sm); ++w) {
      SimWarp& warp = sm.warps[block.first_warp + w];
      warp.trace = &trace.warps[w];
      warp.entry = warp.outcome = warp.first_outcome = 0;
      warp.schedule = nullptr;
      warp.free_since = now;
      warp.blocked = {now, 0, Wait::dependency, 0};
      warp.barrier = -1;
      warp.late.clear();
      warp.most_late = kMostNotes;
      warp.open_copies = {};
      warp.copy_groups.clear();
      warp.stored = {};
      std::fill(warp.scores.begin(), warp.scores.end(), Score{});
      operations_ += warp.scores.size() / kScoresOfAnOperation;
    }
    for (std::uint32_t w = 0; w < warps_per_block(sm); ++w) advance(sm, sm.warps[block.first_warp + w]);
  }

  // No SM has its turn before `now` any more. By cycles, not by turns: a warp may wait for thousands at a time.
  void forget_before(Cycle now) {
    constexpr Cycle kEvery = 16'384;
    l2_.forget_before(now);
    dram_.forget_before(now);
    forget_at_ = now + kEvery;
  }

  // One cycle of an SM; returns the next cycle at which something may happen.
  Cycle step(SimSm& sm, Cycle now) {
    Cycle next = kNever;
    now_ = now;
    // The memory path is shared by all schedulers: who used it last is asked last.
    const std::size_t count = sm.schedulers.size(), first = sm.first_scheduler;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t s = (first + i) % count;
      Scheduler& scheduler = sm.schedulers[s];
      if (scheduler.free <= now) {
        int chosen = choose(sm, scheduler);
        while (chosen >= 0 && !has_place(sm, sm.warps[scheduler.warps[static_cast<std::size_t>(chosen)]]))
          chosen = choose(sm, scheduler);
        if (chosen < 0) continue;
        const auto unit = static_cast<Unit>(scheduler.unit[static_cast<std::size_t>(chosen)]);
        if (unit == Unit::memory || unit == Unit::constant) sm.first_scheduler = (s + 1) % count;
        issue(sm, scheduler, sm.warps[scheduler.warps[static_cast<std::size_t>(chosen)]]);
      }
    }
    // Issuing may have woken warps of any scheduler, so the next event is sought when all have had their turn.
    for (const Scheduler& scheduler : sm.schedulers) next = std::min(next, next_event(sm, scheduler));
    sm.next = next;
    return next;
  }

  // The memory path takes what fits into its own pipeline; the rest waits with the warps.
  double path_opens(const SimSm& sm) const {
    return std::max(sm.memory_path.free - m_.shared_latency_cycles, sm.path_closed_until);
  }

  double constant_path_opens(const SimSm& sm) const {
    return std::max(sm.constant_path.free - m_.constant_l1_latency_cycles, sm.path_closed_until);
  }

  double unit_opens(const SimSm& sm, const Scheduler& scheduler, std::uint8_t unit) const {
    const double opens = scheduler.units[unit];
    if (unit == static_cast<std::uint8_t>(Unit::memory)) return std::max(opens, path_opens(sm));
    if (unit == static_cast<std::uint8_t>(Unit::constant)) return std::max(opens, constant_path_opens(sm));
    return opens;
  }

  // The place of the warp to issue from, -1 where none can: the last one again; else of the block that has been there
  // longest, the warp whose last issue is longest ago. So a warp runs on while it can, warps of a block keep pace, and
  // blocks do not: what one waits for, another covers. (Which warp hardware takes is not published; that it is greedy
  // first has been found by measuring: arXiv 2503.20481.)
  int choose(const SimSm& sm, Scheduler& scheduler) const {
    const double soon = static_cast<double>(now_) + 1;
    const auto can = [&](std::size_t place) {
      return scheduler.ready[place] <= now_ && unit_opens(sm, scheduler, scheduler.unit[place]) < soon;
    };
    if (scheduler.warps.empty()) return -1;
    if (can(scheduler.last)) return static_cast<int>(scheduler.last);
    int oldest = -1;
    std::pair<std::size_t, Cycle> since{blocks_, 0};
    for (std::size_t place = 0; place < scheduler.ready.size(); ++place) {
      if (!can(place)) continue;
      const SimWarp& warp = sm.warps[scheduler.warps[place]];
      const std::pair<std::size_t, Cycle> own{sm.blocks[warp.sim_block].number, warp.free_since};
      if (own >= since) continue;
      since = own;
      oldest = static_cast<int>(place);
    }
    if (oldest >= 0) scheduler.last = static_cast<std::size_t>(oldest);
    return oldest;
  }

  Cycle next_event(const SimSm& sm, const Scheduler& scheduler) const {
    Cycle next = kNever;
    for (std::size_t place = 0; place < scheduler.ready.size(); ++place) {
      if (scheduler.ready[place] >= next) continue;
      const auto opens = static_cast<Cycle>(std::floor(unit_opens(sm, scheduler, scheduler.unit[place])));
      next = std::min(next, std::max(scheduler.ready[place], opens));
    }
    return next == kNever ? kNever : std::max({next, scheduler.free, now_ + 1});
  }

  void issue(SimSm& sm, Scheduler& scheduler, SimWarp& warp) {
    const TimedOp& op = warp.schedule->ops[warp.op];
    WarpCycles& waits = waits_[op.pc];
    const double opened = unit_opens(sm, scheduler, static_cast<std::uint8_t>(op.unit));
    account(sm, warp, op, waits, opened);

    const Cycle issued = now_ + op.issues;
    ++operations_;
    waits[Wait::issued] += op.issues;
    scheduler.free = issued;
    warp.free_since = issued;
    const auto unit = static_cast<std::size_t>(op.unit);
    // A memory instruction whose guard is off in every lane takes its turn to issue and nothing else.
    const bool off = op.memory >= 0 && outcome_of(warp, op) == Outcome{};
    const double work = off ? 0 : op.unit == Unit::tensor ? op.tensor_fmas : op.issues;
    scheduler.units[unit] = std::max(scheduler.units[unit], static_cast<double>(now_)) + interval_[unit] * work;

    Cycle ready = issued;  // of the warp's next operation, operands apart
    switch (op.kind) {
      case TimedKind::compute:
        set_results(warp, op, {issued - 1 + op.latency_cycles, op.pc, Wait::dependency, 0});
        break;
      case TimedKind::load:
      case TimedKind::store:
      case TimedKind::atomic:
      case TimedKind::async_copy:
        if (const Score done = access(sm, warp, op); !swaps_of(warp, op).empty()) {  // a loop holds the warp
          ++warp.op;
          arrive_at_phases(sm, warp, op, std::max(issued, done.ready));
          warp.blocked = done;
          return advance(sm, warp);
        }
        arrive_at_phases(sm, warp, op, issued);
        break;
      case TimedKind::load_constant:
        access_constants(sm, warp, op);
        break;
      case TimedKind::async_commit: {
        if (!entered(warp, op) || off) break;
        Score group = warp.open_copies;
        if (!warp.copy_groups.empty() && warp.copy_groups.back().ready > group.ready) group = warp.copy_groups.back();
        add_group(warp, group);
        warp.open_copies = {};
        arrive_at_phases(sm, warp, op, std::max(issued, group.ready));
        break;
      }
      case TimedKind::async_wait:
        break;  // operands() waited
      case TimedKind::barrier:
        if (!entered(warp, op) || off) break;
        ++warp.op;
        return arrive(sm, warp, op, op.memory >= 0 ? outcome_of(warp, op) : Outcome{});
      case TimedKind::branch:
      case TimedKind::leave:
        ready = now_ + op.latency_cycles;  // the next program counter is a result like any other
        break;
    }
    ++warp.op;
    warp.blocked = {ready, op.pc, Wait::dependency, 0};
    advance(sm, warp);
  }

  // Nobody waits for what has so many groups behind it.
  static void add_group(SimWarp& warp, const Score& group) {
    constexpr std::size_t kKept = 256;
    if (warp.copy_groups.size() == 2 * kKept)
      warp.copy_groups.erase(warp.copy_groups.begin(), warp.copy_groups.end() - kKept);
    warp.copy_groups.push_back(group);
  }

  // What waiting for its unit is.
  static Wait queue_of(const TimedOp& op) { return op.unit == Unit::constant ? Wait::constant : Wait::pipe; }

  // Splits the time since the warp's last issue: first for its operands, then for a unit, then for its turn.
  void account(const SimSm& sm, SimWarp& warp, const TimedOp& op, WarpCycles& waits, double opened) {
    const Cycle from = warp.free_since;
    const Cycle operands = std::clamp(warp.blocked.ready, from, now_);
    if (operands > from) {
      const auto cycles = static_cast<double>(operands - from);
      WarpCycles& blamed = waits_[warp.blocked.pc];
      blamed[warp.blocked.cause] += cycles * (1 - warp.blocked.conflict_share);
      blamed[Wait::bank_conflict] += cycles * warp.blocked.conflict_share;
    }
    const Cycle unit = std::clamp(round_up(std::floor(opened)), operands, now_);
    (op.unit == Unit::memory ? path_waits_[op.pc] : waits[queue_of(op)]) += static_cast<double>(unit - operands);
    waits[Wait::issue] += static_cast<double>(now_ - unit);
    if (sm.blocks[warp.sim_block].standing != 0) note_late(sm, warp, op, operands, unit);
  }

  // The same for the part since others of its block stand at a barrier: should this warp come last, it is what they
  // wait for.
  void note_late(const SimSm& sm, SimWarp& warp, const TimedOp& op, Cycle operands, Cycle unit) const {
    const Cycle since = sm.blocks[warp.sim_block].first_stood;
    const auto note = [&](std::uint32_t pc, Wait cause, Cycle from, Cycle until, double conflict_share) {
      const auto cycles = static_cast<double>(until - std::max(from, since));
      if (cycles <= 0) return;
      if (conflict_share > 0)
        warp.late.push_back({pc, Wait::bank_conflict, static_cast<float>(cycles * conflict_share)});
      warp.late.push_back({pc, cause, static_cast<float>(cycles * (1 - conflict_share))});
    };
    if (warp.late.size() >= warp.most_late) fold(warp);
    const bool is_path = op.unit == Unit::memory && sm.path_cycles > 0;
    note(warp.blocked.pc, warp.blocked.cause, warp.free_since, operands,
         static_cast<double>(warp.blocked.conflict_share));
    note(op.pc, queue_of(op), operands, unit, is_path ? sm.conflict_cycles / sm.path_cycles : 0);
    note(op.pc, Wait::issue, unit, now_, 0);
    note(op.pc, Wait::issued, now_, now_ + op.issues, 0);
  }

  // One note for each instruction and cause. Where most are of different ones, the next time comes later.
  static void fold(SimWarp& warp) {
    std::vector<Late>& notes = warp.late;
    const auto key = [](const Late& n) { return std::pair{n.pc, n.cause}; };
    std::sort(notes.begin(), notes.end(), [&](const Late& a, const Late& b) { return key(a) < key(b); });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < notes.size(); ++i) {
      if (key(notes[i]) == key(notes[kept])) {
        notes[kept].cycles += notes[i].cycles;
      } else {
        notes[++kept] = notes[i];
      }
    }
    notes.resize(kept + 1);
    warp.most_late = std::max(kMostNotes, 2 * notes.size());
  }

  static void set_results(const Schedule& schedule, SimWarp& warp, const TimedOp& op, const Score& score) {
    for (std::uint32_t i = 0; i < op.result_count; ++i) {
      warp.scores[schedule.operands[op.first_operand + i]] = score;
    }
  }
  void set_results(SimWarp& warp, const TimedOp& op, const Score& score) {
    set_results(*warp.schedule, warp, op, score);
  }

  static bool entered(const SimWarp& warp, const TimedOp& op) { return warp.parts[op.part] != kNotEntered; }

  static const Outcome& outcome_of(const SimWarp& warp, const TimedOp& op) {
    static constexpr Outcome kNothing;
    return entered(warp, op) ? warp.trace->outcomes[outcome_place(warp, op)] : kNothing;
  }
  // Among the warp's; of a block that it entered.
  static std::size_t outcome_place(const SimWarp& warp, const TimedOp& op) {
    return warp.parts[op.part] + static_cast<std::size_t>(op.memory);
  }

  // Whether there is room among the sectors in flight for what the warp asks next; else the memory path is closed until
  // there is.
  bool has_place(SimSm& sm, const SimWarp& warp) {
    const TimedOp& op = warp.schedule->ops[warp.op];
    if (op.memory < 0) return true;
    const Outcome& o = outcome_of(warp, op);
    const double from = std::max(place_for(sm.reads, o.l2_read_sectors), place_for(sm.writes, o.l2_write_sectors));
    if (from < static_cast<double>(now_) + 1) return true;
    sm.path_closed_until = from;
    return false;
  }

  double place_for(SimSm::Outstanding& in_flight, std::uint32_t sectors) const {
    if (sectors == 0) return 0;
    const auto limit = static_cast<std::uint32_t>(m_.sectors_in_flight_per_sm);
    double from = 0;
    while (!in_flight.requests.empty() &&
           (in_flight.requests.top().first <= static_cast<double>(now_) || in_flight.sectors + sectors > limit)) {
      from = in_flight.requests.top().first;
      if (from >= static_cast<double>(now_) + 1) return from;
      in_flight.sectors -= in_flight.requests.top().second;
      in_flight.requests.pop();
    }
    return from;
  }

  Score access(SimSm& sm, SimWarp& warp, const TimedOp& op) {
    const Outcome& o = outcome_of(warp, op);
    const auto now = static_cast<double>(now_);
    if (o == Outcome{}) {  // its guard was off
      const Score score{now_ + 1, op.pc, Wait::dependency, 0};
      if (op.kind != TimedKind::async_copy) set_results(warp, op, score);
      return score;
    }
    const double l1 = std::max(o.lines / m_.l1_lines_per_clock, o.sectors * kSectorBytes / m_.l1_bytes_per_clock);
    const double wavefront = kLineBytes / m_.shared_bytes_per_clock;
    const double path = l1 + o.shared_wavefronts * wavefront;
    const double start = std::max(now, sm.memory_path.free);
    Score score{0, op.pc, Wait::l1, 0};
    double delay = 0, latency = m_.l1_latency_cycles;
    if (o.l2_read_sectors != 0 || o.l2_write_sectors != 0) {
      std::tie(delay, latency) = ask_l2(sm, op, o, start + path, score);
    } else if (o.shared_wavefronts != 0 && o.lines == 0) {
      score.cause = Wait::shared;
      latency = m_.shared_latency_cycles;
    }
    sm.memory_path.free = start + path;
    sm.path_cycles += path;
    sm.conflict_cycles += o.shared_conflicts * wavefront;
    // The published latencies are of requests that take the path for one cycle.
    const double queued = start - now, beyond = std::max(path - 1, 0.0);
    double done = now + queued + beyond + delay + latency;
    if (const auto swaps = swaps_of(warp, op); !swaps.empty()) done = swap(sm, warp, swaps, done);
    if (o.shared_conflicts != 0 || queued > 0) {
      const double share = sm.conflict_cycles / sm.path_cycles;
      score.conflict_share =
          static_cast<float>(std::min(1.0, (queued * share + o.shared_conflicts * wavefront) / (done - now)));
    }
    score.ready = round_up(done);
    if (o.line != 0 && op.kind != TimedKind::atomic) wait_for_line(sm, o, score);
    wait_for_own(sm, warp, op, o, score);
    sm.end = std::max(sm.end, op.kind == TimedKind::load || op.kind == TimedKind::atomic ? done : start + path);
    if (op.kind == TimedKind::async_copy) {
      if (score.ready > warp.open_copies.ready) warp.open_copies = score;
    } else {
      set_results(warp, op, score);
    }
    // What nothing waits for but fences: that others can see it.
    const bool is_global = o.lines != 0 || o.l2_write_sectors != 0;
    if (is_global && (op.kind == TimedKind::store || op.kind == TimedKind::atomic)) {
      const Cycle seen = std::max(score.ready, now_ + round_up(m_.l2_latency_cycles));
      if (seen > warp.stored.ready) warp.stored = {seen, op.pc, Wait::l2, 0};
    }
    return score;
  }

  static std::span<const Swaps> swaps_of(const SimWarp& warp, const TimedOp& op) {
    if (op.kind != TimedKind::atomic) return {};
    return notes_of(warp.trace->swaps, warp, op);
  }

  // The end of an atomic that is a loop around a compare-and-swap, whose words have been read by `read`. Of all that
  // read a word, one swaps it; the others read what it left there and try again. So swaps of a word come one a turn of
  // that loop: in shared memory a load and the swap, in global memory the swap, which returns what it found.
  double swap(SimSm& sm, const SimWarp& warp, std::span<const Swaps> all, double read) {
    const bool shared = all.front().shared;
    const double turn = swap_cycles(m_, shared);
    const double first = shared ? read - m_.shared_latency_cycles : read;  // the read is part of the first turn
    double end = read;
    for (const Swaps& each : all) {
      double& swapped = shared ? sm.swapped[std::uint64_t{warp.sim_block} << 32 | each.word] : swapped_[each.word];
      const double start = std::max(first, swapped), taken = turn * each.lanes;
      swapped = start + taken * (words_of_several_.contains(each.word) && !shared ? others_ : 1);
      end = std::max(end, start + taken);
    }
    return end;
  }

  // Asks L2, and what is behind it, for the sectors of a request that is past the SM's own caches: how long it is held
  // up, and the latency besides. Says in `score` who has to be waited for.
  std::pair<double, double> ask_l2(SimSm& sm, const TimedOp& op, const Outcome& o, double past, Score& score) {
    const std::uint32_t sectors = std::uint32_t{o.l2_read_sectors} + o.l2_write_sectors;
    double at_l2 = past;
    double own = 0;
    if (o.l2_read_sectors != 0) {
      at_l2 = sm.port_in.serve(past, o.l2_read_sectors * port_sector_);
      own = (o.l2_read_sectors - 1) * port_sector_;
    }
    if (o.l2_write_sectors != 0) at_l2 = std::max(at_l2, sm.port_out.serve(past, o.l2_write_sectors * port_sector_));
    at_l2 = l2_.serve(at_l2, sectors * l2_sector_);
    double delay = at_l2 - past + own, latency = m_.l2_latency_cycles;
    score.cause = Wait::l2;
    double accepted = at_l2 + l2_sector_full_ * sectors;
    const std::uint32_t at_dram = std::uint32_t{o.dram_read_sectors} + o.dram_write_sectors;
    if (at_dram != 0) {
      const double served = dram_.serve(at_l2, at_dram * dram_sector_);
      accepted = served + dram_sector_full_ * at_dram;
      if (o.dram_read_sectors != 0) {
        delay += served - at_l2 + (o.dram_read_sectors - 1) * dram_sector_full_;
        score.cause = Wait::dram;
        latency = m_.dram_latency_cycles;
      }
    }
    if (o.arrives == Arrival::from_dram && o.dram_read_sectors == 0) {  // in L2 it is still on its way
      score.cause = Wait::dram;
      latency = m_.dram_latency_cycles;
    }
    const double until = o.l2_read_sectors != 0 || op.kind == TimedKind::atomic ? past + delay + latency : accepted;
    const auto put = [&](SimSm::Outstanding& in_flight, std::uint32_t count) {
      if (count == 0) return;
      in_flight.requests.emplace(until, count);
      in_flight.sectors += count;
    };
    put(sm.reads, o.l2_read_sectors);
    put(sm.writes, o.l2_write_sectors);
    return {delay, latency};
  }

  // Indexed constants: a word a pass. What the second cache lacks takes as much longer than what it has as with L1.
  void access_constants(SimSm& sm, SimWarp& warp, const TimedOp& op) {
    const Outcome& o = outcome_of(warp, op);
    if (o == Outcome{}) {  // its guard was off
      set_results(warp, op, {now_ + 1, op.pc, Wait::dependency, 0});
      return;
    }
    const auto now = static_cast<double>(now_);
    const double path = o.lines / m_.constant_words_per_clock;
    const double start = sm.constant_path.serve(now, path);
    Score score{0, op.pc, Wait::constant, 0};
    double delay = 0, latency = o.sectors != 0 ? m_.constant_l15_latency_cycles : m_.constant_l1_latency_cycles;
    if (o.l2_read_sectors != 0) {
      double behind_l1 = 0;
      std::tie(delay, behind_l1) = ask_l2(sm, op, o, start + path, score);
      latency += behind_l1 - m_.l1_latency_cycles;
    }
    const double done = start + std::max(path - 1, 0.0) + delay + latency;
    score.ready = round_up(done);
    if (o.line != 0) wait_for_line(sm, o, score);
    sm.end = std::max(sm.end, done);
    set_results(warp, op, score);
  }

  // Who fetches a line tells when it comes; who finds it on its way waits for it. Where nobody in the simulation has
  // asked for it yet, the first one waits as long as who asks does, and the others for the first.
  void wait_for_line(SimSm& sm, const Outcome& o, Score& score) const {
    SimSm::Arriving& line = sm.arriving[o.line % kLineHashes];
    if (o.l2_read_sectors != 0) {
      if (line.hash != o.line || score.ready > line.ready) line = {score.ready, score.cause, o.line};
      return;
    }
    // Long past, it was another time that the line came.
    constexpr double kLatencies = 64;
    const bool past = static_cast<double>(line.ready) + kLatencies * m_.dram_latency_cycles < static_cast<double>(now_);
    if (line.hash != o.line || past) {
      const bool dram = o.arrives == Arrival::from_dram;
      const double latency = dram ? m_.dram_latency_cycles : m_.l2_latency_cycles;
      line = {now_ + round_up(latency), dram ? Wait::dram : Wait::l2, o.line};
    }
    if (line.ready <= score.ready) return;
    score.ready = line.ready;
    score.cause = line.cause;
    score.conflict_share = 0;
  }

  // The same of what its own block asked for: all of that is in the simulation.
  void wait_for_own(SimSm& sm, const SimWarp& warp, const TimedOp& op, const Outcome& o, Score& score) const {
    const SimBlock& block = sm.blocks[warp.sim_block];
    for (const Found& found : notes_of(warp.trace->found, warp, op)) {
      const auto [at, key] = asked(sm, block, found.fetching_warp, found.fetch);
      if (at->key != key) {
        const SimWarp& fetching = sm.warps[block.first_warp + found.fetching_warp];
        if (found.fetch < fetching.first_outcome) continue;  // long ago
        // Here this one comes first: it waits as long as the other did.
        const Outcome& fetch = fetching.trace->outcomes[found.fetch];
        const bool dram = fetch.dram_read_sectors != 0 || fetch.arrives == Arrival::from_dram;
        const double latency = dram ? m_.dram_latency_cycles : m_.l2_latency_cycles;
        *at = {key, now_ + round_up(latency), dram ? Wait::dram : Wait::l2};
      }
      if (at->ready > score.ready) score = {at->ready, score.pc, at->cause, 0};
    }
    if (o.l2_read_sectors == 0 && o.dram_read_sectors == 0) return;
    const auto [at, key] = asked(sm, block, warp.trace->warp, outcome_place(warp, op));
    *at = {key, score.ready, score.cause};
  }

  // Where it is kept when a request of a warp of the block is over, and its key; another's may be there.
  static std::pair<SimSm::Asked*, std::uint64_t> asked(SimSm& sm, const SimBlock& block, std::uint32_t warp,
                                                       std::size_t outcome) {
    const std::uint64_t key = block.number << 38 ^ std::uint64_t{warp} << 32 ^ outcome;  // a block has at most 32 warps
    return {&sm.asked[mix(key) % kAskedHashes], key};
  }

  // `told`: of a barrier that only a run tells.
  void arrive(SimSm& sm, SimWarp& warp, const TimedOp& op, const Outcome& told) {
    SimBlock& block = sm.blocks[warp.sim_block];
    const int barrier = told.line != 0 ? told.line - 1 : op.groups;
    ++block.arrived[barrier];
    const ptx::Instruction& in = instruction(op.pc);
    const bool waits = in.barrier != ptx::BarrierMode::arrive;
    if (waits) {
      if (block.standing++ == 0) block.first_stood = warp.free_since;
      warp.barrier = barrier;
      warp.blocked.pc = op.pc;
      hold(sm, warp);
    }
    const std::uint64_t warps = told.line != 0 ? told.copies : (threads_of(in) + kWarpSize - 1) / kWarpSize;
    const std::uint64_t wanted = warps != 0 ? warps : block.live;
    if (block.arrived[barrier] >= wanted) open_barrier(sm, block, barrier, &warp);
    if (!waits) {
      warp.blocked = {now_ + 1, op.pc, Wait::dependency, 0};
      advance(sm, warp);
    }
  }

  const ptx::Instruction& instruction(std::uint32_t pc) const { return in_.program.function->instructions[pc]; }

  // The phases at which a block's warps meet, before any of them arrived.
  const std::vector<SimPhase>& phases_before(const BlockTrace& trace) {
    const auto [place, is_new] = phases_before_.try_emplace(&trace);
    if (is_new) place->second = count_phases(trace);
    return place->second;
  }

  static std::vector<SimPhase> count_phases(const BlockTrace& trace) {
    std::vector<SimPhase> phases;
    for (const WarpTrace& warp : trace.warps) {
      for (const Meeting& meeting : warp.meetings) {
        if (phases.size() <= meeting.number) phases.resize(meeting.number + 1);
        phases[meeting.number].wanted += meeting.kind == Meeting::Kind::arrives ? 1 : 0;
      }
    }
    for (const WarpTrace& warp : trace.warps) {
      std::uint32_t arrives = 0;  // where the instruction does: that comes behind what it follows
      for (std::size_t i = warp.meetings.size(); i-- > 0;) {
        const Meeting& meeting = warp.meetings[i];
        if (meeting.kind == Meeting::Kind::arrives) arrives = meeting.number;
        // Of a trace that was cut off nobody may arrive.
        if (meeting.kind != Meeting::Kind::follows || phases[meeting.number].wanted == 0) continue;
        phases[meeting.number].followers.push_back(arrives);
        ++phases[arrives].wanted;
      }
    }
    return phases;
  }

  static std::span<const Meeting> meetings_of(const SimWarp& warp, const TimedOp& op) {
    return notes_of(warp.trace->meetings, warp, op);
  }

  // What a trace notes beside the outcome of an instruction.
  template <class Note>
  static std::span<const Note> notes_of(const std::vector<Note>& all, const SimWarp& warp, const TimedOp& op) {
    if (all.empty() || op.memory < 0 || !entered(warp, op)) return {};
    const auto outcome = static_cast<std::uint32_t>(outcome_place(warp, op));
    const auto first = std::lower_bound(all.begin(), all.end(), outcome,
                                        [](const Note& note, std::uint32_t of) { return note.outcome < of; });
    return {first, std::find_if(first, all.end(), [&](const Note& note) { return note.outcome != outcome; })};
  }

  // What others wait for ends at `at` at the earliest.
  void arrive_at_phases(SimSm& sm, const SimWarp& warp, const TimedOp& op, Cycle at) {
    SimBlock& block = sm.blocks[warp.sim_block];
    for (const Meeting& meeting : meetings_of(warp, op)) {
      if (meeting.kind != Meeting::Kind::arrives) continue;
      SimPhase& phase = block.phases[meeting.number];
      phase.ends = std::max(phase.ends, at);
      if (++phase.arrived == phase.wanted) end_phase(sm, block, meeting.number);
    }
  }

  void end_phase(SimSm& sm, SimBlock& block, std::uint32_t number) {
    std::vector<std::uint32_t> over{number}, warps;
    for (std::size_t i = 0; i < over.size(); ++i) {
      SimPhase& phase = block.phases[over[i]];
      phase.wanted = phase.arrived;
      for (const std::uint32_t follower : phase.followers) {
        SimPhase& next = block.phases[follower];
        next.ends = std::max(next.ends, phase.ends);
        if (++next.arrived == next.wanted) over.push_back(follower);
      }
      std::erase_if(block.waiting, [&](const WaitingWarp& one) {
        if (one.phase == over[i]) warps.push_back(one.warp);
        return one.phase == over[i];
      });
    }
    for (const std::uint32_t warp : warps) advance(sm, sm.warps[warp]);
  }

  // Whether the warp's next operation may issue, as far as others are concerned, and from when on.
  bool has_met(SimSm& sm, const SimWarp& warp, const TimedOp& op, Score& blocked) {
    SimBlock& block = sm.blocks[warp.sim_block];
    for (const Meeting& meeting : meetings_of(warp, op)) {
      if (meeting.kind != Meeting::Kind::waits) continue;
      const SimPhase& phase = block.phases[meeting.number];
      if (phase.arrived < phase.wanted) {
        block.waiting.push_back({meeting.number, static_cast<std::uint32_t>(&warp - sm.warps.data())});
        return false;
      }
      if (phase.ends > blocked.ready) blocked = {phase.ends, op.pc, Wait::barrier, 0};
    }
    return true;
  }

  // `last`: the warp that all others waited for, where there is one.
  void open_barrier(SimSm& sm, SimBlock& block, int barrier, const SimWarp* last) {
    block.arrived[barrier] = 0;
    if (last != nullptr) blame(sm, block, barrier, *last);
    const Cycle opens = now_ + round_up(m_.barrier_latency_cycles);
    for (std::uint32_t w = 0; w < warps_per_block(sm); ++w) {
      SimWarp& warp = sm.warps[block.first_warp + w];
      warp.late.clear();
      warp.most_late = kMostNotes;
      if (warp.barrier != barrier) continue;
      warp.barrier = -1;
      --block.standing;
      warp.blocked = {opens, warp.blocked.pc, Wait::barrier, 0};
      advance(sm, warp);
    }
  }

  // Those who stood at the barrier waited for what the last one did meanwhile.
  void blame(const SimSm& sm, const SimBlock& block, int barrier, const SimWarp& last) {
    double stood = 0, all = 0;
    std::uint32_t pc = 0;
    for (std::uint32_t w = 0; w < warps_per_block(sm); ++w) {
      const SimWarp& warp = sm.warps[block.first_warp + w];
      if (warp.barrier != barrier) continue;
      pc = warp.blocked.pc;
      stood += static_cast<double>(std::max<Cycle>(last.free_since - warp.free_since, 0));
    }
    for (const Late& note : last.late) all += static_cast<double>(note.cycles);
    if (stood <= 0 || all <= 0) return;
    const auto [place, is_new] = held_up_at_.try_emplace(pc, held_up_.size());
    if (is_new) held_up_.push_back({pc, {}});
    HeldUp& held = held_up_[place->second];
    for (const Late& note : last.late) {
      if (blamed_ == kMostBlamed && !held.by_instruction.contains(note.pc)) continue;
      const auto [waits, is_first] = held.by_instruction.try_emplace(note.pc);
      if (is_first) ++blamed_;
      waits->second[note.cause] += stood / all * static_cast<double>(note.cycles);
    }
  }

  // A trace does not tell every barrier in full: which warps a guard kept out, how many a register counts, who comes
  // where recording ended. Where so nothing moves any more, all barriers open; the run that was traced came through.
  std::vector<std::uint32_t> release_stuck() {
    std::vector<std::uint32_t> moved;
    for (std::uint32_t i = 0; i < sms_.size(); ++i) {
      SimSm& sm = sms_[i];
      bool waits = false;
      for (SimBlock& block : sm.blocks) {
        for (int barrier = 0; block.live != 0 && barrier < kBarriers; ++barrier) {
          if (block.arrived[barrier] == 0) continue;
          waits = true;
          open_barrier(sm, block, barrier, nullptr);
        }
        while (block.live != 0 && !block.waiting.empty()) {
          waits = true;
          end_phase(sm, block, block.waiting.front().phase);
        }
      }
      if (waits) moved.push_back(i);
    }
    return moved;
  }

  void hold(SimSm& sm, SimWarp& warp) { sm.schedulers[warp.scheduler].ready[warp.place] = kNever; }

  // Whether what the warp runs next is what a schedule holds; if so, takes it up.
  bool enter(SimWarp& warp, const Schedule& schedule) const {
    const auto& path = warp.trace->blocks;
    const std::uint32_t first = path[warp.entry];
    std::size_t entry = warp.entry, outcome = warp.outcome;
    for (std::size_t part = 0; part < std::size_t{schedule.copies} * schedule.members; part += schedule.members) {
      const auto parts = warp.parts.begin() + static_cast<std::ptrdiff_t>(part);
      std::fill_n(parts, schedule.members, kNotEntered);
      if (entry == path.size() || path[entry] != first) return false;
      // Each way leads from the first to the last. A warp that comes apart may take one after the other, but what it
      // runs twice is no longer one piece of code.
      while (parts[schedule.members - 1] == kNotEntered) {
        if (entry == path.size()) return false;
        const std::uint32_t member = path[entry] - first;
        if (member >= schedule.members || parts[member] != kNotEntered) return false;
        parts[member] = outcome;
        outcome += memory_ops_[path[entry++]];
      }
    }
    warp.schedule = &schedule;
    warp.entry = entry;
    warp.first_outcome = warp.outcome;
    warp.outcome = outcome;
    warp.op = 0;
    return true;
  }

  // Finds the warp's next operation and when its operands are there; ends the warp where none is left.
  void advance(SimSm& sm, SimWarp& warp) {
    while (warp.schedule == nullptr || warp.op == warp.schedule->ops.size()) {
      if (warp.schedule != nullptr) {
        for (const auto& [to, from, joins] : warp.schedule->renames) {
          if (!joins || warp.scores[from].ready > warp.scores[to].ready) warp.scores[to] = warp.scores[from];
        }
        operations_ += warp.schedule->renames.size() / kRenamesOfAnOperation;
      }
      if (warp.entry == warp.trace->blocks.size()) return end_warp(sm, warp);
      for (const Schedule& schedule : in_.schedule.blocks[warp.trace->blocks[warp.entry]]) {
        if (enter(warp, schedule)) break;
      }
    }
    const TimedOp& op = warp.schedule->ops[warp.op];
    Score blocked = warp.blocked;
    for (std::uint32_t i = 0; i < op.source_count; ++i) {
      const Score& score = warp.scores[warp.schedule->operands[op.first_operand + op.result_count + i]];
      if (score.ready > blocked.ready) blocked = score;
    }
    if (op.kind == TimedKind::async_wait && entered(warp, op)) {
      const std::size_t groups = warp.copy_groups.size();
      if (op.groups == kAllGroups && warp.open_copies.ready > blocked.ready) blocked = warp.open_copies;
      const std::size_t may_fly = op.groups == kAllGroups ? 0 : op.groups;
      if (groups > may_fly && warp.copy_groups[groups - 1 - may_fly].ready > blocked.ready)
        blocked = warp.copy_groups[groups - 1 - may_fly];
    }
    if (!has_met(sm, warp, op, blocked)) return hold(sm, warp);
    if (orders_stores_[op.pc] && warp.stored.ready > blocked.ready && entered(warp, op)) blocked = warp.stored;
    const bool waits_at_mbarrier =
        op.kind == TimedKind::atomic && instruction(op.pc).mbarrier != ptx::MbarrierMode::none;
    if (waits_at_mbarrier && op.memory >= 0 && entered(warp, op)) {
      const std::size_t may_fly = outcome_of(warp, op).copies, groups = warp.copy_groups.size();
      if (may_fly != 0 && groups >= may_fly && warp.copy_groups[groups - may_fly].ready > blocked.ready)
        blocked = warp.copy_groups[groups - may_fly];
    }
    warp.blocked = blocked;
    Scheduler& scheduler = sm.schedulers[warp.scheduler];
    scheduler.ready[warp.place] = std::max(blocked.ready, warp.free_since);
    scheduler.unit[warp.place] = static_cast<std::uint8_t>(op.unit);
  }

  void end_warp(SimSm& sm, SimWarp& warp) {
    lived_ += static_cast<double>(warp.free_since - starts_[sm.blocks[warp.sim_block].number]);
    hold(sm, warp);
    warp.schedule = nullptr;
    SimBlock& block = sm.blocks[warp.sim_block];
    sm.end = std::max(sm.end, static_cast<double>(warp.free_since));
    if (--block.live == 0) {
      --live_blocks_;
      ends_[block.number] = warp.free_since;
      start_block(sm, block, warp.free_since);
      return;
    }
    for (int barrier = 0; barrier < kBarriers; ++barrier) {
      if (block.arrived[barrier] != 0 && block.arrived[barrier] >= block.live) open_barrier(sm, block, barrier, &warp);
    }
  }

  void settle_waits() {
    double path = 0, conflicts = 0;
    for (const SimSm& sm : sms_) {
      path += sm.path_cycles;
      conflicts += sm.conflict_cycles;
    }
    const double share = path == 0 ? 0 : conflicts / path;
    for (std::size_t pc = 0; pc < waits_.size(); ++pc) {
      waits_[pc][Wait::bank_conflict] += path_waits_[pc] * share;
      waits_[pc][Wait::pipe] += path_waits_[pc] * (1 - share);
    }
  }

  const ClockInput& in_;
  const Machine& m_;
  const Words& words_of_several_;
  std::vector<std::uint32_t> traces_;
  std::uint64_t blocks_;                                                              // to run
  double dram_sector_full_, l2_sector_full_, dram_sector_, l2_sector_, port_sector_;  // cycles
  double interval_[kUnitCount];
  std::vector<std::size_t> memory_ops_;  // by basic block
  std::map<const BlockTrace*, std::vector<SimPhase>> phases_before_;
  std::vector<SimSm> sms_;
  std::vector<bool> orders_stores_;  // by PTX instruction: it waits until what was stored before it can be seen
  double others_ = 1;                // SMs of the machine for each that is simulated
  std::unordered_map<std::uint32_t, double> swapped_;  // of global memory, by hash: the end of a word's last swap
  SharedServer l2_, dram_;
  std::vector<Cycle> starts_, ends_;
  std::uint64_t live_blocks_ = 0;
  Cycle now_ = 0, forget_at_ = 0;
  double end_ = 0, lived_ = 0;  // lived_: cycles of all warps, from start to end
  std::uint64_t instructions_ = 0, operations_ = 0;
  std::vector<WarpCycles> waits_;   // by PTX instruction
  std::vector<double> path_waits_;  // for the memory path, by PTX instruction
  std::vector<HeldUp> held_up_;
  std::unordered_map<std::uint32_t, std::size_t> held_up_at_;  // by the barrier: its place there
  std::size_t blamed_ = 0;  // instructions that `held_up_` names, again for each barrier
};

}  // namespace roofwalk::vgpu
