// Runs a program thread by thread, one instruction at a time, and computes the counts of a machine whose warps of 32
// threads reconverge after every choice and loop.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/random/program.h"
#include "tests/random/reference_counts.h"

namespace roofwalk::random {

struct ReferenceRun {
  std::string invalid;  // why the program has no defined behaviour; empty if it has
  std::array<std::vector<std::uint8_t>, kBufferCount> buffers;
  std::vector<LineCounts> counts;
  std::uint64_t thread_instructions = 0;
  // Approximate results that threads stored: sources, and the result's offset in the buffer.
  struct Approximated {
    const Form* form;
    std::array<std::uint64_t, 4> sources;
    std::uint64_t offset;
  };
  std::vector<Approximated> approximated;
};

// `addresses` are the addresses of the virtual GPU's buffers; sector counts depend on them.
ReferenceRun run_reference(const Program& program, const Code& code,
                           const std::array<std::uint64_t, kBufferCount>& addresses);

}  // namespace roofwalk::random
