#include "common/vgpu/exec/grid.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/vgpu/exec/block_places.h"
#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/pace.h"
#include "common/vgpu/exec/runs_alone.h"
#include "common/vgpu/exec/subnormals.h"
#include "common/vgpu/exec/thread_team.h"
#include "common/vgpu/exec/turns.h"
#include "common/vgpu/requests/global_flow.h"
#include "common/vgpu/sanitizer/held_blocks.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

// With less work than this, one thread completes a round before a second thread has woken up.
constexpr std::uint64_t kTeamWork = 16'000;

// Without memory counts, an SM's round ends after this much work or this many lines in its store log.
constexpr std::uint64_t kRoundWork = std::uint64_t{1} << 20;
constexpr std::size_t kRoundLines = std::size_t{1} << 14;
// Each SM may spend its share of the budget in a round, at least this: long code without a loop is one turn of a warp.
constexpr std::uint64_t kLeastShare = 1'000'000;

class GridRunner {
 public:
  GridRunner(Launch& launch, const GridShape& shape, std::vector<Multiprocessor>& sms, const RunLimits& limits)
      : launch_(launch),
        program_(launch.program),
        shape_(shape),
        sms_(sms),
        sample_(limits.traces, shape.grid.count(), shape.blocks_per_sm, sms.size()),
        alone_(runs_alone(launch.program)),
        threads_(alone_ || limits.sanitize ? 1 : std::clamp<int>(limits.threads, 1, static_cast<int>(sms.size()))),
        turns_seed_(limits.sanitize && !limits.counts ? limits.sanitized_seed : 0),
        budget_(limits.work),
        places_(program_, shape, limits, sms, launch.machine.schedulers_per_sm),
        held_(turns_seed_, shape.grid.count(), sms.empty() ? 0 : sms.size() * sms[0].blocks.size(), budget_),
        l2_round_(launch.machine, sms.size(), places_.warps_per_sm(), launch.l2, launch.sites.size(), launch.first_site,
                  launch.traffic) {
    bound_blocks_ = program_.smid_slot == kNoSlot ? static_cast<std::uint64_t>(shape.blocks_per_sm) * sms.size()
                                                  : shape.grid.count();
    launch_.stores_wait = !alone_;
    if ((program_.polls_global || program_.looks_at_global) && sample_.takes_any()) {
      launch_.grid_flow = std::make_shared<GridFlow>();
      launch_.chain = std::make_shared<BlockChain>();
    }
    launch_.counts = limits.counts;
    launch_.follows_flags = limits.counts && sample_.takes_any() && program_.reads_flags;
    launch_.follows_global_flags = launch_.follows_flags && program_.reads_global_flags;
    // A block may run on beyond its turn only if the kernel does not read %smid: which SM gets the next block depends
    // on when other blocks end, and running on changes that.
    blocks_go_on_ = !limits.counts && !alone_ && program_.smid_slot == kNoSlot;
    launch_.sanitized = limits.sanitize;
    launch_.chance_seed = turns_seed_;
    launch_.follow_unset = op_follow_unset;
    launch_.watched = limits.watched;
    block_work_ = work_of_block(program_, places_.warps_per_block(), limits.sanitize);
  }

  void run(double seconds, double spent_seconds) {
    play(seconds, spent_seconds);
    name_blocks_not_begun();
    l2_round_.replay_alone();
    l2_round_.tell_traces();
    count_ended();
    add_sites(l2_round_.sites());
    for (std::size_t i = 0; i < sms_.size(); ++i) sms_[i].requests = l2_round_.requests()[i];
    launch_.count_steps();
    for (const auto& helper : helpers_) {
      helper->count_steps();
      add_sites(helper->sites);
      for (std::size_t i = 0; i < launch_.block_threads.size(); ++i)
        launch_.block_threads[i] += helper->block_threads[i];
    }
  }

  std::uint64_t budget_left() const { return budget_; }
  GridTrace take_trace() {
    GridTrace out = sample_.take();
    out.longest_warp = longest_warp_;
    out.chain_cycles = launch_.chain != nullptr && launch_.chain->has_waits() ? chain_cycles_ : 0;
    if (launch_.grid_flow != nullptr) out.writes = std::move(launch_.grid_flow->awaited);
    return out;
  }

 private:
  void play(double seconds, double spent_seconds) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t slot = 0; !sms_.empty() && slot < sms_[0].blocks.size(); ++slot) {
      for (Multiprocessor& sm : sms_) {
        if (slot < sm.blocks.size()) dispatch(sm, sm.blocks[slot]);
      }
    }
    for (Multiprocessor& sm : sms_) working_.push_back(&sm);
    drop_idle_sms();
    round_work_ = active_blocks_ * places_.warps_per_block() * program_.function->instructions.size();  // an estimate
    while (active_blocks_ != 0) {
      play_round();
      if (!settle_round()) return;
      hold_trace_limits();
      if ((++rounds_ % 256 == 0 || blocks_go_on_) &&
          std::chrono::steady_clock::now() - start > std::chrono::duration<double>(seconds - spent_seconds)) {
        launch_.refusal = Error{.message = fmt::format("a run on the virtual GPU did not end within {:g} s", seconds),
                                .advice = "its budget of work has not run out: is this computer very busy?"};
        return;
      }
    }
  }

  // Gives the next block of the grid, if any, to the slot. The SM initializes the block at its next turn.
  void dispatch(Multiprocessor& sm, ResidentBlock& block) {
    block.active = block.is_new = next_block_ < shape_.grid.count();
    if (!block.active) return;
    block.linear_index = next_block_++;
    held_.choose(block);
    // Starting a block costs host time, so it is charged. Thus the budget ends even a grid of billions of empty blocks.
    budget_ -= std::min(budget_, block_work_);
    ++active_blocks_;
    block.trace = sample_.start(block.linear_index, places_.warps_per_block());
    if (block.trace != nullptr) sm.traced.bytes += places_.warps_per_block() * kWarpTraceBytes;
  }

  void begin(Multiprocessor& sm, ResidentBlock& block) {
    places_.begin(launch_, sm, block, block.trace != nullptr && !sample_.ended());
  }

  // Gives each warp of each SM one turn, on as many threads as is worthwhile.
  void play_round() {
    if (threads_ == 1 || round_work_ < kTeamWork) return play_alone();
    if (!team_) {
      for (int member = 1; member < threads_; ++member) {
        helpers_.push_back(std::make_unique<Launch>(launch_.machine, program_, launch_.memory, launch_.l2,
                                                    launch_.traffic, launch_.first_site));
        helpers_.back()->block_dim = launch_.block_dim;
        helpers_.back()->stores_wait = launch_.stores_wait;
        helpers_.back()->counts = launch_.counts;
        helpers_.back()->follows_flags = launch_.follows_flags;
        helpers_.back()->follows_global_flags = launch_.follows_global_flags;
        helpers_.back()->grid_flow = launch_.grid_flow;
        helpers_.back()->chain = launch_.chain;
        helpers_.back()->line_of = launch_.line_of;
        helpers_.back()->is_of_header = launch_.is_of_header;
      }
      claimed_ = std::vector<std::atomic<std::uint64_t>>(sms_.size());
      team_ = std::make_unique<Team>(threads_);
    }
    const auto start = std::chrono::steady_clock::now();
    pace_.team() ? play_together() : play_alone();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::uint64_t played = 0;
    for (const Multiprocessor* sm : working_) played += sm->work;
    pace_.note(took.count(), played);
  }

  void play_alone() {
    l2_round_.replay_alone();
    for (Multiprocessor* sm : working_) {
      turn(launch_, *sm);
      if (sm->fault || launch_.refusal) return;
    }
  }

  void play_together() {
    team_->run([this](int member) {
      // Member 1 first replays half of L2's logs. The member that is the first to complete its own SMs replays the
      // rest, so that two members share the work.
      if (member == 1) l2_round_.replay_half();
      // A member first plays its own SMs, whose state may still be in its caches, then any SMs that no member has
      // claimed yet.
      Launch& launch = member == 0 ? launch_ : *helpers_[static_cast<std::size_t>(member) - 1];
      for (int step = 0; step < threads_; ++step) {
        for (auto i = static_cast<std::size_t>((member + step) % threads_); i < working_.size();
             i += static_cast<std::size_t>(threads_)) {
          if (claimed_[i].exchange(rounds_ + 1, std::memory_order_relaxed) != rounds_ + 1) turn(launch, *working_[i]);
        }
        if (step == 0) l2_round_.replay();
      }
      l2_round_.replay();
    });
  }

  // Gives each warp of one SM a turn without touching the state of other SMs. Without memory counts, a block runs on
  // for as long as it can, so that its data stays in the host's caches.
  void turn(Launch& launch, Multiprocessor& sm) {
    launch.sm = &sm;
    sm.fetches.begin_round(sm.l1.fetch(), cycles_);
    sm.constants.begin_round();
    launch.round = rounds_ + 1;
    const std::uint64_t share = std::min(budget_, std::max(budget_ / working_.size(), kLeastShare));
    launch.work_left = share;
    const std::uint64_t lines_before = sm.l1_lines, issued_before = launch.issued;
    sm.moved = false;
    // Limits the work of blocks that run on beyond their turn, so that all SMs together stay within the budget.
    // Otherwise a kernel that exceeds the budget could finish in this round, without the fault.
    const std::uint64_t most = std::min(kRoundWork, budget_ / working_.size());
    forget_subnormals();
    for (std::uint32_t slot = 0; slot < sm.blocks.size(); ++slot) {
      ResidentBlock& block = sm.blocks[slot];
      if (!block.active || block.is_held) continue;
      if (block.is_new) begin(sm, block);
      const std::uint64_t before = sm.memory_work();
      // Counts requests for the SM only if the block is certain to run on it. The timing model may give later blocks to
      // other SMs, depending on when earlier blocks end. But if code reads %smid, each block is counted for the SM that
      // it has in this run.
      sm.l2_log.count_requests(block.linear_index < bound_blocks_);
      bool moves = take_turns(launch, sm, block, turns_seed_);
      const auto goes_on = [&] {
        return blocks_go_on_ && moves && block.live_warps != 0 && !sm.fault && share - launch.work_left < most &&
               sm.stores.lines() < kRoundLines;
      };
      while (goes_on()) moves = take_turns(launch, sm, block, turns_seed_);
      block.memory_work += sm.memory_work() - before;
      if (launch.refusal || sm.fault) return;
      if (block.live_warps == 0) sm.ended.push_back(slot);
    }
    if (met_subnormals()) launch.charge((share - launch.work_left) * work::kSubnormal);
    // Memory work may be charged after the turns: except for L1 hits, the sizes of the logs limit what a turn requests.
    launch.charge((sm.l1_lines - lines_before) * work::kL1Line + sm.l2_log.lines() * work::kL2Line +
                  sm.stores.lines() * work::kStoredLine);
    sm.work = share - launch.work_left;
    sm.issued = launch.issued - issued_before;
  }

  // Updates the state that SMs share, SM by SM. False if the launch ends early.
  bool settle_round() {
    told_bytes_ += l2_round_.tell_traces();
    count_ended();
    if (launch_.refusal) return false;
    bool moved = false;
    round_work_ = 0;
    budget_ -= std::min(budget_, work::kRound + working_.size() / work::kRoundSms);
    l2_round_.begin(cycles_);
    std::uint64_t issued = 0;  // the largest count among the SMs
    for (Multiprocessor* sm : working_) {
      if (sm->fault) {
        launch_.fault = std::move(sm->fault);
        launch_.fault_pc = sm->fault_pc;
        return false;
      }
      if (sm->work > budget_) {
        if (const Warp* warp = first_active(*sm)) {
          report_runaway(*warp, kOutOfBudget);
          return false;
        }
      }
      budget_ -= std::min(budget_, sm->work);
      round_work_ += sm->work;
      moved |= sm->moved;
      issued = std::max(issued, sm->issued);
      l2_round_.take(sm->l2_log, static_cast<std::size_t>(sm->index));
      sm->stores.apply();
      if (launch_.grid_flow != nullptr) settle_grid_flow(*launch_.grid_flow, *sm);
      if (launch_.chain != nullptr) launch_.chain->take(sm->chain);
    }
    pass_time(issued);
    bool ended = false;
    for (Multiprocessor* sm : working_) {
      for (const std::uint32_t slot : sm->ended) finish(*sm, sm->blocks[slot]);
      ended |= !sm->ended.empty();
      sm->ended.clear();
    }
    if (ended) drop_idle_sms();
    moved |= held_.settle_round(moved, ended, round_work_);
    if (!moved) report_deadlock();
    return moved;
  }

  // Advances `cycles_` by the least time that a round can take: the time to issue its instructions, or the time that
  // DRAM takes for L2's requests of the round before, whichever is longer.
  void pass_time(std::uint64_t issued) {
    const Machine& machine = launch_.machine;
    const std::uint64_t sectors = l2_round_.dram_sectors();
    const double bytes = static_cast<double>((sectors - dram_sectors_) * kSectorBytes);
    dram_sectors_ = sectors;
    cycles_ += std::max(static_cast<double>(issued) / machine.schedulers_per_sm,
                        bytes * machine.clock_hz / (machine.dram_bytes_per_s * machine.dram_sustained_share));
  }

  // Drops SMs without a block, which never get one again. So a kernel of one block costs one SM per round, even on a
  // large chip.
  void drop_idle_sms() {
    std::erase_if(working_, [](const Multiprocessor* sm) {
      return std::none_of(sm->blocks.begin(), sm->blocks.end(), [](const ResidentBlock& b) { return b.active; });
    });
  }

  // Returns the work of a block so far, with the time of the swaps of its most contended word as its longest wait. L2's
  // answers add the other waits (add_waits()).
  BlockWork work_of(const ResidentBlock& block) const {
    BlockWork work{.memory = block.memory_work, .busy_cycles = block.busy_cycles()};
    for (const Warp& warp : block.warps) {
      work.instructions += warp.executed;
      work.longest_warp = std::max(work.longest_warp, warp.executed);
      work.latency_cycles += warp.path.latency_cycles;
      work.wait_cycles += warp.path.waited_cycles;
      for (std::size_t i = 0; i < work.path.size(); ++i) work.path[i] += warp.path.sums[i];
    }
    // The thread that is the last to swap the most contended word waits for all other swaps, and each warp for its own.
    std::uint64_t swaps = block.most_swaps * static_cast<std::uint64_t>(launch_.machine.shared_latency_cycles);
    for (const Warp& warp : block.warps)
      swaps = std::max(swaps, warp.swaps * static_cast<std::uint64_t>(launch_.machine.shared_swap_cycles));
    work.latency_cycles += swaps * block.warps.size();
    work.wait_cycles += work.latency_cycles;
    work.longest_wait_cycles = swaps;
    return work;
  }

  // Adds the time of a warp until `clock` (PathSums::clock()), with the requests that L2 and DRAM have served.
  void add_waits(std::uint64_t clock, const ServedLoads& served, BlockWork& work) const {
    const Machine& machine = launch_.machine;
    const std::uint64_t more =
        served.by_dram * static_cast<std::uint64_t>(machine.dram_latency_cycles - machine.l2_latency_cycles);
    work.most_far_loads = std::max<std::uint64_t>(work.most_far_loads, served.all);
    work.wait_cycles += more;
    work.longest_wait_cycles = std::max(work.longest_wait_cycles, clock + more);
  }

  void finish(Multiprocessor& sm, ResidentBlock& block) {
    const BlockWork work = work_of(block);
    longest_warp_ = std::max(longest_warp_, work.longest_warp);
    if (launch_.chain != nullptr) {
      for (const Warp& warp : block.warps) block.starts_at = std::max(block.starts_at, warp.path.now().of_grid);
      chain_cycles_ = std::max(chain_cycles_, block.starts_at);
    }
    if (block.trace != nullptr) sm.traced.bytes -= std::exchange(block.trace->beside_bytes, 0);
    sample_.finish(block.trace, work);
    if (sample_.takes_any()) {
      ended_.push_back({block.linear_index, work, static_cast<std::size_t>(sm.index), block.warps[0].slot});
      for (const Warp& warp : block.warps) ended_clocks_.push_back(warp.path.clock());
    }
    block.trace = nullptr;
    --active_blocks_;
    dispatch(sm, block);
  }

  // Returns the work of a running block so far. L2 must have answered all its requests.
  BlockWork work_until_now(const Multiprocessor& sm, const ResidentBlock& block) {
    BlockWork work = work_of(block);
    for (const Warp& warp : block.warps)
      add_waits(warp.path.clock(), l2_round_.served(static_cast<std::size_t>(sm.index), warp.slot), work);
    return work;
  }

  // Counts the blocks that ended in the round before, whose requests L2 has now answered.
  void count_ended() {
    auto clock = ended_clocks_.begin();
    for (EndedBlock& block : ended_) {
      for (std::size_t w = 0; w < places_.warps_per_block(); ++w)
        add_waits(*clock++, std::exchange(l2_round_.served(block.sm, block.first_slot + w), {}), block.work);
      sample_.count(block.index, block.work);
    }
    ended_.clear();
    ended_clocks_.clear();
  }

  void add_sites(const std::vector<InstructionCounters>& sites) {
    for (std::size_t i = 0; i < launch_.sites.size(); ++i) launch_.sites[i].add(sites[i]);
  }

  void hold_trace_limits() {
    TraceSize recorded{.bytes = told_bytes_};
    for (const Multiprocessor& sm : sms_) {
      recorded.instructions += sm.traced.instructions;
      recorded.operations += sm.traced.operations;
      recorded.bytes += sm.traced.bytes;
    }
    if (!sample_.hold_limits(recorded)) return;
    if (!program_.polls_global) forget_grid_flow();
    if (sample_.ended()) l2_round_.replay_alone();
    for (Multiprocessor& sm : sms_) {
      for (ResidentBlock& block : sm.blocks) {
        const bool kept = sample_.keeps(block.linear_index);
        if (kept && !sample_.ended()) continue;
        if (kept && block.trace != nullptr && block.active && !block.is_new)
          block.trace->recorded = work_until_now(sm, block);
        for (Warp& warp : block.warps) warp.trace = nullptr;
        block.follows_flags = launch_.follows_flags;
        if (!block.follows_flags) {
          block.global_flags = {};
          block.global_stores.reset();
        }
        if (!kept) block.trace = nullptr;
      }
    }
  }

  // Only a replay of all blocks needs it.
  void forget_grid_flow() {
    launch_.grid_flow.reset();
    for (const auto& helper : helpers_) helper->grid_flow.reset();
  }

  // Returns a warp that has not ended: one that does not wait for others of its block, if there is any; of the
  // preferred SM, if possible.
  const Warp* first_active(Multiprocessor& preferred) {
    const auto of = [this](Multiprocessor& sm, bool runs) -> const Warp* {
      for (ResidentBlock& block : sm.blocks) {
        if (!block.active) continue;
        if (block.is_new) begin(sm, block);
        for (const Warp& warp : block.warps) {
          if (runs ? warp.state == Warp::State::ready : warp.state != Warp::State::done) return &warp;
        }
      }
      return nullptr;
    };
    for (const bool runs : {true, false}) {
      if (const Warp* warp = of(preferred, runs)) return warp;
      for (Multiprocessor& sm : sms_) {
        if (const Warp* warp = of(sm, runs)) return warp;
      }
    }
    return nullptr;
  }

  void report_runaway(const Warp& warp, const char* message) {
    launch_.stop(warp, warp.next != nullptr ? warp.next : &program_.ops[0], FaultKind::runaway, -1, message);
  }

  // Says how many blocks a loop may wait for in vain: those that begin when others have ended.
  void name_blocks_not_begun() {
    const bool waits = launch_.fault && launch_.fault->kind == FaultKind::runaway && program_.reads_global_flags;
    const std::uint64_t left = shape_.grid.count() - next_block_;
    if (!waits || left == 0) return;
    launch_.fault->message += fmt::format(" If it waits for other blocks: {} of {} begin only when others have ended",
                                          left, shape_.grid.count());
  }

  void report_deadlock() {
    const Warp& warp = *first_active(sms_[0]);
    launch_.stop(warp, warp.next - 1, FaultKind::barrier_deadlock, -1,
                 "barrier deadlock: these threads wait at a barrier that others of their block never reach");
  }

  // A block that has ended, and the slot of its first warp on its SM.
  struct EndedBlock {
    std::uint64_t index = 0;
    BlockWork work;
    std::size_t sm = 0, first_slot = 0;
  };

  Launch& launch_;
  const Program& program_;
  GridShape shape_;
  std::vector<Multiprocessor>& sms_;
  std::vector<Multiprocessor*> working_;  // SMs with at least one block, in order
  Sample sample_;
  bool alone_;
  bool blocks_go_on_ = false;
  int threads_;
  std::uint64_t turns_seed_;                      // 0: no warp misses a turn
  std::uint64_t budget_;                          // remaining work
  std::uint64_t bound_blocks_ = 0;                // SmRequests include only blocks with a lower index
  std::uint64_t block_work_ = 0;                  // work of starting a block
  std::uint64_t round_work_ = 0;                  // work of the last round
  std::vector<std::unique_ptr<Launch>> helpers_;  // one Launch for each other member of the team
  // By index in `working_`: 1 + the last round in which a member claimed that SM.
  std::vector<std::atomic<std::uint64_t>> claimed_;
  BlockPlaces places_;
  HeldBlocks held_;
  L2Round l2_round_;                         // requests to L2 in the last round
  std::vector<EndedBlock> ended_;            // blocks that ended in the last round
  std::vector<std::uint64_t> ended_clocks_;  // PathSums::clock() of their warps
  std::uint64_t told_bytes_ = 0;             // bytes that L2's answers have added to traces
  std::unique_ptr<Team> team_;
  Pace pace_;
  std::uint64_t longest_warp_ = 0;  // instructions
  std::int64_t chain_cycles_ = 0;   // GridTrace::chain_cycles
  std::uint64_t dram_sectors_ = 0;  // sectors read or made dirty up to the last round
  double cycles_ = 0;               // lower bound of the cycles since the launch began
  std::uint64_t next_block_ = 0, active_blocks_ = 0, rounds_ = 0;
};

}  // namespace

std::uint64_t work_of_block(const Program& program, std::uint64_t warps, bool sanitized) {
  const std::uint64_t held = sanitized ? std::uint64_t{program.local_bytes} * kWarpSize / work::kHeldBytes : 0;
  return work::kBlock + warps * (work::kWarp + work::kUnwritten * program.unwritten.size() + held) +
         program.shared_bytes / work::kSharedBytes +
         (sanitized ? program.shared_bytes / work::kSanitizedSharedBytes : 0);
}

GridTrace run_grid(Launch& launch, const GridShape& shape, std::vector<Multiprocessor>& sms, RunLimits& limits) {
  launch.block_dim = shape.block;
  GridRunner runner(launch, shape, sms, limits);
  runner.run(limits.seconds, limits.spent_seconds);
  limits.work = runner.budget_left();
  return runner.take_trace();
}

}  // namespace roofwalk::vgpu
