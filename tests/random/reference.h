// Runs a program thread by thread, one instruction of one thread at a time, and counts what a machine with warps of 32
// threads that meet again behind every choice and loop must count.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/random/program.h"

namespace roofwalk::random {

struct LineCounts {  // by line of the code; the names are those of the machine's counters
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  std::uint64_t flops_f16 = 0, flops_f32 = 0, flops_f64 = 0, flops_tensor = 0, special_functions = 0, atomic_flops = 0;
  std::uint64_t branches = 0, divergent_branches = 0, barriers = 0;
  std::uint64_t global_load_requests = 0, global_store_requests = 0, atomic_requests = 0;
  std::uint64_t l1_read_sectors = 0, l1_write_sectors = 0, l1_lines = 0, local_sectors = 0, local_write_sectors = 0;
  std::uint64_t shared_load_requests = 0, shared_store_requests = 0, shared_bytes = 0, shared_wavefronts = 0,
                shared_bank_conflicts = 0;
};

struct ReferenceRun {
  std::string invalid;  // why the program has no defined meaning; empty where it has one
  std::array<std::vector<std::uint8_t>, kBufferCount> buffers;
  std::vector<LineCounts> counts;
  std::uint64_t thread_instructions = 0;
  // The approximations that threads stored: sources and where the result lies in that buffer.
  struct Approximated {
    const Form* form;
    std::array<std::uint64_t, 4> sources;
    std::uint64_t offset;
  };
  std::vector<Approximated> approximated;
};

// `addresses` of the buffers, as the machine has them: sectors depend on them.
ReferenceRun run_reference(const Program& program, const Code& code,
                           const std::array<std::uint64_t, kBufferCount>& addresses);

}  // namespace roofwalk::random
