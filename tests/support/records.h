// Canned records: a coalesced vector add of 2^20 elements as a device would report it.
#pragma once

#include "common/measure/measurement.h"
#include "common/measure/roofs.h"
#include "common/record/run_record.h"

namespace roofwalk::testing {

inline Machine test_machine() {
  Machine m;
  m.name = "test";
  m.arch = "compute_80";
  m.compute_capability = 80;
  m.sms = 8;
  m.max_threads_per_sm = 1024;
  m.clock_hz = 1e9;
  m.fp32_lanes_per_sm = 128;
  m.dram_bytes_per_s = 128e9;
  m.l2_bytes_per_clock = 384;
  m.l1_bytes_per_clock = 128;
  m.shared_bytes_per_clock = 128;
  return m;
}

inline Work vector_add_work() { return {.useful_flops = 1 << 20, .compulsory_bytes = 12 << 20}; }

inline RunRecord vector_add_record() {
  RunRecord record;
  record.device = "virtual:test";
  record.time_is_modelled = true;
  record.elapsed_ns = 120'000;
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    if (!is_of_machine_code(static_cast<Counter>(i))) record.counters.set(static_cast<Counter>(i), 0);
  }
  record.counters.set(Counter::warp_instructions, 400'000);
  record.counters.set(Counter::thread_instructions, 32 * 400'000);
  record.counters.set(Counter::flops_f32, 1 << 20);
  record.counters.set(Counter::l1_read_sectors, 262'144);
  record.counters.set(Counter::l1_write_sectors, 131'072);
  record.counters.set(Counter::l2_read_sectors, 262'144);
  record.counters.set(Counter::l2_write_sectors, 131'072);
  record.counters.set(Counter::dram_read_bytes, 8 << 20);
  record.counters.set(Counter::dram_write_bytes, 4 << 20);
  record.counters.set(Counter::sm_cycles, 8 * 120'000);
  record.counters.set(Counter::sm_active_cycles, 8 * 117'000);
  record.counters.set(Counter::scheduler_cycles, 4 * 8 * 117'000);
  record.counters.set(Counter::resident_warp_cycles, 32 * 8 * 117'000);
  KernelRecord kernel;
  kernel.name = "add";
  kernel.grid = {4096, 1, 1};
  kernel.block = {256, 1, 1};
  kernel.line = 14;
  kernel.registers_per_thread = 12;
  kernel.resident_blocks_per_sm = 4;
  kernel.occupancy = 1;
  kernel.elapsed_ns = record.elapsed_ns;
  kernel.parts.dram_ns = 98'304;
  kernel.parts.latency_ns = 117'500;
  kernel.parts.launch_ns = 2'500;
  kernel.counters = record.counters;
  LineCounters line{10, {}};
  line.counters.set(Counter::global_load_requests, 65'536);
  line.counters.set(Counter::global_store_requests, 32'768);
  line.counters.set(Counter::l1_read_sectors, 262'144);
  line.counters.set(Counter::l1_write_sectors, 131'072);
  line.counters.set(Counter::l1_lines, 98'304);
  line.counters.set(Counter::dram_read_bytes, 8 << 20);
  line.counters.set(Counter::dram_write_bytes, 4 << 20);
  kernel.lines = {line};
  record.kernels = {kernel};
  return record;
}

inline Measurement vector_add_measurement() {
  return measure(vector_add_record(), vector_add_work(), roofs_of(test_machine()));
}

}  // namespace roofwalk::testing
