#include "common/vgpu/grid.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "common/vgpu/handlers.h"

namespace roofwalk::vgpu {
namespace {

struct FreeDelete {
  void operator()(std::uint8_t* p) const { std::free(p); }
};
using Bytes = std::unique_ptr<std::uint8_t[], FreeDelete>;

Bytes allocate_zeroed(std::size_t bytes) {
  const std::size_t rounded = (bytes + 63) / 64 * 64 + 64;
  auto* p = static_cast<std::uint8_t*>(std::aligned_alloc(64, rounded));
  ROOFWALK_CHECK(p != nullptr);
  std::memset(p, 0, rounded);
  return Bytes(p);
}

constexpr std::uint64_t kBlockCost = 32;  // of the budget of instructions

class GridRunner {
 public:
  GridRunner(Launch& launch, const GridShape& shape, std::vector<Multiprocessor>& sms, const TraceLimits& traces)
      : launch_(launch),
        program_(launch.program),
        shape_(shape),
        sms_(sms),
        sample_(traces, shape.grid.count(), shape.blocks_per_sm) {
    warps_per_block_ = static_cast<std::uint32_t>((shape.block.count() + kWarpSize - 1) / kWarpSize);
    const std::uint64_t total = shape.grid.count();
    // Slots beyond the grid would only cost memory.
    const std::uint64_t slots =
        std::min<std::uint64_t>(static_cast<std::uint64_t>(shape.blocks_per_sm), (total + sms.size() - 1) / sms.size());
    const std::size_t warp_bytes = program_.register_bytes;
    const std::size_t local_bytes = (std::size_t{program_.local_bytes} + 3) / 4 * 4 * kWarpSize;
    const std::size_t warps = sms.size() * slots * warps_per_block_;
    registers_ = allocate_zeroed(warp_bytes * warps);
    local_ = allocate_zeroed(local_bytes * warps);
    constants_ = allocate_zeroed(program_.constants.size());
    std::memcpy(constants_.get(), program_.constants.data(), program_.constants.size());
    warp_constants_ = allocate_zeroed(program_.warp_constants.size());
    std::memcpy(warp_constants_.get(), program_.warp_constants.data(), program_.warp_constants.size());
    std::size_t next = 0;
    for (Multiprocessor& sm : sms_) {
      sm.block_executions.assign(program_.blocks.size(), 0);
      sm.blocks.resize(slots);
      std::uint32_t slot_in_sm = 0;
      for (ResidentBlock& block : sm.blocks) {
        block.shared.assign(program_.shared_bytes + 16, 0);
        block.warps.resize(warps_per_block_);
        for (std::uint32_t w = 0; w < warps_per_block_; ++w, ++next, ++slot_in_sm) {
          Warp& warp = block.warps[w];
          warp.index = w;
          warp.slot = slot_in_sm;
          warp.block = &block;
          warp.bases[0] = registers_.get() + next * warp_bytes;
          warp.bases[1] = constants_.get();
          warp.bases[2] = warp_constants_.get() + std::size_t{program_.warp_constant_bytes} * w;
          warp.local = local_.get() + next * local_bytes;
        }
      }
    }
  }

  void run(double seconds) {
    const auto start = std::chrono::steady_clock::now();
    fill();
    while (active_blocks_ != 0) {
      bool moved = false;
      for (Multiprocessor& sm : sms_) {
        launch_.sm = &sm;
        moved |= turn(sm);
        if (launch_.fault || launch_.refusal) return;
      }
      if (!moved) return report_deadlock();
      hold_trace_limits();
      if (++rounds_ % 256 == 0 && std::chrono::steady_clock::now() - start > std::chrono::duration<double>(seconds)) {
        const Warp& warp = *first_active();
        launch_.stop(warp, warp.next != nullptr ? warp.next : &program_.ops[0], FaultKind::runaway, 0,
                     "runs too long: the kernel did not end within the time limit; is a loop endless?");
        return;
      }
    }
  }

  GridTrace take_trace() { return sample_.take(); }

 private:
  void fill() {
    for (std::size_t slot = 0; !sms_.empty() && slot < sms_[0].blocks.size(); ++slot) {
      for (Multiprocessor& sm : sms_) start_next(sm, sm.blocks[slot]);
    }
  }

  void start_next(Multiprocessor& sm, ResidentBlock& block) {
    block.active = next_block_ < shape_.grid.count();
    if (!block.active) return;
    const std::uint64_t linear = next_block_++;
    // Starting a block takes the host time as well: a grid of billions of empty blocks ends by the budget too.
    launch_.instructions_left -= std::min<std::uint64_t>(launch_.instructions_left, kBlockCost);
    ++active_blocks_;
    ++sm.blocks_run;
    sm.warps_run += warps_per_block_;
    const Dim3 grid = shape_.grid;
    block.index = {static_cast<std::uint32_t>(linear % grid.x), static_cast<std::uint32_t>(linear / grid.x % grid.y),
                   static_cast<std::uint32_t>(linear / grid.x / grid.y)};
    block.linear_index = linear;
    block.trace = sample_.start(linear, warps_per_block_);
    if (block.trace != nullptr) sm.traced.bytes += warps_per_block_ * kWarpTraceBytes;
    block.live_warps = warps_per_block_;
    std::fill(std::begin(block.arrived), std::end(block.arrived), 0u);
    std::fill(std::begin(block.expected), std::end(block.expected), 0u);
    // NaN in every shared float: a read before any write shows instead of finding a lucky zero.
    std::fill(block.shared.begin(), block.shared.end(), std::uint8_t{0xff});
    const std::uint64_t threads = shape_.block.count();
    const std::uint32_t ctaid[] = {block.index.x, block.index.y, block.index.z};
    for (Warp& warp : block.warps) {
      const std::uint64_t left = threads - std::uint64_t{warp.index} * kWarpSize;
      warp.live = left >= kWarpSize ? kAllLanes : (1u << left) - 1;
      warp.mask = warp.live;
      warp.executed = 0;
      warp.trace = block.trace == nullptr ? nullptr : &block.trace->warps[warp.index];
      warp.state = Warp::State::ready;
      warp.stack.assign(1, {warp.live, 0, kExitBlock});
      warp.next = &program_.ops[program_.blocks[0].first_op];
      for (int d = 0; d < 3; ++d) broadcast(warp, program_.ctaid_slots[d], ctaid[d]);
      broadcast(warp, program_.smid_slot, static_cast<std::uint32_t>(sm.index));
    }
  }

  static void broadcast(Warp& warp, Slot at, std::uint32_t value) {
    if (at != kNoSlot) std::fill_n(warp.lanes<std::uint32_t>(at), kWarpSize, value);
  }

  bool turn(Multiprocessor& sm) {
    bool moved = false;
    for (ResidentBlock& block : sm.blocks) {
      if (!block.active) continue;
      for (Warp& warp : block.warps) {
        if (warp.state != Warp::State::ready) continue;
        moved = true;
        for (const Op* op = warp.next; op != nullptr;) op = op->run(launch_, warp, op);
        if (launch_.fault || launch_.refusal) return true;
      }
      if (block.live_warps == 0) {
        std::uint64_t longest = 0, all = 0;
        for (const Warp& warp : block.warps) {
          longest = std::max(longest, warp.executed);
          all += warp.executed;
        }
        sm.longest_warps += longest;
        if (block.trace != nullptr) sample_.finish(*block.trace, all);
        block.trace = nullptr;
        --active_blocks_;
        start_next(sm, block);
      }
    }
    return moved;
  }

  void hold_trace_limits() {
    TraceSize recorded;
    for (const Multiprocessor& sm : sms_) {
      recorded.instructions += sm.traced.instructions;
      recorded.bytes += sm.traced.bytes;
    }
    if (!sample_.hold_limits(recorded)) return;
    for (Multiprocessor& sm : sms_) {
      for (ResidentBlock& block : sm.blocks) {
        const bool kept = sample_.keeps(block.linear_index);
        if (kept && !sample_.ended()) continue;
        for (Warp& warp : block.warps) warp.trace = nullptr;
        if (!kept) block.trace = nullptr;
      }
    }
  }

  Warp* first_active() {
    for (Multiprocessor& sm : sms_) {
      for (ResidentBlock& block : sm.blocks) {
        for (Warp& warp : block.warps) {
          if (block.active && warp.state != Warp::State::done) return &warp;
        }
      }
    }
    return nullptr;
  }

  void report_deadlock() {
    const Warp& warp = *first_active();
    launch_.stop(warp, warp.next - 1, FaultKind::barrier_deadlock, -1,
                 "barrier deadlock: these threads wait at a barrier that others of their block never reach");
  }

  Launch& launch_;
  const Program& program_;
  GridShape shape_;
  std::vector<Multiprocessor>& sms_;
  Sample sample_;
  std::uint32_t warps_per_block_ = 0;
  std::uint64_t next_block_ = 0, active_blocks_ = 0, rounds_ = 0;
  Bytes registers_, local_, constants_, warp_constants_;
};

}  // namespace

GridTrace run_grid(Launch& launch, const GridShape& shape, std::vector<Multiprocessor>& sms, RunLimits& limits) {
  launch.block_dim = shape.block;
  launch.instructions_left = limits.warp_instructions;
  GridRunner runner(launch, shape, sms, limits.traces);
  runner.run(limits.seconds);
  limits.warp_instructions = launch.instructions_left;
  return runner.take_trace();
}

}  // namespace roofwalk::vgpu
