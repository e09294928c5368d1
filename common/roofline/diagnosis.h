// From counts and times to plain sentences: what holds the dot back, why, and what to change. Pure arithmetic and
// words.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/roofline/roofline.h"

namespace roofwalk {

// Facts about one measured attempt, all from counters. Times in ns; what is not known stays 0. The parts of the time
// (dram_ns ... launch_ns) are known where it is modelled: the slowest of them, latency_ns and launch_ns add up to
// elapsed_ns. Without them the rules go by counts and gaps alone. AI, ridge and gaps all belong to one level.
struct DiagnosisInput {
  double useful_flops = 0, executed_flops = 0;
  double atomic_flops = 0;  // beside those executed
  double compulsory_bytes = 0, dram_bytes = 0, l1_bytes = 0, l2_bytes = 0;
  double observed_ai = 0, algorithmic_ai = 0, ridge = 0;
  double elapsed_ns = 0, vertical_gap = 0, horizontal_gap = 0;
  double dram_ns = 0, l2_ns = 0, l1_ns = 0, shared_ns = 0, issue_ns = 0, flops_ns = 0, latency_ns = 0, launch_ns = 0;
  double constant_ns = 0;
  double warp_instructions = 0, thread_instructions = 0;  // the latter times active lanes
  double shared_wavefronts = 0, shared_bank_conflicts = 0;
  double constant_requests = 0, constant_passes = 0;  // of constant memory; one pass a word that lanes differ in
  double branches = 0, divergent_branches = 0;
  double launches = 0;
  double streaming_kernels = 0;  // launches that have a good part of the bytes, each byte once; see inspect.cpp
  double chained_kernels = 0;    // different ones that each move the compulsory bytes at most; see inspect.cpp
  double global_write_bytes = 0, dram_write_bytes = 0;  // the former at L1, local memory left out

  // Of the kernel that takes most time.
  double occupancy = 0;                    // resident warps over the most that fit
  double blocks = 0, resident_blocks = 0;  // in the grid; at once on the whole GPU
  double resident_blocks_per_sm = 0;
  int launch_line = 0;  // 0 unknown
  std::string limit;    // what keeps another block from an SM, where it is the block's own size: "its registers (...)"

  // Registers that ptxas had to keep in memory. The virtual GPU runs PTX, which has none of it. Its clock issues
  // the machine code's own instructions, so those that move them, and what waits for them, are in elapsed_ns. Their
  // bytes are not: spill_ns is what moving these once out and once back would take.
  double spilled_bytes_per_thread = 0, spill_ns = 0;
  double local_bytes = 0;  // at L1, of arrays that a kernel itself keeps in local memory: counted, part of l1_bytes

  bool is_impossible = false;    // implausible() says so (roofline.h)
  bool looks_like_half = false;  // the answer is wrong, by as much as 16-bit arithmetic would be
  int suspect_line = 0;          // that stored it; 0 unknown

  struct Line {
    int line = 0;
    double load_requests = 0, store_requests = 0;  // warp instructions on global memory
    double l1_sectors = 0;                         // 32-byte sectors that they asked L1 for
    double l1_lines = 0;                           // 128-byte lines that they touched
    double ideal_l1_sectors = 0;                   // the same, had the bytes used lain side by side
    double dram_bytes = 0, local_sectors = 0;
    double flops = 0, warp_instructions = 0;
    double shared_wavefronts = 0, shared_bank_conflicts = 0, divergent_branches = 0;
    double constant_requests = 0, constant_passes = 0;
  };
  std::vector<Line> lines;

  // What warps waited for, as shares of all their cycles, most first. Empty where unknown.
  struct Waiting {
    // "dram", "l2", "l1", "shared", "bank_conflict", "constant", "barrier", "dependency", "pipe", "tail"
    std::string_view id;
    std::string_view what;  // words that follow "wait for": "a barrier"
    double share = 0;
    int line = 0;  // where most of it is; 0 unknown
    // Of a barrier: what the last warp to come did, or waited for, meanwhile; shares of this wait, most first.
    struct Part {
      std::string_view id;  // as above, or "issue", "issued": it worked
      int line = 0;
      double share = 0;
    };
    std::vector<Part> last_warp = {};
  };
  std::vector<Waiting> waiting;
};

// Ids that stay: hints name them (`for` in exercise.toml), and so does the JSON.
namespace cause {
inline constexpr std::string_view kOverRoof = "over_roof", kLowPrecision = "low_precision",
                                  kLaunchBound = "launch_bound", kFewBlocks = "few_blocks", kTail = "tail",
                                  kSpills = "spills", kOverFetch = "over_fetch", kBankConflicts = "bank_conflicts",
                                  kDivergentConstants = "divergent_constants", kDivergence = "divergence",
                                  kExecutedOverUseful = "executed_over_useful", kUnfused = "unfused",
                                  kRedundantLoads = "redundant_loads", kNoReuse = "no_reuse",
                                  kLowOccupancy = "low_occupancy", kSumInMemory = "sum_in_memory",
                                  kBarriers = "barriers", kDependency = "dependency", kLatency = "latency",
                                  kSharedTraffic = "shared_traffic", kInstructionBound = "instruction_bound",
                                  kFpBound = "fp_bound";
}  // namespace cause

struct Diagnosis {
  std::string cause;       // one of diagnosis_causes(), or "none"
  std::string text;        // two or three sentences for the learner: gap, cause, lever
  int line = 0;            // the line to look at; 0 none
  double share = 0;        // of the time that a cure might save, estimated; 0 where the time is not what is wrong
  std::string brief = {};  // the cause in a few words, to stand beside the line; empty for "none"
  // The figure that it speaks of: "sectors", "ways", "lanes", "L1", "L2", "DRAM", "shared", "FLOPs", "runs"; empty
  // where waiting tells it.
  std::string figure = {};
};

// What the last warp at a barrier was mostly about: "waits for the loads of line 9", "waits for shared memory (line
// 12)", "works at line 12". Empty where it is not known.
std::string last_warp_words(const std::vector<DiagnosisInput::Waiting::Part>& parts);
// Whether that is waiting for data from global memory.
bool waits_for_loads(const std::vector<DiagnosisInput::Waiting::Part>& parts);

// Every cause that a diagnosis can have; "none" is no cause.
std::span<const std::string_view> diagnosis_causes();

// All causes worth curing, spills first and then the most costly first: each would save a good part of the time on its
// own. Empty where there is none, or no single one. Time that one cause explains is not put down to another as well.
std::vector<Diagnosis> diagnose(const DiagnosisInput& input);

// The first of them; where there is none, "none" and what can be said of the dot.
Diagnosis first_diagnosis(const DiagnosisInput& input, const std::vector<Diagnosis>& found);

}  // namespace roofwalk
