// Invented surroundings without problems; the tests add those.
#pragma once

#include "grader/doctor/findings.h"

namespace roofwalk::testing {

// Returns a laptop without a GPU.
inline Surroundings laptop() {
  Surroundings around;
  around.system = {.name = "Debian GNU/Linux 12 (bookworm)",
                   .container = {},
                   .slurm_job = {},
                   .cores = 4,
                   .memory_bytes = 16'000'000'000};
  around.storage = {.free_bytes = 120'000'000'000, .unwritable = {}, .network = {}};
  around.tools.compiler = "c++ (Debian 12.2.0-14) 12.2.0";
  around.tools.toolkit = Toolkit{.root = "/usr/local/cuda-13.0", .version = "13.0.88"};
  around.tools.ptxas_version = "13.0.88";
  around.tools.cupti_library = "/usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13";
  around.tools.runs = true;
  around.tools.run_text = "virtual:classroom computes vector-add right";
  around.screen = {.gnuplot = "gnuplot 5.4 patchlevel 4",
                   .gnuplot_formats = {"dumb", "pngcairo", "svg"},
                   .font = "DejaVu Sans",
                   .is_terminal = true,
                   .has_colors = true,
                   .has_utf8 = true,
                   .columns = 100};
  around.sandbox.box.bubblewrap = "bubblewrap 0.8.0";
  around.sandbox.box.works = true;
  return around;
}

inline ProbedGpu h100() {
  ProbedGpu gpu{.name = "NVIDIA H100 80GB HBM3", .major = 9, .minor = 0, .reaches_host_memory = false};
  GpuState& state = gpu.state;
  state.uuid = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f";
  state.name = gpu.name;
  state.driver_version = "580.65.06";
  state.sm_clock_mhz = 1980;
  state.sm_clock_max_mhz = 1980;
  state.clock_reason_bits = 0;
  state.temperature_c = 31;
  state.power_w = 71;
  state.power_limit_w = 700;
  state.memory_used_bytes = 600'000'000;
  state.memory_total_bytes = 85'520'809'984;
  state.processes.emplace();
  state.mig = false;
  state.persistence = true;
  state.compute_mode = "default";
  state.virtualization = "none";
  return gpu;
}

// Returns a server with one idle GPU that everybody may use.
inline Surroundings server() {
  Surroundings around = laptop();
  around.system.name = "Ubuntu 24.04.2 LTS";
  around.system.cores = 16;
  around.gpu.on_the_bus = 1;
  around.gpu.kernel_module = "580.65.06";
  around.gpu.driver = {.has_library = true, .cuda_version = 13000, .gpus = {h100()}};
  around.gpu.counters_for_admins_only = false;
  return around;
}

}  // namespace roofwalk::testing
