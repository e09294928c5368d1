// The timing model of the SMs, cycle by cycle: schedulers, scoreboards, pipes, the memory path, L2 and DRAM. Its
// parts are headers in sm/, so that everything is inlined into one loop. Only timing_model.cpp includes this.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/vgpu/memory/sectors.h"
#include "common/vgpu/timing/block_latency.h"
#include "common/vgpu/timing/instruction_cost.h"
#include "common/vgpu/timing/sm/replayed_grid.h"
#include "common/vgpu/timing/sm_state.h"
#include "common/vgpu/timing/timing_model.h"

namespace roofwalk::vgpu {

inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max() / 4;

inline constexpr double kLongAgo = -1e18;

// Limit on the number of pairs of a barrier and an instruction that held it up; a chapter's kernels have a few dozen.
inline constexpr std::size_t kMostBlamed = 500'000;

// Resetting this many scoreboard slots takes as much host time as issuing one operation.
inline constexpr std::size_t kScoresOfAnOperation = 64;

inline constexpr std::size_t kLineHashes = 4096, kAskedHashes = 4096;

inline Cycle round_up(double cycles) { return static_cast<Cycle>(std::ceil(cycles - 1e-9)); }

class Simulation {
 public:
  enum class Keeps : std::uint8_t { times, waits };  // waits: also what warps waited for, with the times

  // Prepares to run `blocks` blocks on `sms` SMs, which together have `share_of_memory` of the bandwidth of L2 and
  // DRAM. The blocks use `traces` (indices into the input's traces) in turn. `grid`: made from the same input.
  Simulation(const TimingInput& input, const ReplayedGrid& grid, std::vector<std::uint32_t> traces, int sms,
             double share_of_memory, std::uint64_t blocks, Keeps keeps)
      : in_(input), m_(input.machine), grid_(grid), traces_(std::move(traces)), blocks_(blocks) {
    dram_sector_full_ = kSectorBytes * m_.clock_hz / (m_.dram_bytes_per_s * m_.dram_sustained_share);
    l2_sector_full_ = kSectorBytes / m_.l2_bytes_per_clock;
    dram_sector_ = dram_sector_full_ / share_of_memory;
    l2_sector_ = l2_sector_full_ / share_of_memory;
    if (m_.dram_page_opens_per_s != 0) dram_page_ = m_.clock_hz / (m_.dram_page_opens_per_s * share_of_memory);
    port_sector_ = kSectorBytes / m_.l2_port_bytes_per_clock;
    port_sector_out_ = kSectorBytes / m_.l2_port_write_bytes_per_clock;
    update_ = 1 / (m_.atomic_updates_per_clock * share_of_memory);
    shared_interval_ = shared_interval(m_);
    register_read_ = 1 / m_.register_reads_per_clock;
    for (std::size_t u = 0; u < kUnitCount; ++u) interval_[u] = unit_interval(m_, static_cast<Unit>(u));
    if (keeps == Keeps::waits) {
      waits_.resize(input.program.function->instructions.size());
      path_waits_.resize(waits_.size());
    }
    others_ = 1 / share_of_memory;
    if (input.trace.complete && blocks == input.grid_blocks && traces_.size() == blocks)
      writes_.resize(input.trace.writes.size());
    lay_out(sms);
  }

  // Runs to the end. False if it stopped because it exceeded `most_operations`.
  bool run(std::uint64_t most_operations) {
    using Event = std::pair<Cycle, std::uint32_t>;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    for (std::size_t slot = 0; slot < sms_[0].blocks.size(); ++slot) {
      for (SimSm& sm : sms_) start_block(sm, sm.blocks[slot], 0, 0);
    }
    for (std::uint32_t i = 0; i < sms_.size(); ++i) events.push({0, i});
    while (!events.empty()) {
      auto [next, index] = events.top();
      events.pop();
      SimSm& sm = sms_[index];
      if (next != sm.next) continue;  // it was woken before that
      // This SM continues until the next event of another SM is earlier.
      const Cycle until = events.empty() ? kNever : events.top().first;
      do {
        if (operations_ > most_operations) return false;
        if (next >= forget_at_) forget_before(next);
        next = step(sm, next);
      } while (next < until && woken_.empty());
      if (next < kNever) events.push({next, index});
      if (events.empty() && woken_.empty()) woken_ = release_stuck();
      for (const std::uint32_t woken : woken_) {
        if (sms_[woken].next > now_ + 1) events.push({sms_[woken].next = now_ + 1, woken});
      }
      woken_.clear();
    }
    ROOFWALK_CHECK(live_blocks_ == 0);
    for (const SimSm& sm : sms_) end_ = std::max({end_, sm.end, sm.memory_path.free});
    end_ = std::max({end_, l2_.end(), dram_.end(), updates_.end()});
    for (const auto& [place, end] : changed_) end_ = std::max(end_, end);
    settle_waits();
    return true;
  }

  double end() const { return end_; }
  const std::vector<Cycle>& starts() const { return starts_; }  // of the blocks, in start order
  const std::vector<Cycle>& ends() const { return ends_; }      // in the same order
  const std::vector<WarpCycles>& waits() const { return waits_; }
  const std::vector<HeldUp>& held_up() const { return held_up_; }
  // Returns the cycles for which warp slots waited for blocks that had been sent to them.
  double starting() const { return starting_; }
  // How full the simulated SMs were, in cycles of all of them together: those with a resident block, those from an SM's
  // first block to its last, and those for which warps were resident.
  struct Residency {
    double active = 0, extent = 0, of_warps = 0;
  };
  Residency residency() const {
    Residency out{.of_warps = lived_};
    for (const SimSm& sm : sms_) {
      out.active += static_cast<double>(sm.active.count());
      out.extent += static_cast<double>(sm.active.extent());
    }
    return out;
  }
  // Returns the number of operations issued, plus other work in units of one operation's cost.
  std::uint64_t operations() const { return operations_; }
  // Returns the cycles that a warp takes per PTX instruction, including waits.
  double cycles_per_instruction() const { return instructions_ == 0 ? 0 : lived_ / static_cast<double>(instructions_); }

 private:
  std::uint32_t warps_per_block(const SimSm& sm) const {
    return static_cast<std::uint32_t>(sm.warps.size() / sm.blocks.size());
  }

  // Frees what L2, DRAM and the dispatch of blocks remember of the time before `now`, because no SM will have a turn
  // before it. Called after a number of cycles, not of turns, because a warp may wait for thousands of cycles at a
  // time.
  void forget_before(Cycle now) {
    constexpr Cycle kEvery = 16'384;
    l2_.forget_before(now);
    dram_.forget_before(now);
    updates_.forget_before(now);
    dispatch_.forget_before(now);
    forget_at_ = now + kEvery;
  }

  // Returns the reason that is reported for a wait for the operation's unit.
  static Wait queue_of(const TimedOp& op) { return op.unit == Unit::constant ? Wait::constant : Wait::pipe; }

  static bool entered(const SimWarp& warp, const TimedOp& op) { return warp.parts[op.part] != kNotEntered; }

  const ptx::Instruction& instruction(std::uint32_t pc) const { return in_.program.function->instructions[pc]; }

  // Returns the notes that a trace has for an operation in addition to its outcome.
  template <class Note>
  static std::span<const Note> notes_of(const std::vector<Note>& all, const SimWarp& warp, const TimedOp& op) {
    if (all.empty() || op.memory < 0 || !entered(warp, op)) return {};
    const auto outcome = static_cast<std::uint32_t>(outcome_place(warp, op));
    const auto first = std::lower_bound(all.begin(), all.end(), outcome,
                                        [](const Note& note, std::uint32_t of) { return note.outcome < of; });
    return {first, std::find_if(first, all.end(), [&](const Note& note) { return note.outcome != outcome; })};
  }

  void hold(SimSm& sm, SimWarp& warp) { sm.schedulers[warp.scheduler].ready[warp.place] = kNever; }

  // sm/block_dispatch.h
  void lay_out(int sms);
  void start_block(SimSm& sm, SimBlock& block, Cycle free, double starting);
  void end_warp(SimSm& sm, SimWarp& warp);

  // sm/warp_scheduler.h
  Cycle step(SimSm& sm, Cycle now);
  double path_opens(const SimSm& sm) const;
  double constant_path_opens(const SimSm& sm) const;
  double unit_opens(const SimSm& sm, const Scheduler& scheduler, std::uint8_t unit) const;
  int choose(const SimSm& sm, Scheduler& scheduler) const;
  Cycle next_event(const SimSm& sm, const Scheduler& scheduler) const;
  void issue(SimSm& sm, Scheduler& scheduler, SimWarp& warp);
  static void add_copies(std::vector<Score>& to, const Score& copies);

  // sm/scoreboard.h
  static void set_results(const Schedule& schedule, SimWarp& warp, const TimedOp& op, const Score& score);
  void set_results(SimWarp& warp, const TimedOp& op, const Score& score);
  bool enter(SimWarp& warp, const Schedule& schedule) const;
  using OpsByPc = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // PTX instruction, index of the operation
  const Schedule& schedule_of(const BlockPart& part);
  void enter_part(SimWarp& warp, const BlockPart& part);
  static bool takes_branch(const SimWarp& warp);
  void advance(SimSm& sm, SimWarp& warp);

  // sm/stall_reasons.h
  void account(const SimSm& sm, SimWarp& warp, const TimedOp& op, double opened);
  void note_late(const SimSm& sm, SimWarp& warp, const TimedOp& op, Cycle operands, Cycle unit) const;
  static void fold(SimWarp& warp);
  void blame(const SimSm& sm, const SimBlock& block, int barrier, const SimWarp& last);
  void settle_waits();

  // sm/memory_path.h
  static const Outcome& outcome_of(const SimWarp& warp, const TimedOp& op);
  static std::size_t outcome_place(const SimWarp& warp, const TimedOp& op);
  Score access(SimSm& sm, SimWarp& warp, const TimedOp& op);
  static std::span<const AtomicTurns> turns_of(const SimWarp& warp, const TimedOp& op);
  static std::span<const AtomicTurns> swaps_of(const SimWarp& warp, const TimedOp& op);
  double swap(SimSm& sm, const SimWarp& warp, std::span<const AtomicTurns> all, double read);
  static bool waits_for_dram(const Outcome& o);
  double latency_of(const Outcome& o) const;
  double dram_busy(const Outcome& o, double at);
  double update(const TimedOp& op, std::span<const AtomicTurns> all, double from);
  std::pair<double, double> ask_l2(SimSm& sm, const SimWarp& warp, const TimedOp& op, const Outcome& o, double past,
                                   Score& score);
  void access_constants(SimSm& sm, SimWarp& warp, const TimedOp& op);

  // sm/mshr.h
  bool has_place(SimSm& sm, const SimWarp& warp);
  double place_for(SimSm::Outstanding& in_flight, std::uint32_t sectors) const;
  void wait_for_line(SimSm& sm, const Outcome& o, Score& score) const;
  void wait_for_own(SimSm& sm, const SimWarp& warp, const TimedOp& op, const Outcome& o, Score& score) const;
  static std::pair<SimSm::Asked*, std::uint64_t> asked(SimSm& sm, const SimBlock& block, std::uint32_t warp,
                                                       std::size_t outcome);

  // sm/barriers.h
  void arrive(SimSm& sm, SimWarp& warp, const TimedOp& op, const Outcome& told);
  const std::vector<SimPhase>& phases_before(const BlockTrace& trace);
  static std::vector<SimPhase> count_phases(const BlockTrace& trace);
  static std::span<const SyncPoint> sync_points_of(const SimWarp& warp, const TimedOp& op);
  void make_writes(const SimWarp& warp, const TimedOp& op, Cycle at);
  void end_write(std::uint32_t number);
  void arrive_at_phases(SimSm& sm, const SimWarp& warp, const TimedOp& op, Cycle at);
  void end_phase(SimSm& sm, SimBlock& block, std::uint32_t number);
  bool has_met(SimSm& sm, const SimWarp& warp, const TimedOp& op, Score& blocked);
  static Cycle seen_at(std::span<const Sleep> naps, Cycle first, Cycle there);
  void open_barrier(SimSm& sm, SimBlock& block, int barrier, const SimWarp* last, Cycle earliest);
  bool release_one(SimSm& sm, SimBlock& block, Cycle at);
  std::vector<std::uint32_t> release_stuck();

  const TimingInput& in_;
  const Machine& m_;
  const ReplayedGrid& grid_;
  std::vector<std::uint32_t> traces_;
  std::uint64_t blocks_;  // number of blocks to run
  // Cycles for a sector (_full_: with all of the machine's bandwidth), a page of DRAM, an update.
  double dram_sector_full_, l2_sector_full_, dram_sector_, l2_sector_, port_sector_, port_sector_out_, update_;
  double dram_page_ = 0;
  double dram_read_at_ = kLongAgo;  // when DRAM last read
  double interval_[kUnitCount], shared_interval_, register_read_;
  std::map<const BlockTrace*, std::vector<SimPhase>> phases_before_;
  std::vector<SimWrite> writes_;     // as GridTrace::writes; empty if not each block of the grid is simulated once
  std::set<std::uint32_t> awaited_;  // those for which warps wait
  std::map<std::array<std::uint32_t, 3>, Schedule> schedules_of_parts_;  // by block, first and end of a BlockPart
  std::unordered_map<std::uint32_t, OpsByPc> ops_by_pc_;                 // by block that has parts
  std::vector<std::uint32_t> woken_;  // SMs with warps whose wait for another SM has ended
  std::vector<SimSm> sms_;
  double others_ = 1;  // SMs of the machine for each SM that is simulated
  // By hash of a word or sector of global memory: the end of its last swap or update.
  std::unordered_map<std::uint32_t, double> changed_;
  SharedServer l2_, dram_, dispatch_, updates_;
  std::vector<Cycle> starts_, ends_;
  std::uint64_t live_blocks_ = 0;
  Cycle now_ = 0, forget_at_ = 0;
  double end_ = 0, lived_ = 0;  // lived_: sum over all warps of the cycles from start to end
  double starting_ = 0;
  std::uint64_t instructions_ = 0, operations_ = 0;
  std::vector<WarpCycles> waits_;   // by PTX instruction; empty if waits are not recorded
  std::vector<double> path_waits_;  // waits for the memory path, likewise
  std::vector<HeldUp> held_up_;
  std::unordered_map<std::uint32_t, std::size_t> held_up_at_;  // by barrier: its index in held_up_
  std::size_t blamed_ = 0;                                     // sum of the entries in all of `held_up_`
};

}  // namespace roofwalk::vgpu

#include "common/vgpu/timing/sm/barriers.h"
#include "common/vgpu/timing/sm/block_dispatch.h"
#include "common/vgpu/timing/sm/memory_path.h"
#include "common/vgpu/timing/sm/mshr.h"
#include "common/vgpu/timing/sm/scoreboard.h"
#include "common/vgpu/timing/sm/stall_reasons.h"
#include "common/vgpu/timing/sm/warp_scheduler.h"
