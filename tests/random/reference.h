// Runs a program thread by thread, one instruction of one thread at a time, and counts what a machine with warps of 32
// threads that meet again behind every choice and loop must count.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/random/program.h"
#include "tests/random/reference_counts.h"

namespace roofwalk::random {

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
