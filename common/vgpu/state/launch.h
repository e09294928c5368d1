// One launch in flight: what the handlers of one host thread work on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/record/run_record.h"
#include "common/specs/machine.h"
#include "common/vgpu/memory/cache.h"
#include "common/vgpu/memory/memory.h"
#include "common/vgpu/program/program.h"
#include "common/vgpu/state/address_windows.h"
#include "common/vgpu/state/memos.h"
#include "common/vgpu/state/multiprocessor.h"
#include "common/vgpu/trace/counters.h"

namespace roofwalk::vgpu {

class Printer;

// Calls of extern functions, which only a plan may make: receives the arguments' bytes, leaves the result's bytes.
// An Error stops the run with its message.
using CallHook = std::function<Result<std::uint64_t>(const ptx::Instruction& call,
                                                     const std::vector<std::vector<std::uint8_t>>& arguments)>;

// What the handlers of one thread work on. All threads of a launch share the machine, the program and the memory.
class Launch {
 public:
  Launch(const Machine& machine_in, const Program& program_in, Memory& memory_in, L2Cache& l2_in,
         std::vector<SiteTraffic>& traffic_in, SiteId first_site_in)
      : machine(machine_in),
        program(program_in),
        memory(memory_in),
        l2(l2_in),
        traffic(traffic_in),
        first_site(first_site_in),
        sites(program_in.function->instructions.size()),
        buffer_memos(sites.size()),
        shared_memos(sites.size()),
        product_runs(program_in.lockstep.product_runs.size()),
        block_threads(program_in.blocks.size()) {}

  const Machine& machine;
  const Program& program;
  Memory& memory;
  L2Cache& l2;
  std::vector<SiteTraffic>& traffic;
  SiteId first_site;
  Dim3 block_dim;                // threads of a block
  Multiprocessor* sm = nullptr;  // the one whose warp runs now

  std::vector<Site> sites;  // by PTX instruction
  std::vector<BufferMemo> buffer_memos;
  std::vector<SharedMemo> shared_memos;
  std::vector<ProductRunCount> product_runs;
  SectorCopies sector_copies;
  std::vector<std::uint64_t> block_threads;  // active lanes summed over entries of each basic block

  std::uint64_t round = 0;                  // the one that runs now, from 1
  bool sanitized = false;                   // reads of global memory that nothing has written are faults
  WatchedBytes watched;                     // where sanitized
  std::optional<std::uint32_t> watched_pc;  // that wrote to them last
  bool counts = true;                       // memory traffic, whatever of it L1, L2 and banks make
  bool stores_wait = false;                 // global stores go to the SM's log: other SMs may run meanwhile
  std::uint64_t work_left = 0;              // of the budget (work.h), for the turns of `sm` in this round
  std::uint64_t clock = 0;                  // what %clock reads: warp instructions so far
  CallHook call_hook;
  Printer* printer = nullptr;                    // where printf goes; nullptr: nowhere
  std::function<int(std::uint32_t pc)> line_of;  // in the learner's file, 0 unknown; for faults
  std::optional<Fault> fault;                    // without kernel, file and line, which whoever owns the module adds
  std::uint32_t fault_pc = 0;
  std::optional<Error> refusal;  // from the call hook; or our own, which names no file: the host's limits
  // Sanitized: what goes well by luck, each once, with the instruction where it was seen; as `fault`, incomplete.
  std::vector<std::pair<std::uint32_t, Fault>> warnings;

  // Of a thread's number in its block.
  Dim3 thread_of(std::uint32_t linear) const {
    return {linear % block_dim.x, linear / block_dim.x % block_dim.y, linear / block_dim.x / block_dim.y};
  }

  // Takes work off what is left; nothing is left where it is more.
  void charge(std::uint64_t work) { work_left -= std::min(work_left, work); }

  // Adds to `sites` what was left in shared_memos and product_runs, at the end of the launch.
  void count_steps();

  void warn(const Warp& warp, const Op* op, int lane, std::string message);
  // Records the first fault and ends the warp's turn. `lane` names the thread, -1 the first active one.
  const Op* stop(const Warp& warp, const Op* op, FaultKind kind, int lane, std::string message);
};

// The operation that starts a basic block, or the warp's end of life at kExitBlock.
const Op* enter_block(Launch& launch, Warp& warp, std::uint32_t block);

}  // namespace roofwalk::vgpu
