// A machine with round figures for tests that count cycles by hand.
#pragma once

#include "common/specs/machine.h"

namespace roofwalk::vgpu {

inline Machine round_machine() {
  Machine m;
  m.sms = 1;
  m.clock_hz = 1e9;
  m.schedulers_per_sm = 4;
  m.fp32_lanes_per_sm = 128;
  m.half2_lanes_per_sm = m.int_lanes_per_sm = m.multiply_lanes_per_sm = 64;
  m.fp64_lanes_per_sm = 32;
  m.special_lanes_per_sm = 16;
  m.memory_lanes_per_sm = 32;
  m.tensor_fmas_per_clock = 1024;
  m.l1_bytes_per_clock = m.shared_bytes_per_clock = 128;
  m.l1_lines_per_clock = 1;
  m.l2_bytes_per_clock = m.l2_port_bytes_per_clock = m.l2_port_write_bytes_per_clock = 64;
  m.dram_bytes_per_s = 16e9;
  m.dram_sustained_share = 1;
  m.sectors_in_flight_per_sm = 1024;
  m.l1_latency_cycles = 30;
  m.l2_latency_cycles = 200;
  m.dram_latency_cycles = 500;
  m.shared_latency_cycles = 20;
  m.constant_words_per_clock = 1;
  m.constant_l1_latency_cycles = 25;
  m.constant_l15_latency_cycles = 60;
  m.barrier_latency_cycles = 25;
  return m;
}

}  // namespace roofwalk::vgpu
