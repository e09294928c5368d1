// A GPU as data: one TOML file per machine, with a source for every number. No number is tuned for a chapter or a
// test.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/base/result.h"

namespace roofwalk {

// In a machine made from a driver's answers, 0 means unknown.
struct Machine {
  std::string name;            // "classroom"; "h100-sxm/8" is a slice
  std::string title;           // one line for people
  std::string driver_name;     // "NVIDIA H100 80GB HBM3", the driver's name for such a GPU; empty: none or unknown
  int compute_capability = 0;  // 80 for 8.0
  std::string arch;            // nvcc's target: "compute_80"

  int sms = 0;
  int chip_sms = 0;  // of the whole chip, if this is a slice of it (specs/slice.h); 0: this is a whole chip
  double clock_hz = 0;
  int max_threads_per_sm = 0;
  int max_blocks_per_sm = 0;
  int max_threads_per_block = 0;
  int registers_per_sm = 0;          // 32-bit
  int register_allocation_unit = 0;  // registers, allocated per warp
  int max_registers_per_thread = 0;
  int shared_bytes_per_sm = 0;
  int max_shared_bytes_per_block = 0;
  int reserved_shared_bytes_per_block = 0;
  int shared_allocation_bytes = 0;
  std::int64_t memory_bytes = 0;  // device memory

  int schedulers_per_sm = 0;   // warp instructions issued per clock
  int fp32_lanes_per_sm = 0;   // FMAs per clock
  int half2_lanes_per_sm = 0;  // packed half FMAs per clock, two values each
  int fp64_lanes_per_sm = 0;
  int int_lanes_per_sm = 0;          // 32-bit integer adds and logic per clock
  int multiply_lanes_per_sm = 0;     // 32-bit integer multiplies per clock
  int special_lanes_per_sm = 0;      // ex2, rsqrt, ... per clock
  int memory_lanes_per_sm = 0;       // lanes of loads and stores through L1 issued per clock
  int shared_lanes_per_sm = 0;       // lanes of accesses to shared memory and of shuffles issued per clock
  double tensor_fmas_per_clock = 0;  // per SM: f16 and bf16 factors, f32 sums, dense, by the chip's widest instruction
  double mma_sync_share = 0;         // share of these FMAs that mma.sync reaches

  int l1_bytes = 0;         // per SM, at most: what shared memory leaves of l1_shared_bytes (occupancy.h)
  int l1_shared_bytes = 0;  // per SM: L1 and shared memory together
  int l1_ways = 0;
  double l1_bytes_per_clock = 0;  // per SM
  double l1_lines_per_clock = 0;  // tag look-ups, per SM
  double l1_latency_cycles = 0;
  int constant_l1_bytes = 0;  // per SM; the first-level cache for loads of constant memory at computed addresses
  int constant_l1_line_bytes = 0;
  int constant_l1_ways = 0;
  double constant_words_per_clock = 0;  // delivered to a warp, per SM: one per pass
  double constant_l1_latency_cycles = 0;
  int constant_l15_bytes = 0;  // per SM; the second-level constant cache, whose misses go to L2
  int constant_l15_line_bytes = 0;
  int constant_l15_ways = 0;
  double constant_l15_latency_cycles = 0;
  std::int64_t l2_bytes = 0;  // whole GPU
  int l2_ways = 0;
  double l2_bytes_per_clock = 0;             // whole GPU
  double l2_port_bytes_per_clock = 0;        // maximum that one SM reads
  double l2_port_write_bytes_per_clock = 0;  // maximum that one SM writes
  int sectors_in_flight_per_sm = 0;          // outstanding L2 requests per SM
  double l2_latency_cycles = 0;              // of the SM's own half, if L2 has two
  double l2_far_latency_cycles = 0;          // of the other half; 0: L2 is one piece
  // Atomics in L2. An update is a lane's; of the words in a sector, the one with the most lanes counts.
  double atomic_updates_per_clock = 0;    // whole GPU
  double atomic_update_cycles = 0;        // between two updates of a word, integers
  double atomic_float_update_cycles = 0;  // the same, floats
  double atomic_request_cycles = 0;       // between two requests for the same sector, at least
  double dram_bytes_per_s = 0;            // from the data sheet
  double dram_sustained_share = 0;        // share of dram_bytes_per_s that a long stream reaches
  double dram_write_turnaround = 0;       // time that a written sector takes longer while DRAM also reads, in sectors
  int dram_page_bytes = 0;                // what a bank of DRAM keeps open
  int dram_banks = 0;                     // whole GPU
  double dram_page_opens_per_s = 0;       // whole GPU; 0: as many as needed
  double dram_latency_cycles = 0;
  double block_dispatch_cycles = 0;  // between two blocks, for the whole GPU
  double block_start_cycles = 0;     // from the end of a block until the first warp of the next one in its place begins
  double warp_start_cycles = 0;      // between the beginnings of a block's warps
  int dram_access_bytes = 32;        // least that L2 reads from DRAM at a time: one sector or two
  double shared_bytes_per_clock = 0;  // per SM
  double shared_latency_cycles = 0;
  double shared_swap_cycles = 0;        // a turn of the compare-and-swap loop that adds a float to shared memory
  double register_reads_per_clock = 3;  // per scheduler: registers that the FMAs of warps read
  double alu_latency_cycles = 0;        // fp32, half and integer
  double branch_latency_cycles = 0;     // from a branch that is taken until the warp's next instruction
  double fp64_latency_cycles = 0;
  double special_latency_cycles = 0;
  double tensor_latency_cycles = 0;
  double shuffle_latency_cycles = 0;
  double barrier_latency_cycles = 0;  // from the last arrival until the warps go on
  double barrier_warp_cycles = 0;     // between two arrivals, per SM
  double launch_ns = 0;               // between consecutive kernels in a stream

  bool is_slice() const { return chip_sms > 0; }
  std::string chip_name() const { return name.substr(0, is_slice() ? name.rfind('/') : std::string::npos); }
  std::string file_name() const;  // the name as part of a file's name: "h100-sxm-8-sms"

  double peak_fp32_flops_per_s() const { return 2.0 * sms * fp32_lanes_per_sm * clock_hz; }
  double peak_half_flops_per_s() const { return 4.0 * sms * half2_lanes_per_sm * clock_hz; }
  double peak_tensor_flops_per_s() const { return 2.0 * sms * tensor_fmas_per_clock * clock_hz; }
  double peak_mma_sync_flops_per_s() const { return peak_tensor_flops_per_s() * mma_sync_share; }
  // Returns for how long L2 is busy in a sector with a request whose most frequent word there has so many lanes.
  double update_cycles(int lanes, bool is_float) const {
    return std::max(atomic_request_cycles, lanes * (is_float ? atomic_float_update_cycles : atomic_update_cycles));
  }
  double l2_bytes_per_s() const { return l2_bytes_per_clock * clock_hz; }
  double l1_bytes_per_s() const { return l1_bytes_per_clock * sms * clock_hz; }
  double shared_bytes_per_s() const { return shared_bytes_per_clock * sms * clock_hz; }
  double ridge_flops_per_byte() const { return peak_fp32_flops_per_s() / dram_bytes_per_s; }
  double tensor_ridge_flops_per_byte() const { return peak_tensor_flops_per_s() / dram_bytes_per_s; }
};

// Loads a machine. `name` is a machine of the project ("classroom") or a path that ends in ".toml"; "/8" behind it
// means a slice of 8 SMs. Errors: there is no such machine or slice; a missing or impossible figure, with the file and,
// if the figure is there, its line.
Result<Machine> load_machine(const std::string& name);

// Returns the names of the project's machine files, sorted.
std::vector<std::string> machine_names();

Json to_json(const Machine& machine);

// Reads the output of to_json, for a machine described by another process. Errors: a figure is not between 0 (unknown)
// and the maximum for a machine file; the JSON differs in any other way from what to_json writes.
Result<Machine> machine_from_json(const Json& json);

}  // namespace roofwalk
