// What a device reports about one run of a plan. Counters that a device cannot count are absent, never 0.
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

// Every counter a device may report. The name is the JSON key. Units are in the name; plain counts are events.
#define ROOFWALK_COUNTERS(X)                                                                       \
  X(warp_instructions)   /* PTX instructions issued, a warp at a time */                           \
  X(thread_instructions) /* the same times active, unpredicated lanes */                           \
  X(flops_f16)           /* executed, of 16-bit floats; add, mul 1, fma 2 each */                  \
  X(flops_f32)                                                                                     \
  X(flops_f64)                                                                                     \
  X(flops_tensor)                                                                                  \
  X(atomic_flops)      /* adds of floats by atom and red: no FLOPs of an SM, in none of flops_* */ \
  X(special_functions) /* div, sqrt, rcp, ex2, ...: 1 each, also in flops_* */                     \
  X(branches)                                                                                      \
  X(divergent_branches)                                                                            \
  X(barriers)             /* warp arrivals at bar.sync */                                          \
  X(global_load_requests) /* warp instructions with at least one active lane */                    \
  X(global_store_requests)                                                                         \
  X(atomic_requests)  /* global atom and red */                                                    \
  X(l1_read_sectors)  /* 32-byte sectors that global and local loads ask L1 for */                 \
  X(l1_write_sectors) /* the same for stores and atomics */                                        \
  X(l1_ideal_sectors) /* global requests' sectors, had lanes asked side by side */                 \
  X(l1_read_hit_sectors)                                                                           \
  X(l1_lines)            /* 128-byte lines that requests touch */                                  \
  X(local_sectors)       /* of the L1 sectors read and written, local memory's */                  \
  X(local_write_sectors) /* of those, written */                                                   \
  X(l2_read_sectors)                                                                               \
  X(l2_write_sectors)                                                                              \
  X(l2_read_hit_sectors)                                                                           \
  X(dram_read_bytes)                                                                               \
  X(dram_write_bytes)                                                                              \
  X(shared_load_requests)                                                                          \
  X(shared_store_requests)                                                                         \
  X(shared_bytes) /* bytes that active lanes read or write */                                      \
  X(shared_wavefronts)                                                                             \
  X(shared_bank_conflicts) /* wavefronts beyond the fewest the request's width needs */            \
  X(constant_requests)     /* loads of constant memory, of at most 8 bytes a lane each */          \
  X(constant_passes)       /* one for each word of 4 or 8 bytes that their lanes differ in */      \
  X(constant_misses)       /* passes whose line the first constant cache lacked */                 \
  X(constant_bytes)        /* that passes read: one word each, for however many lanes */

enum class Counter {
#define ROOFWALK_ENUM(name) name,
  ROOFWALK_COUNTERS(ROOFWALK_ENUM)
#undef ROOFWALK_ENUM
};
#define ROOFWALK_ONE(name) +1
inline constexpr std::size_t kCounterCount = 0 ROOFWALK_COUNTERS(ROOFWALK_ONE);
#undef ROOFWALK_ONE

std::string_view counter_name(Counter counter);

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

// Where the cycles of resident warps went. `issued`: an instruction was issued. The rest are waits: `issue` ready, but
// the scheduler issued another warp; `dependency` for an arithmetic result; `pipe` for a pipe, or a place in the memory
// path; `l1`, `l2`, `dram`, `shared`, `constant` for data, by the farthest level that had to be asked (constant
// memory's own caches are one); `bank_conflict` the part of shared memory's that conflicts added; `barrier`; `tail`
// places for warps that stood empty while the launch ran on.
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

// A part of what warps waited for at a barrier: what the last one to come did since the first one stood there
// (`issued`: it worked), or waited for, and at which line. A queue in front of shared memory or L1 counts as that
// memory.
struct HeldUpBy {
  int line = 0;  // 0: code that no line owns
  Wait wait = Wait::issued;
  double cycles = 0;  // of the warps that stood
};

// Counters of one line of the learner's file (line 0: code that no line owns).
struct LineCounters {
  int line = 0;
  Counters counters;
  WarpCycles waits = {};
  std::vector<HeldUpBy> held_up = {};  // most first
  // Its loads of global memory: each PTX instruction's sectors and requests.
  struct Load {
    double sectors = 0, requests = 0;
  };
  std::vector<Load> loads = {};
  std::vector<int> callers = {};  // lines at which a function that this line belongs to was inlined, ascending
};

// What the modelled time of a kernel is made of, in ns: what each part of the machine needs at least, were it alone;
// what the clock takes beyond the slowest of them, since warps wait (latency); and the launch.
struct TimeParts {
  double dram_ns = 0, l2_ns = 0, l1_ns = 0, shared_ns = 0, issue_ns = 0, flops_ns = 0, latency_ns = 0, launch_ns = 0;
  double constant_ns = 0;
};

struct KernelRecord {
  std::string name;  // as written in the source, without its parameter list: "add", "scale<128>"
  Dim3 grid, block;
  int line = 0;  // of the launch
  int registers_per_thread = 0;
  std::uint32_t shared_bytes = 0;              // a block, static and dynamic
  std::uint64_t local_bytes_per_thread = 0;    // as ptxas reports it: the kernel's own arrays and spilled registers
  std::uint64_t spilled_bytes_per_thread = 0;  // of it, what is not the kernel's own: PTX has no spills to count
  int resident_blocks_per_sm = 0;
  double occupancy = 0;  // resident warps over the most an SM holds
  double elapsed_ns = 0;
  TimeParts parts;   // all zero where time is not modelled
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
  bad_call,  // through a pointer that is to no function
  unsupported,
  resource
};

std::string_view fault_name(FaultKind kind);

// A learner's mistake that a run uncovered. After one, nothing is measured; whether the device stays usable, it says.
struct Fault {
  FaultKind kind = FaultKind::trap;
  std::string kernel;  // as in KernelRecord::name
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  std::string file;                   // the learner's path
  int line = 0;                       // 0 unknown; a real GPU knows no more than that of the launch
  std::string buffer;                 // "c", "scratch 1"; empty where none is meant
  std::optional<std::int64_t> index;  // in elements of that buffer, may be negative
  std::uint64_t extent = 0;           // elements that the buffer holds
  std::string message;                // one line, complete in itself, without file:line
};

// What kernels printed, in the order of the plan's launches, of blocks and of threads, cut where it gets too much.
struct Printed {
  std::string text;
  std::uint64_t more_lines = 0;  // that were left out
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
  Counters counters;                  // over the whole plan, end-of-plan write-back included
  std::vector<KernelRecord> kernels;  // one for each launch, memset ("memset") and copy ("memcpy"), in plan order
  Printed printed;
  std::vector<Fault> warnings;  // a sanitized run: what goes well by luck; the first few
  int watched_line = 0;         // that wrote what RunOptions watches last; 0: none, or unknown
  // Modelled time: by launch, blocks unlike any that the clock replayed, of which too much of the launch's work is for
  // others to stand for it. Empty where the time may be believed.
  BlockNumbers untraced_blocks;
  // What a reader of the figures must know, a sentence each: counters that are missing and why, a host too slow.
  std::vector<std::string> notes;
  std::optional<Fault> fault;
};

Json to_json(const Counters& counters);
Json to_json(const WarpCycles& waits);  // null where nothing is known
Json to_json(const RunRecord& record);  // all of it, as whole_json() (run_record_json.h)
Json to_json(const Fault& fault);
Json to_json(const std::vector<Fault>& warnings);
Json to_json(const Printed& printed);

}  // namespace roofwalk
