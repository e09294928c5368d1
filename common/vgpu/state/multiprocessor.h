// A streaming multiprocessor of a launch: its caches, its resident blocks, and what it did in this round.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/specs/machine.h"
#include "common/vgpu/memory/cache.h"
#include "common/vgpu/memory/constant_cache.h"
#include "common/vgpu/memory/fetch_log.h"
#include "common/vgpu/memory/l2_log.h"
#include "common/vgpu/memory/store_log.h"
#include "common/vgpu/state/block.h"

namespace roofwalk::vgpu {

struct alignas(64) Multiprocessor {
  explicit Multiprocessor(const Machine& machine)
      : l1(machine.l1_bytes, machine.l1_ways), fetches(machine, 1), constants(machine) {}
  int index = 0;
  L1Cache l1;
  FetchLog fetches;  // of l1
  ConstantCache constants;
  std::vector<ResidentBlock> blocks;
  std::vector<std::uint64_t> block_executions;  // warps that entered each basic block
  std::uint64_t blocks_run = 0, warps_run = 0;
  std::uint64_t l1_lines = 0, l1_sectors = 0, shared_wavefronts = 0, constant_passes = 0;
  std::vector<std::uint32_t> swaps;  // lanes that swapped words of global memory (is_retried()), by the words' hash
  TraceSize traced;                  // recorded, dropped traces included
  std::uint64_t memory_work() const { return l1_lines + l1_sectors + shared_wavefronts + l2_log.asked_lines(); }

  // Of the round that runs now.
  L2Log l2_log;
  StoreLog stores;
  std::uint64_t work = 0;            // done (work.h)
  std::uint64_t issued = 0;          // instructions of warps
  bool moved = false;                // some warp had a turn
  std::vector<std::uint32_t> ended;  // slots whose block ended
  std::optional<Fault> fault;        // and with it the SM's round
  std::uint32_t fault_pc = 0;
};

}  // namespace roofwalk::vgpu
