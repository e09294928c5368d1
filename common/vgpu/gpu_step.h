// A step of a plan, from its launch until its traffic is known: a kernel, a memset or a copy. Only the files of Gpu
// include this.
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
  const ProgramSchedule* schedule = nullptr;  // null where there is no program
  ClockReading reading;
  std::vector<std::uint64_t> block_threads;
  SiteId first_site = 0;  // into traffic_; as many as totals.sites
};

}  // namespace roofwalk::vgpu
