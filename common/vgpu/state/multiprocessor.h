// A streaming multiprocessor of a launch: its caches, its resident blocks, and its work in this round.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/specs/machine.h"
#include "common/vgpu/memory/constant_cache.h"
#include "common/vgpu/memory/fetch_log.h"
#include "common/vgpu/memory/l1_cache.h"
#include "common/vgpu/memory/l2_log.h"
#include "common/vgpu/memory/store_log.h"
#include "common/vgpu/state/block.h"
#include "common/vgpu/state/block_chain.h"
#include "common/vgpu/state/grid_flow.h"

namespace roofwalk::vgpu {

inline constexpr double kUpdateTicksOfACycle = 16;  // unit of Multiprocessor::update_cycles

struct alignas(64) Multiprocessor {
  Multiprocessor(const Machine& machine, std::int64_t l1_bytes)
      : l1(l1_bytes, machine.l1_ways), fetches(machine, 1), constants(machine) {}
  // To be called before its first block begins, and harmless later.
  void open() {
    l1.open();
    constants.open();
  }
  int index = 0;
  L1Cache l1;
  FetchLog fetches;  // fetches of l1
  ConstantCache constants;
  std::vector<ResidentBlock> blocks;
  std::vector<std::uint64_t> block_executions;  // warp entries into each basic block
  std::uint64_t blocks_run = 0, warps_run = 0;
  std::uint64_t l1_lines = 0, l1_wavefronts = 0, shared_wavefronts = 0, constant_passes = 0;
  SmRequests requests;               // to L2, for requests_ns(); set when the launch ends
  std::vector<std::uint32_t> swaps;  // by hash of a word of global memory: number of lanes that swapped it
                                     // (is_retried())
  // By place of a sector of global memory: for how long L2 is busy with this SM's atomics there (count_updates()), in
  // parts of a cycle.
  std::vector<std::uint64_t> update_cycles;
  std::uint32_t update_ticks[2][kWarpSize + 1] = {};  // for integers and floats, by the lanes of a word: such parts
  std::uint64_t updates = 0;                          // in all sectors
  TraceSize traced;                                   // size of all traces recorded so far, dropped ones included
  std::uint64_t saved_bytes = 0;                      // what open recursive calls keep (CallFrame::saved_bytes())
  std::uint32_t deepest_calls = 0;                    // most that were open at once in a warp with recursive ones
  std::uint64_t memory_work() const { return l1_lines + l1_wavefronts + shared_wavefronts + l2_log.asked_lines(); }

  // The following members are for this round only.
  L2Log l2_log;
  StoreLog stores;
  GridFlowLog grid_flow;
  BlockChain chain;                  // if SMs run at the same time: what Launch::chain lacks
  std::uint64_t work = 0;            // work done (work.h)
  std::uint64_t issued = 0;          // lower bound of the issue slots taken in this round
  bool moved = false;                // whether any warp had a turn
  bool wrote_global = false;         // set by stores and atomics, for take_turns_of_some()
  std::vector<std::uint32_t> ended;  // indices in `blocks` of the blocks that ended
  std::optional<Fault> fault;        // a fault ends the SM's round
  std::uint32_t fault_pc = 0;
};

}  // namespace roofwalk::vgpu
