// A device's report on one run of a plan. Counters that a device cannot count are absent, never 0.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/check.h"
#include "common/base/json_fwd.h"

namespace roofwalk {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

// All counters that a device may report. The name is the JSON key and includes the unit; names without one count
// events.
#define ROOFWALK_COUNTERS(X)                                                                        \
  X(warp_instructions)   /* PTX instructions, counted per warp */                                   \
  X(thread_instructions) /* the same, per active lane that is not predicated off */                 \
  X(flops_f16)           /* executed, on 16-bit floats; add and mul 1, fma 2 */                     \
  X(flops_f32)                                                                                      \
  X(flops_f64)                                                                                      \
  X(flops_tensor)                                                                                   \
  X(tensor_integer_operations) /* of 8-bit factors on tensor cores; add and mul 1 each */           \
  X(integer_operations)        /* on integers: add, sub, mul and div 1, mad 2; also on indices */   \
  X(atomic_flops)              /* float adds by atom and red; outside of SMs, so not in flops_* */  \
  X(special_functions)         /* div, sqrt, rcp, ex2, ...: 1 each, also in flops_* */              \
  X(branches)                                                                                       \
  X(divergent_branches)                                                                             \
  X(barriers)             /* warp arrivals at bar.sync */                                           \
  X(global_load_requests) /* warp instructions with at least one active lane */                     \
  X(global_store_requests)                                                                          \
  X(atomic_requests)              /* global atom and red */                                         \
  X(atomic_operations)            /* the same, per lane that takes part */                          \
  X(l1_read_sectors)              /* 32-byte sectors that global and local loads ask L1 for */      \
  X(l1_write_sectors)             /* the same for stores and atomics */                             \
  X(l1_ideal_sectors)             /* sectors of global requests if lanes were contiguous */         \
  X(l1_uncoalesced_sectors)       /* of loads and atomics that touch more sectors than that */      \
  X(l1_uncoalesced_ideal_sectors) /* sectors of these if lanes were contiguous */                   \
  X(l1_read_hit_sectors)                                                                            \
  X(l1_lines)            /* 128-byte lines that requests touch */                                   \
  X(local_sectors)       /* the part of L1 sectors in local memory */                               \
  X(local_write_sectors) /* of these, the written ones */                                           \
  X(l2_read_sectors)                                                                                \
  X(l2_write_sectors)                                                                               \
  X(l2_read_hit_sectors)                                                                            \
  X(dram_read_bytes)                                                                                \
  X(dram_write_bytes)                                                                               \
  X(shared_load_requests)                                                                           \
  X(shared_store_requests)                                                                          \
  X(shared_bytes) /* bytes that active lanes read or write */                                       \
  X(shared_wavefronts)                                                                              \
  X(shared_bank_conflicts) /* wavefronts beyond the minimum for the request's width */              \
  X(constant_requests)     /* loads of constant memory, at most 8 bytes per lane each */            \
  X(constant_passes)       /* one per distinct 4- or 8-byte word among their lanes */               \
  X(constant_misses)       /* passes that missed the first constant cache */                        \
  X(constant_bytes)        /* bytes read by passes: one word each, however many lanes */            \
  /* Those from here on are of launches, not of lines. */                                           \
  X(machine_warp_instructions)   /* as warp_instructions, of machine code; counted by GPUs alone */ \
  X(machine_thread_instructions) /* as thread_instructions, likewise */                             \
  X(sm_cycles)                   /* of all SMs, from a launch's begin to its end */                 \
  X(sm_active_cycles)            /* of these, those with at least one resident warp */              \
  X(scheduler_cycles)            /* of the warp schedulers of SMs while these are active */         \
  X(resident_warp_cycles)        /* sum of the cycles for which each warp was resident */

enum class Counter {
#define ROOFWALK_ENUM(name) name,
  ROOFWALK_COUNTERS(ROOFWALK_ENUM)
#undef ROOFWALK_ENUM
};
#define ROOFWALK_ONE(name) +1
inline constexpr std::size_t kCounterCount = 0 ROOFWALK_COUNTERS(ROOFWALK_ONE);
#undef ROOFWALK_ONE

std::string_view counter_name(Counter counter);

// Whether lines have the counter, because it counts instructions and what they do.
constexpr bool is_of_lines(Counter counter) { return counter <= Counter::constant_bytes; }

// Whether the counter counts machine code. The virtual GPU runs PTX and cannot count it.
constexpr bool is_of_machine_code(Counter counter) {
  return counter == Counter::machine_warp_instructions || counter == Counter::machine_thread_instructions;
}

class Counters {
 public:
  std::optional<std::uint64_t> operator[](Counter c) const { return values_[static_cast<std::size_t>(c)]; }
  void set(Counter c, std::uint64_t value) { values_[static_cast<std::size_t>(c)] = value; }
  void add(Counter c, std::uint64_t value) {
    auto& slot = values_[static_cast<std::size_t>(c)];
    slot = slot.value_or(0) + value;
  }
  bool operator==(const Counters&) const = default;

 private:
  std::array<std::optional<std::uint64_t>, kCounterCount> values_{};
};

// Where the cycles of resident warps went. `issued`: an instruction was issued. The others are waits: `issue`: ready,
// but the scheduler issued another warp; `dependency`: for an arithmetic result; `pipe`: for a pipe or a place in the
// memory path; `l1`, `l2`, `dram`, `shared`, `constant`: for data, by the farthest level that was accessed (constant
// memory's caches count as one level); `bank_conflict`: the part of the wait for shared memory that conflicts added;
// `barrier`; `start`: empty warp slots whose next block had been sent to the SM and had not begun; `tail`: other empty
// warp slots while the launch was still running.
#define ROOFWALK_WAITS(X) \
  X(issued)               \
  X(issue)                \
  X(dependency)           \
  X(pipe)                 \
  X(l1)                   \
  X(l2)                   \
  X(dram)                 \
  X(shared)               \
  X(bank_conflict)        \
  X(constant)             \
  X(barrier)              \
  X(start)                \
  X(tail)

enum class Wait {
#define ROOFWALK_ENUM(name) name,
  ROOFWALK_WAITS(ROOFWALK_ENUM)
#undef ROOFWALK_ENUM
};
#define ROOFWALK_ONE(name) +1
inline constexpr std::size_t kWaitCount = 0 ROOFWALK_WAITS(ROOFWALK_ONE);
#undef ROOFWALK_ONE

std::string_view wait_name(Wait wait);

// Warp cycles by cause.
struct WarpCycles {
  std::array<double, kWaitCount> cycles{};

  double& operator[](Wait wait) { return cycles[static_cast<std::size_t>(wait)]; }
  double operator[](Wait wait) const { return cycles[static_cast<std::size_t>(wait)]; }
  double total() const;
  void add(const WarpCycles& other, double times = 1);
};

// Part of the wait of other warps at a barrier, by what the last warp to arrive was doing since the first one had
// arrived: it worked (`issued`) or waited, at this line. Queueing for shared memory or L1 counts as waiting for that
// memory.
struct HeldUpBy {
  int line = 0;  // 0: code without a line
  Wait wait = Wait::issued;
  double cycles = 0;  // cycles that other warps waited
};

// Counters of one line of the learner's file (line 0: code without a line).
struct LineCounters {
  int line = 0;
  Counters counters;
  WarpCycles waits = {};
  std::vector<HeldUpBy> held_up = {};  // most first
  // The line's loads of global memory: the sectors and requests of each PTX instruction.
  struct Load {
    double sectors = 0, requests = 0;
  };
  std::vector<Load> loads = {};
  std::vector<int> callers = {};  // lines where the function with this line was inlined, ascending
};

// The parts of a kernel's modelled time, in ns. dram_ns to flops_ns and constant_ns: the least time that each part of
// the machine needs on its own. contention_ns: the time of the atomics on the most contended word or sector of global
// memory, which take turns. latency_ns: what the timing model adds to the slowest of these, because warps wait.
// launch_ns: the launch.
struct TimeParts {
  double dram_ns = 0, l2_ns = 0, l1_ns = 0, shared_ns = 0, issue_ns = 0, flops_ns = 0, latency_ns = 0, launch_ns = 0;
  double constant_ns = 0, contention_ns = 0;
};

// Whose instructions the counts of shared memory are of (requests, wavefronts, conflicts): those of the machine code,
// where ptxas has merged accesses at neighbouring addresses; or, for those accesses that could not be found there, of
// the PTX.
enum class CountsFrom { ptx, sass };
std::string_view counts_from_name(CountsFrom from);

struct KernelRecord {
  std::string name;  // as in the source, without the parameter list: "add", "scale<128>"
  Dim3 grid, block;
  int line = 0;  // of the launch
  int registers_per_thread = 0;
  std::uint32_t shared_bytes = 0;            // per block, static and dynamic
  std::uint64_t local_bytes_per_thread = 0;  // from ptxas: the kernel's own arrays and spilled registers
  // The spilled part of local_bytes_per_thread, for each call that is open at once in recursions, where saved registers
  // are part of it. PTX contains no spills to count.
  std::uint64_t spilled_bytes_per_thread = 0;
  CountsFrom shared_counts_from = CountsFrom::ptx;
  int resident_blocks_per_sm = 0;
  double occupancy = 0;  // resident warps over the SM's maximum
  double elapsed_ns = 0;
  TimeParts parts;   // all zero if time is not modelled
  WarpCycles waits;  // the same
  Counters counters;
  std::vector<LineCounters> lines;  // by line, ascending; only lines with something to report
};

enum class FaultKind {
  out_of_bounds,
  read_only,  // a write to an input
  misaligned,
  uninitialized,
  race,
  missing_wait,
  runaway,
  barrier_deadlock,
  trap,
  assertion,
  stack_overflow,
  bad_call,  // a call through a pointer that does not point to a function
  unsupported,
  resource
};

std::string_view fault_name(FaultKind kind);

// A learner's mistake that a run found. Nothing is measured after it; the device tells whether it can still be used.
struct Fault {
  FaultKind kind = FaultKind::trap;
  std::string kernel;  // as in KernelRecord::name
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  std::string file;                   // the learner's path
  int line = 0;                       // 0 unknown; on a real GPU the launch's, unless an assertion failed
  std::string buffer;                 // "c", "scratch 1"; empty if no buffer is involved
  std::optional<std::int64_t> index;  // in elements of that buffer; may be negative
  std::uint64_t extent = 0;           // number of elements in that buffer
  std::string message;                // one complete line, without file:line
};

// What kernels printed; on the virtual GPU in the order of launches, blocks and threads. Truncated if too long.
struct Printed {
  std::string text;
  std::uint64_t more_lines = 0;  // number of lines left out
  bool operator==(const Printed&) const = default;
};

// Linear indices of blocks, by launch of a plan.
using BlockNumbers = std::vector<std::vector<std::uint64_t>>;

// One run of one plan.
struct RunRecord {
  std::string device;  // "virtual:classroom"
  bool time_is_modelled = false;
  bool bytes_are_modelled = false;
  double elapsed_ns = 0;
  Counters counters;                  // of the whole plan, including the write-back at its end
  std::vector<KernelRecord> kernels;  // one per launch, memset ("memset") and copy ("memcpy"), in plan order
  Printed printed;
  std::vector<Fault> warnings;    // the first few mistakes that had no consequences; most need a sanitized run
  int watched_line = 0;           // the last line that wrote to the range watched by RunOptions; 0: none or unknown
  bool passed_milestone = false;  // whether the run took more work than RunOptions::milestone_work
  // By launch: blocks that resemble no block replayed by the timing model, and do too much of the launch's work to be
  // represented by others. Empty if the modelled time can be trusted.
  BlockNumbers untraced_blocks;
  // Facts that readers of the figures must know, one sentence each: missing counters and why, a host that was too
  // slow.
  std::vector<std::string> notes;
  std::optional<Fault> fault;
};

Json to_json(const Counters& counters);
Json to_json(const WarpCycles& waits);  // null if unknown
Json to_json(const RunRecord& record);  // every member, as in whole_json() (run_record_json.h)
Json to_json(const Fault& fault);
Json to_json(const std::vector<Fault>& warnings);
Json to_json(const Printed& printed);

}  // namespace roofwalk
