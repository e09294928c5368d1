// A step of a plan (a kernel, a memset or a copy), from its launch until its traffic is known. Only the source files of
// Gpu include this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/vgpu/gpu.h"
#include "common/vgpu/timing/clock.h"
#include "common/vgpu/timing/least_time.h"
#include "common/vgpu/timing/occupancy.h"

namespace roofwalk::vgpu {

struct Gpu::Step {
  std::string name;
  Dim3 grid, block;
  int line = 0;
  int registers_per_thread = 0;
  std::uint32_t local_bytes_per_thread = 0;
  Occupancy occupancy;
  std::optional<Program> program;  // empty for memsets and copies
  LaunchTotals totals;
  const ProgramSchedule* schedule = nullptr;  // nullptr if there is no program
  ClockReading reading;
  std::vector<std::uint64_t> block_threads;
  SiteId first_site = 0;  // index into traffic_; the step has totals.sites.size() entries there
};

}  // namespace roofwalk::vgpu
