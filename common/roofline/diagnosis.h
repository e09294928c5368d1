// From counts to one plain sentence: what holds the dot back, and what to change. Pure arithmetic and words.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/roofline/roofline.h"

namespace roofwalk {

// Facts about one measured attempt, all from counters. Times in ns; what is not known stays 0. The parts of the time
// (dram_ns ... launch_ns) are known where it is modelled; without them the rules go by counts and gaps alone. AI, ridge
// and gaps all belong to one level, DRAM or another.
struct DiagnosisInput {
  double useful_flops = 0, executed_flops = 0;
  double compulsory_bytes = 0, dram_bytes = 0, l1_bytes = 0, l2_bytes = 0;
  double observed_ai = 0, algorithmic_ai = 0, ridge = 0;
  double elapsed_ns = 0, vertical_gap = 0, horizontal_gap = 0;
  double dram_ns = 0, l2_ns = 0, l1_ns = 0, shared_ns = 0, issue_ns = 0, flops_ns = 0, latency_ns = 0, launch_ns = 0;
  double occupancy = 0;                    // of the kernel that takes most time
  double blocks = 0, resident_blocks = 0;  // of that kernel: in the grid; at once on the whole GPU
  double shared_wavefronts = 0, shared_bank_conflicts = 0;
  double branches = 0, divergent_branches = 0;

  struct Line {
    int line = 0;
    double load_requests = 0, store_requests = 0;  // warp instructions on global memory
    double l1_sectors = 0;                         // 32-byte sectors that they asked L1 for
    double ideal_l1_sectors = 0;                   // the same, had the bytes used lain side by side
    double dram_bytes = 0;
    double shared_bank_conflicts = 0, divergent_branches = 0;
  };
  std::vector<Line> lines;

  // What warps waited for, as shares of their cycles, most first: words that follow "wait for". Empty where unknown.
  struct Waiting {
    std::string what;  // "DRAM", "a barrier"
    double share = 0;
    int line = 0;  // where most of it is; 0 unknown
  };
  std::vector<Waiting> waiting;
};

struct Diagnosis {
  std::string cause;  // one of diagnosis_causes(), or "none"
  std::string text;   // one or two sentences for the learner, lever included
  int line = 0;       // the line to look at; 0 none
};

// Every cause that a diagnosis can have, as ids that stay: hints name them (`for` in exercise.toml). "none" is no
// cause.
std::span<const std::string_view> diagnosis_causes();

// The first rule that fits, the most costly disease first: a cure is worth naming only where it would move the dot.
Diagnosis diagnose(const DiagnosisInput& input);

}  // namespace roofwalk
