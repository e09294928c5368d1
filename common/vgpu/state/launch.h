// A launch in flight: the state that handlers use on one host thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/mix.h"
#include "common/base/result.h"
#include "common/record/fault.h"
#include "common/specs/machine.h"
#include "common/vgpu/memory/l2_cache.h"
#include "common/vgpu/memory/memory.h"
#include "common/vgpu/program/program.h"
#include "common/vgpu/state/address_windows.h"
#include "common/vgpu/state/block_atomics.h"
#include "common/vgpu/state/block_chain.h"
#include "common/vgpu/state/grid_flow.h"
#include "common/vgpu/state/memos.h"
#include "common/vgpu/state/multiprocessor.h"
#include "common/vgpu/trace/counters.h"

namespace roofwalk::vgpu {

class BlockUses;
class Heap;
class Printer;

// The answer to a call of an extern function.
struct CallAnswer {
  struct Store {
    std::uint64_t address = 0;  // generic
    std::uint32_t value = 0;
  };
  std::uint64_t result = 0;
  std::optional<Store> store = {};  // through a pointer to a local variable of the caller
};

// Executes calls of extern functions, which only a plan may make. Receives the bytes of the arguments. An Error stops
// the run with its message.
using CallHook = std::function<Result<CallAnswer>(const ptx::Instruction& call,
                                                  const std::vector<std::vector<std::uint8_t>>& arguments)>;

// State of one host thread. All threads of a launch share the machine, the program and the memory.
class Launch {
 public:
  Launch(const Machine& machine_in, const Program& program_in, Memory& memory_in, L2Cache& l2_in,
         std::vector<InstructionTraffic>& traffic_in, InstructionId first_site_in)
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
  std::vector<InstructionTraffic>& traffic;
  InstructionId first_site;
  Dim3 block_dim;                // block size in threads
  Multiprocessor* sm = nullptr;  // SM of the warp that is running

  std::vector<InstructionCounters> sites;  // by PTX instruction
  std::vector<BufferMemo> buffer_memos;
  std::vector<SharedMemo> shared_memos;
  std::vector<ProductRunCount> product_runs;
  SectorCopies sector_copies;
  std::vector<std::uint64_t> block_threads;  // active lanes summed over entries of each basic block

  std::uint64_t round = 0;                  // current round, from 1
  bool sanitized = false;                   // reads of uninitialized global memory are faults
  WatchedBytes watched;                     // set in sanitized runs
  std::optional<std::uint32_t> watched_pc;  // instruction that last wrote to `watched`
  BlockAtomics block_atomics;               // of sanitized runs, if the program has atomics of block scope
  std::uint64_t chance_seed = 0;            // seed of lane_by_chance(); 0: there is no chance
  std::uint64_t chances = 0;                // lanes that were taken by chance so far
  bool counts = true;                       // count memory traffic (L1, L2, bank conflicts)
  bool follows_flags = false;               // ResidentBlock::follows_flags of blocks without a trace
  bool follows_global_flags = false;        // ... and whether what they load and store globally is recorded
  bool stores_wait = false;     // global stores go to the SM's store log, because other SMs may run concurrently
  std::uint64_t work_left = 0;  // share of the budget (work.h) for `sm` in this round
  std::uint64_t clock = 0;      // value of %clock: warp instructions executed so far
  std::uint64_t issued = 0;     // lower bound of the issue slots taken so far; 0 without the timing model
  std::shared_ptr<GridFlow> grid_flow;    // null: blocks do not wait for each other, or are not traced
  std::shared_ptr<BlockChain> chain;      // null: blocks do not wait for each other, or nothing is traced
  Handler follow_unset = nullptr;         // UnsetValues::detour
  std::shared_ptr<const BlockUses> uses;  // of the program's registers; null until follow_unset asks
  CallHook call_hook;
  Printer* printer = nullptr;                          // printf output; nullptr: discarded
  Heap* heap = nullptr;                                // of malloc() and free(); nullptr: there is none
  std::function<bool(std::uint32_t pc)> is_of_header;  // whether it comes from another file than the learner's
  std::function<int(std::uint32_t pc)> line_of;        // line in the learner's file, 0 = unknown; for faults
  std::optional<Fault> fault;  // without kernel, file and line, which the owner of the module adds
  std::uint32_t fault_pc = 0;
  std::optional<Error> refusal;  // an error of the call hook, or an exceeded limit of the host (which names no file)
  // Sanitized runs: errors that changed nothing in this run, at most one per instruction (pc). Like `fault`, without
  // kernel and line.
  std::vector<std::pair<std::uint32_t, Fault>> warnings;

  // A store of a value that nobody had set: the instruction (pc) that got it, and the fault that this is if the value
  // is used, or is left as a result. is_shuffled: it was a shuffle, from a lane that takes no part in it. That line is
  // wrong, not the one where the value is used. False if several stores were of different kinds.
  struct UnsetStore {
    std::uint32_t pc = 0;
    Fault fault = {};
    bool is_shuffled = false;
    int earlier = -1;  // it copied what an earlier launch has stored so to this buffer, for which there is a fault
  };
  std::map<int, UnsetStore> unset_stores;  // the first to each buffer of global memory
  std::optional<UnsetStore> unset_shared;  // the first to shared memory
  std::set<int> shuffled_earlier;          // buffers to which earlier launches have stored what shuffles got
  int read_unset_from = -1;                // of the fault: the one of these from which the value comes

  // The thread index for a linear thread number within its block.
  Dim3 thread_of(std::uint32_t linear) const {
    return {linear % block_dim.x, linear / block_dim.x % block_dim.y, linear / block_dim.x / block_dim.y};
  }

  // Returns 0, or in runs with chance a lane, another one each time: which lane of an atomic comes first, and which of
  // several stores to one word remains, is not defined (PTX ISA, memory consistency model).
  int lane_by_chance() {
    return chance_seed == 0 ? 0 : static_cast<int>(mix(chance_seed + ++chances) % std::uint64_t{kWarpSize});
  }

  // Deducts work from `work_left`, but not below 0.
  void charge(std::uint64_t work) { work_left -= std::min(work_left, work); }

  // At the end of the launch, adds the counts held in shared_memos and product_runs to `sites`.
  void count_steps();

  Fault fault_at(const Warp& warp, FaultKind kind, int lane, std::string message) const;
  void warn(const Warp& warp, const Op* op, int lane, std::string message);
  // Records the first fault and ends the warp's turn. `lane` names the thread; -1: the first active lane.
  const Op* stop(const Warp& warp, const Op* op, FaultKind kind, int lane, std::string message);
};

// Returns the first operation of a basic block. At kExitBlock, the executing lanes exit.
const Op* enter_block(Launch& launch, Warp& warp, std::uint32_t block);

}  // namespace roofwalk::vgpu
