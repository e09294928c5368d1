// A step of a plan (a kernel, a memset or a copy), from its launch until its traffic is known. Included only by the
// source files of Gpu.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/vgpu/gpu.h"
#include "common/vgpu/program/kernel_code.h"
#include "common/vgpu/program/machine_code.h"
#include "common/vgpu/timing/lower_bounds.h"
#include "common/vgpu/timing/occupancy.h"
#include "common/vgpu/timing/timing_model.h"

namespace roofwalk::vgpu {

// A kernel of a module; its launches share it.
struct Gpu::Kernel {
  const ptx::Function* function = nullptr;  // in the module: without the functions it calls
  KernelCode code;
  SharedAccesses shared_accesses;
  std::size_t lines = 0;  // number of lines of the learner's file that the code comes from
  bool takes_parameter_address = false;
  std::uint64_t kept_bytes = 0;  // that it takes of RunLimits::kept_bytes
  std::uint64_t plan = 0;        // the last one that it was launched in
};

struct Gpu::Loaded {
  ptx::Module module;
  std::map<std::string, std::uint64_t> addresses;    // by name of a module variable
  std::vector<int> managed;                          // buffers of variables that lie among those of the host
  bool points_to_constants = false;                  // the module has generic pointers to constant memory
  std::map<std::string, ProgramSchedule> schedules;  // by mangled kernel name
  // By the file whose lines count, then by mangled name.
  std::map<std::string, std::map<std::string, std::unique_ptr<Kernel>>> kernels;
};

struct Gpu::Step {
  std::string name;
  Dim3 grid, block;
  int line = 0;
  int registers_per_thread = 0;
  std::uint32_t local_bytes_per_thread = 0;
  Occupancy occupancy;
  const Kernel* kernel = nullptr;                   // null for memsets and copies
  std::optional<Program> program;                   // dropped when the launch has run
  std::uint32_t shared_bytes = 0, local_bytes = 0;  // of the program: per block and per thread
  LaunchTotals totals;
  const ProgramSchedule* schedule = nullptr;  // null for memsets and copies
  ModelledTime reading;
  std::vector<std::uint64_t> block_threads;
  InstructionId first_site = 0;  // index into traffic_, where the step has totals.sites.size() entries
};

}  // namespace roofwalk::vgpu
