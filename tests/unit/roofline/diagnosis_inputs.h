// The figures of a plain kernel, which tests of diagnoses change.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/roofline/diagnosis.h"

namespace roofwalk::test {

inline constexpr double kPairs = 1 << 20;
inline constexpr double kIdealNs = 98304;  // time of 12 MiB at classroom's 128 GB/s
inline constexpr double kLaunchNs = 2500;

// Sets the time, and the gap, that follow from the parts.
inline void settle_time(DiagnosisInput& in, double ideal_ns) {
  in.elapsed_ns = std::max({in.dram_ns, in.l2_ns, in.l1_ns, in.shared_ns, in.constant_ns, in.issue_ns, in.flops_ns,
                            in.contention_ns}) +
                  in.latency_ns + in.launch_ns;
  in.vertical_gap = in.elapsed_ns / ideal_ns / std::max(1.0, in.horizontal_gap);
}

// Returns a coalesced vector add of 2^20 elements on classroom, with a grid that fills the GPU many times and
// `latency_ns` of waiting.
inline DiagnosisInput vector_add(double latency_ns) {
  DiagnosisInput in;
  in.useful_flops = in.executed_flops = kPairs;
  in.compulsory_bytes = in.dram_bytes = in.l1_bytes = in.l2_bytes = 12 * kPairs;
  in.observed_ai = in.algorithmic_ai = 1.0 / 12;
  in.ridge = 16;
  in.horizontal_gap = 1;
  in.dram_ns = kIdealNs;
  in.l2_ns = 44000;
  in.l1_ns = 12288;
  in.issue_ns = in.flops_ns = 16400;
  in.launch_ns = kLaunchNs;
  in.latency_ns = latency_ns;
  in.launches = in.streaming_kernels = 1;
  in.launch_line = 12;
  in.occupancy = 1;
  in.blocks = 4096;
  in.resident_blocks = 32;
  in.resident_blocks_per_sm = 4;
  in.branches = 32768;
  in.warp_instructions = 720896;
  in.thread_instructions = 32 * in.warp_instructions;
  in.lines = {{.line = 7,
               .load_requests = 65536,
               .store_requests = 32768,
               .l1_sectors = 393216,
               .ideal_l1_sectors = 393216,
               .dram_bytes = 12 * kPairs,
               .flops = kPairs,
               .warp_instructions = 720896}};
  in.waiting = {{"dram", "DRAM", 0.91, 7}, {"dependency", "the result of the instruction before", 0.04, 6}};
  settle_time(in, kIdealNs);
  return in;
}

inline std::vector<std::string> causes(const DiagnosisInput& in) {
  std::vector<std::string> names;
  for (const Diagnosis& diagnosis : diagnose(in)) names.push_back(diagnosis.cause);
  return names;
}

// Returns the diagnosis of an input that must have exactly one.
inline Diagnosis only(const DiagnosisInput& in) {
  const auto found = diagnose(in);
  EXPECT_EQ(found.size(), 1u) << testing::PrintToString(causes(in));
  return first_diagnosis(in, found);
}

}  // namespace roofwalk::test
