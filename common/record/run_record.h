// A device's report on one run of a plan. Counters that a device cannot count are absent, never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/record/counters.h"
#include "common/record/dim3.h"
#include "common/record/fault.h"
#include "common/record/printed.h"
#include "common/record/times.h"

namespace roofwalk {

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

Json to_json(const RunRecord& record);  // every member, as in whole_json() (run_record_json.h)

}  // namespace roofwalk
