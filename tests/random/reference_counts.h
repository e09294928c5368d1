// Computes what one execution of a line by a warp adds to the counters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tests/random/program.h"
#include "tests/random/requests.h"

namespace roofwalk::random {

struct LineCounts {  // of one line of the code; named like the virtual GPU's counters
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  std::uint64_t flops_f16 = 0, flops_f32 = 0, flops_f64 = 0, flops_tensor = 0, special_functions = 0, atomic_flops = 0,
                tensor_integer_operations = 0;
  std::uint64_t branches = 0, divergent_branches = 0, barriers = 0;
  std::uint64_t global_load_requests = 0, global_store_requests = 0, atomic_requests = 0, atomic_operations = 0;
  std::uint64_t l1_read_sectors = 0, l1_write_sectors = 0, l1_ideal_sectors = 0, l1_uncoalesced_sectors = 0,
                l1_uncoalesced_ideal_sectors = 0, l1_lines = 0, local_sectors = 0, local_write_sectors = 0;
  std::uint64_t shared_load_requests = 0, shared_store_requests = 0, shared_bytes = 0, shared_wavefronts = 0,
                shared_bank_conflicts = 0;
  std::uint64_t constant_requests = 0, constant_passes = 0, constant_bytes = 0;
};

// The lanes of a warp that execute one line in the same iterations of all enclosing loops.
struct Meeting {
  std::size_t line = 0;
  std::uint32_t came = 0;  // arriving lanes
  std::uint32_t did = 0;   // of these, lanes whose guard was true; for a branch, lanes that took it
  std::array<std::uint64_t, kLanes> address{};
  std::array<std::uint64_t, kLanes> second_address{};  // for cp.async, in global memory
};

// `parts`: whether the lanes diverge at the instruction.
void count_meeting(const Instruction& in, const Meeting& meeting, bool parts, LineCounts& out);

}  // namespace roofwalk::random
