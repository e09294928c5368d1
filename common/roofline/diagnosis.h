// Turns counts and times into plain sentences: what keeps the dot from the roof, why, and what to change. Only
// arithmetic and text: no files, no devices.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/roofline/roofline.h"

namespace roofwalk {

// Facts about one measured attempt and its problem. Times in ns; unknown values stay 0. The parts of the time
// (dram_ns ... launch_ns) are known if the time is modelled: the slowest unit, latency_ns and launch_ns add up to
// elapsed_ns. If they are unknown, the rules use only counts and gaps. AI, ridge and gaps all belong to one level.
struct DiagnosisInput {
  double useful_flops = 0, executed_flops = 0;  // the former is 0 if the useful work is not FLOPs
  double least_flops = 0;                       // Work::least_flops; 0 if algebra saves none of the useful ones
  double useful_work = 0;                       // in `unit`
  WorkUnit unit = WorkUnit::flop;
  double atomic_flops = 0;  // not included in executed_flops
  double compulsory_bytes = 0, dram_bytes = 0, l1_bytes = 0, l2_bytes = 0;
  double observed_ai = 0, algorithmic_ai = 0, ridge = 0;
  double elapsed_ns = 0, vertical_gap = 0, horizontal_gap = 0;
  double dram_ns = 0, l2_ns = 0, l1_ns = 0, shared_ns = 0, issue_ns = 0, flops_ns = 0, latency_ns = 0, launch_ns = 0;
  double constant_ns = 0, contention_ns = 0;
  double warp_instructions = 0, thread_instructions = 0;    // the latter: one per active lane
  double shared_wavefronts = 0, shared_bank_conflicts = 0;  // conflicts of arrays and of arrivals, see Line
  double constant_requests = 0, constant_passes = 0;        // of constant memory; one pass per distinct word
  double branches = 0, divergent_branches = 0;
  double launches = 0;
  double streaming_kernels = 0;  // launches that each move a large part of the bytes, each byte once; see inspect.cpp
  double chained_kernels = 0;    // different kernels that each move a large part of the bytes; see inspect.cpp
  double global_write_bytes = 0, dram_write_bytes = 0;  // the former counted at L1, without local memory

  // These describe the kernel that takes the most time.
  double occupancy = 0;                    // resident warps over the maximum
  double blocks = 0, resident_blocks = 0;  // in the grid; at once on the whole GPU
  double resident_blocks_per_sm = 0;
  int launch_line = 0;  // 0 unknown
  std::string limit;    // what limits blocks per SM, if it is shared memory or registers: "its 48 KiB of shared memory"

  // Spilled registers. The virtual GPU runs PTX, which has none, but its timing model issues the machine code's
  // instructions, so elapsed_ns includes the instructions that move spills, and the waits for them. It does not
  // include their bytes: spill_ns is the time to move these to memory once and back once.
  double spilled_bytes_per_thread = 0, spill_ns = 0;
  double local_bytes = 0;  // at L1, of the kernel's own arrays in local memory: counted, part of l1_bytes

  bool is_impossible = false;    // whether implausible() (roofline.h) gives a reason
  bool looks_like_half = false;  // the result is wrong by as much as 16-bit arithmetic would cause
  int suspect_line = 0;          // the line that stored it; 0 unknown

  struct Line {
    int line = 0;
    double load_requests = 0, store_requests = 0;  // warp instructions on global memory
    double l1_sectors = 0;                         // 32-byte sectors that they requested from L1
    double l1_lines = 0;                           // 128-byte lines that they touched
    double ideal_l1_sectors = 0;                   // sectors, if the used bytes were contiguous
    double dram_bytes = 0, local_sectors = 0;
    double flops = 0, warp_instructions = 0;
    double shared_wavefronts = 0, shared_bank_conflicts = 0, divergent_branches = 0;
    double constant_requests = 0, constant_passes = 0;
    double atomics = 0;            // on global memory, one for each lane that takes part
    double arrival_conflicts = 0;  // the conflicts that are arrivals at a barrier object, cuda::barrier or mbarrier
  };
  std::vector<Line> lines;

  // The waits of warps, as shares of all their cycles, largest first. Empty if unknown.
  struct Waiting {
    // "dram", "l2", "l1", "shared", "bank_conflict", "constant", "barrier", "dependency", "pipe", "tail"
    std::string_view id;
    std::string_view what;  // completes "wait for", e.g. "a barrier"
    double share = 0;
    int line = 0;  // the line with the largest part of this wait; 0 unknown
    // For a barrier: what the last warp to arrive did meanwhile; shares of this wait, largest first.
    struct Part {
      std::string_view id;  // as above, or "issue", "issued": the last warp was working
      int line = 0;
      double share = 0;
    };
    std::vector<Part> last_warp = {};
  };
  std::vector<Waiting> waiting;
};

struct Diagnosis {
  std::string cause;       // one of diagnosis_causes(), or "none"
  std::string text;        // two or three sentences for the learner: gap, cause, remedy
  int line = 0;            // the line to look at; 0 none
  double share = 0;        // estimated share of the time that a cure saves; 0 if the time is not the problem
  std::string brief = {};  // the cause in a few words, for display next to the line; empty for "none"
  // The figure that the text is about: "sectors", "ways", "lanes", "L1", "L2", "DRAM", "shared", "FLOPs", "runs",
  // "passes"; empty if it is about waiting.
  std::string figure = {};
  bool moves_right = false;  // whether the cure is fewer bytes at some level
};

// Returns the ids of all causes that a diagnosis can have, in alphabetical order, without "none".
std::span<const std::string_view> diagnosis_causes();

// Returns all causes worth curing, spills first, then by cost: each would save a considerable part of the time on its
// own. Empty if there is none. No time is attributed to two causes.
std::vector<Diagnosis> diagnose(const DiagnosisInput& input);

// Returns the causes to which counts point and whose cure is fewer bytes, however little time it would save; strongest
// evidence first.
std::vector<Diagnosis> diagnose_bytes(const DiagnosisInput& input);

// Returns the causes to which goals about counts point, however little time their cures would save: bank conflicts, if
// there are any; divergence and executed over useful, if there is any; few blocks and low occupancy.
std::vector<Diagnosis> diagnose_counts(const DiagnosisInput& input);

// Returns over-fetch at the line that moves the most sectors beyond what it needs, however few; nullopt if no line
// does.
std::optional<Diagnosis> diagnose_sectors(const DiagnosisInput& input);

// Returns the first of `found`; if `found` is empty, "none" with a description of the dot's position.
Diagnosis first_diagnosis(const DiagnosisInput& input, const std::vector<Diagnosis>& found);

}  // namespace roofwalk
