// One launch in flight: streaming multiprocessors, resident blocks, warps, and the counters that their steps leave.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/base/result.h"
#include "common/record/run_record.h"
#include "common/specs/machine.h"
#include "common/vgpu/cache.h"
#include "common/vgpu/constant_cache.h"
#include "common/vgpu/fetch_log.h"
#include "common/vgpu/l2_log.h"
#include "common/vgpu/memory.h"
#include "common/vgpu/program.h"
#include "common/vgpu/sample.h"
#include "common/vgpu/store_log.h"

namespace roofwalk::vgpu {

// Generic addresses: windows of shared and local memory; everything else is global. Constant memory lies among the
// buffers.
inline constexpr std::uint64_t kSharedWindow = 0x2000'0000'0000, kLocalWindow = 0x3000'0000'0000;
inline constexpr std::uint64_t kWindowBytes = 1ull << 32;
// Where local memory lies for the caches: [multiprocessor][warp slot][word][lane].
inline constexpr std::uint64_t kLocalPhysical = 0x4000'0000'0000;

struct Site {  // counters of one memory or predicated instruction
  std::uint64_t requests = 0, sectors = 0, lines = 0, hit_sectors = 0;
  std::uint64_t l2_read_sectors = 0, l2_write_sectors = 0, l2_hit_sectors = 0;
  std::uint64_t served_by_l1 = 0, served_by_l2 = 0, served_by_dram = 0;  // load requests, by their farthest level
  // Shared memory; of loads of constant memory: passes, and those whose line the first cache lacked.
  std::uint64_t bytes = 0, wavefronts = 0, conflicts = 0;
  std::uint64_t predicated_off = 0;  // thread instructions that a guard left out
  std::uint64_t divergent = 0;       // branches that split a warp

  void add(const Site& other);
};

struct ReconvergenceEntry {
  std::uint32_t mask = 0;
  std::uint32_t block = 0;  // where its lanes go on
  std::uint32_t reconvergence = kExitBlock;
};

// Lanes of a call that call the same function.
struct CallWay {
  const CallSite* site = nullptr;
  std::uint32_t lanes = 0;
  std::uint32_t block = 0;                 // where the function begins
  std::vector<std::uint8_t> results = {};  // once all of them have returned
};

// A call that a warp is in.
struct CallFrame {
  CallWay now;
  std::vector<CallWay> ahead, done;                 // through a pointer, of other functions: the last one ahead is next
  std::size_t depth = 0;                            // of the reconvergence stack below it
  std::uint32_t caller_lanes = 0;                   // Warp::here of the caller
  std::uint32_t caller_frame = 0;                   // Warp::frame of the caller
  std::vector<std::uint8_t> registers, parameters;  // of a recursive call: what it must not change
};

// Lanes of a warp that stand in front of a basic block with a barrier until the others come or end (standing.h), and
// what they are in, as the warp itself would have it.
struct StandingLanes {
  const Op* entry = nullptr;  // of the block
  std::uint32_t lanes = 0;
  std::uint32_t frame = 0, stack_top = 0;
  std::vector<ReconvergenceEntry> stack;
  std::vector<CallFrame> frames;
};

struct ResidentBlock;
class SharedShadow;
class Printer;

struct alignas(64) Warp {
  std::uint8_t* bases[3] = {};
  std::uint32_t mask = 0;          // lanes that execute now
  std::uint32_t live = 0;          // lanes that have not left
  std::uint32_t here = kAllLanes;  // lanes that have not returned from the function that it is in
  const Op* next = nullptr;
  enum class State : std::uint8_t { ready, waiting, done } state = State::done;
  bool in_lockstep = false;          // runs Program::lockstep, where some registers keep lane 0 only
  std::uint8_t came_apart = 0;       // how often soon after it had come together (lockstep.h)
  std::uint64_t together_since = 0;  // what `executed` was then
  int barrier = 0;                   // the one that it waits at
  std::uint32_t index = 0;           // in its block
  std::uint32_t slot = 0;            // on its multiprocessor: where its local memory lies
  std::uint64_t executed = 0;        // instructions
  std::uint64_t l2_requests = 0;     // what L1 could not answer, and stores
  PathSums path;                     // of the basic blocks that it entered
  std::uint32_t copy_groups = 0;     // of asynchronous copies, closed so far
  ResidentBlock* block = nullptr;
  std::uint8_t* local = nullptr;             // [word][lane]
  std::vector<std::uint32_t> local_written;  // sanitized: by byte of local memory, the lanes that wrote it
  std::vector<ReconvergenceEntry> stack;
  std::vector<CallFrame> frames;
  std::uint32_t frame = 0, stack_top = 0;  // local memory of a recursive function: its own, and where the next begins
  WarpTrace* trace = nullptr;              // where its steps are recorded, if they are
  std::size_t first_outcome = 0;           // of the basic block that it is in
  std::vector<StandingLanes> standing;     // of its live lanes, those that are not in `here` nor in any frame's

  // What its memory instruction costs goes here. Only with a trace.
  Outcome& outcome(const Op* op) const { return trace->outcomes[first_outcome + op->memory]; }

  template <class T>
  T* lanes(Slot at) const {
    return reinterpret_cast<T*>(bases[at >> 30] + (at & 0x3fff'ffffu));
  }
  std::uint32_t& predicate(Slot at) const { return *lanes<std::uint32_t>(at); }
};

inline constexpr int kBarriers = 16;
// What a thread has for recursion: CUDA's default (cudaLimitStackSize, CUDA runtime API), which a plan cannot change.
inline constexpr std::uint32_t kStackBytes = 1024;

// Which groups of asynchronous copies the phases of an mbarrier stand for: by warp, up to that number; 0: none.
struct MbarrierCopies {
  std::vector<std::uint32_t> arriving, arrived;  // of this phase, of the last one
};

// Of an mbarrier, for traces: numbers of this phase and of the last one; 0: there was none.
struct MbarrierPhases {
  std::uint32_t open = 0, over = 0;
};

// The last stores of a traced block to global memory (global_flow.h): numbers as of flags, and which instruction of
// which warp each is.
struct GlobalStore {
  std::uint32_t number = 0, warp = 0;
  std::uint32_t outcome = 0;  // its place among the warp's
};
struct GlobalStores {
  std::unordered_map<std::uint64_t, GlobalStore> by_sector, by_word;  // of whole sectors, and others
  std::unordered_set<std::uint32_t> awaited;                          // numbers that somebody waits for
  std::uint64_t low = ~0ull, end = 0;                                 // all lie between
};

struct ResidentBlock {
  bool active = false;
  bool is_new = false;  // has yet to be laid out
  Dim3 index{0, 0, 0};
  std::uint64_t linear_index = 0;  // within the grid
  BlockTrace* trace = nullptr;     // where its warps are recorded, if they are
  std::uint64_t memory_work = 0;   // BlockWork::memory
  std::vector<std::uint8_t> shared;
  std::shared_ptr<SharedShadow> own_shadow;                 // where the run is sanitized
  std::shared_ptr<SharedShadow> shadow;                     // that one, where this block is watched
  std::map<std::uint64_t, MbarrierCopies> mbarrier_copies;  // by place in shared memory
  std::map<std::uint64_t, MbarrierPhases> mbarrier_phases;  // likewise, of a block with traces
  std::vector<std::uint32_t> flags;                         // likewise: the last write of a flag, by word; 0: none
  std::unordered_map<std::uint64_t, std::uint32_t> global_flags;  // of words that atomics change in global memory
  GlobalStores global_stores;
  std::vector<std::uint32_t> swaps;  // lanes so far that swapped each word of shared memory (is_retried()), if any
  std::uint32_t most_swaps = 0;      // of a word
  std::uint32_t meetings = 0;        // numbers given to phases and writes of flags
  std::uint32_t followed = 0;        // meetings of theirs that follow others
  std::vector<Warp> warps;
  std::uint32_t live_warps = 0;
  std::uint32_t arrived[kBarriers] = {};   // warps at each barrier
  std::uint32_t expected[kBarriers] = {};  // 0: all live warps
  std::uint32_t counted[kBarriers] = {};   // bar.red: threads so far whose predicate held
  std::uint32_t asked[kBarriers] = {};     // and of how many
};

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

// The last buffer that an instruction touched: most stay with one.
struct BufferMemo {
  std::uint64_t low = 1, high = 0;
  std::uint8_t* data = nullptr;  // data + address - low
  std::uint64_t last = 0;        // of rows of a tile: where it loaded the last time
};

// A copy of one sector for each lane, as loads that walk along 32 rows want them: neighbours here, far apart in memory,
// where they would evict each other from the host's caches. Global memory stands still within a round.
struct SectorCopies {
  std::uint64_t first = 1, stride = 0;  // address of lane 0's sector, and from lane to lane
  std::uint64_t round = 0;
  std::uint32_t gathered = 0;  // bit w: words[w] is filled
  alignas(64) std::uint8_t bytes[kWarpSize * kSectorBytes];
  alignas(64) std::uint32_t words[kSectorBytes / 4][kWarpSize];  // of all sectors: the first, the second...
};

struct SharedMemo {  // the last pattern of shared addresses of an instruction
  std::uint32_t mask = 0;
  std::uint16_t wavefronts = 0, conflicts = 0;
  std::uint32_t relative[kWarpSize] = {};
  // In lockstep the pattern of an instruction never changes: what its steps cost, once somebody has looked.
  bool steps_known = false;
  std::uint16_t steps_wavefronts = 0, steps_conflicts = 0;
  std::uint32_t steps_bytes = 0;     // of all lanes
  std::uint64_t steps_requests = 0;  // so many of them; `count_steps` adds them to the site
};

// How often a ProductRun ran, which `count_steps` adds to the sites of its loads, and the wavefronts of all of them,
// once they are known.
struct ProductRunCount {
  bool known = false;
  std::uint32_t wavefronts = 0;
  std::uint64_t times = 0;
};

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
