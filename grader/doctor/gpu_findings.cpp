// The GPU, its counters and its other users. No finding here is `broken`, because the virtual GPU suffices for the
// course.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "grader/doctor/area_findings.h"

namespace roofwalk {
namespace {

// CUDA Toolkit release notes, "CUDA Driver": the oldest driver for any 13.x.
constexpr int kOldestDriver = 580, kOldestCuda = 13000;
// CUDA 13.0 compiles for Turing and later (nvcc --list-gpu-arch).
constexpr int kOldestChip = 75;
// From this driver on, CAP_PERFMON also opens the counters (NVIDIA's page on ERR_NVGPUCTRPERM).
constexpr int kPerfmonDriver = 565;

int chip_of(const ProbedGpu& gpu) { return 10 * gpu.major + gpu.minor; }

std::string driver_version(const Surroundings& around) {
  for (const ProbedGpu& gpu : around.gpu.driver.gpus) {
    if (gpu.state.driver_version) return *gpu.state.driver_version;
  }
  return around.gpu.kernel_module;
}

int driver_branch(const Surroundings& around) { return std::atoi(driver_version(around).c_str()); }

std::string cuda_text(int version) { return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10); }

std::string gpu_title(const Surroundings& around, std::size_t index) {
  return around.gpu.driver.gpus.size() == 1 ? "GPU" : fmt::format("GPU {}", index);
}

// Returns the title of a finding about one GPU: "clocks" if there is only one GPU, "clocks 1" if there are several.
// Also makes the finding's id, which has `between` in place of the space: "clocks_1".
std::string of_gpu(const Surroundings& around, std::string_view what, std::size_t index, char between) {
  return around.gpu.driver.gpus.size() == 1 ? std::string(what) : fmt::format("{}{}{}", what, between, index);
}

std::string how_to_get_into(const std::string& container) {
  if (container == "docker") return "start the container with: docker run --gpus all ...";
  if (container == "podman") return "start the container with: podman run --device nvidia.com/gpu=all ...";
  return "ask whoever starts the container to give it the GPU";
}

void add_absent_gpu(const Surroundings& around, FindingList& list) {
  const auto& system = around.system;
  const bool is_on_bus = around.gpu.on_the_bus > 0;
  if (system.wsl > 0) {
    return list.not_here("gpu", "GPU", "none: Windows passes none on to Linux",
                         {"if this computer has one: install NVIDIA's driver in Windows (never inside WSL), then run "
                          "`wsl --shutdown` there"});
  }
  if (is_on_bus && !system.container.empty()) {
    return list.could_be_better("gpu", "GPU", "this machine has an NVIDIA GPU, but this container may not use it",
                                {how_to_get_into(system.container)});
  }
  if (is_on_bus) {
    return list.could_be_better("gpu", "GPU", "this machine has an NVIDIA GPU, but NVIDIA's driver is missing",
                                {fmt::format("install driver {} or later (nvidia.com/drivers), then restart; until "
                                             "then the virtual GPU does all the work",
                                             kOldestDriver)});
  }
  list.not_here("gpu", "GPU", "none, and nothing is missing");
}

void add_silent_driver(const Surroundings& around, FindingList& list) {
  const auto& gpu = around.gpu;
  if (gpu.hides_all) {
    return list.could_be_better("gpu", "GPU", "the driver is installed, but CUDA_VISIBLE_DEVICES hides every GPU",
                                {"to see them again:", "$ unset CUDA_VISIBLE_DEVICES"});
  }
  std::string what = fmt::format("the driver is installed, but reports no GPU: {}", gpu.driver.trouble);
  std::string advice = "restart the machine; if that does not help, reinstall the driver";
  switch (gpu.driver.error) {
    case 0:
    case 100:  // CUDA_ERROR_NO_DEVICE
      what = "the driver is installed, but reports no GPU";
      advice = around.system.container.empty()
                   ? "`nvidia-smi` shows whether it sees one; in a batch job, request one (Slurm: --gres=gpu:1)"
                   : how_to_get_into(around.system.container);
      break;
    case 304:  // CUDA_ERROR_OPERATING_SYSTEM
      advice = "the system forbids it: in a container, check that /dev/nvidia* exist and /proc is writable";
      break;
    case 803:  // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
      what = "the driver was updated while it ran: its library and its kernel module differ";
      advice = "restart the machine";
      break;
    case 804:  // CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
      what = "the driver's library is newer than the driver in the kernel, and this GPU does not allow that";
      advice = fmt::format("install driver {} or later; in a container: on the host", kOldestDriver);
      break;
    default:
      break;
  }
  list.could_be_better("gpu", "GPU", what, {advice});
}

void add_driver(const Surroundings& around, FindingList& list) {
  const std::string version = driver_version(around);
  const int cuda = around.gpu.driver.cuda_version;
  std::string what = version.empty() ? "" : version + ", ";
  what += cuda > 0 ? "up to " + cuda_text(cuda) : "it does not say for which CUDA";
  if (cuda >= kOldestCuda) return list.ok("driver", "driver", what);
  list.could_be_better("driver", "driver", what + fmt::format(": CUDA 13 needs driver {} or later", kOldestDriver),
                       {"until it is updated the GPU cannot run kernels for us: counters, times and roofs are the "
                        "virtual GPU's"});
}

void add_chip(const Surroundings& around, std::size_t index, FindingList& list) {
  const ProbedGpu& gpu = around.gpu.driver.gpus[index];
  std::string what = fmt::format("{}, compute capability {}.{}", gpu.name, gpu.major, gpu.minor);
  if (gpu.state.memory_total_bytes) {
    what += fmt::format(", {:.0f} GB", static_cast<double>(*gpu.state.memory_total_bytes) * 1e-9);
  }
  const std::string id = of_gpu(around, "gpu", index, '_');
  if (chip_of(gpu) < kOldestChip) {
    return list.not_here(
        id, gpu_title(around, index),
        what + fmt::format(": CUDA 13 compiles for {}.{} and later", kOldestChip / 10, kOldestChip % 10),
        {"nothing to do: the virtual GPU takes its place"});
  }
  if (!can_measure(around, gpu)) return list.not_here(id, gpu_title(around, index), what);
  list.ok(id, gpu_title(around, index), what, {fmt::format("use it: ./roofwalk run NAME --device cuda:{}", index)});
}

void add_clocks(const Surroundings& around, std::size_t index, FindingList& list) {
  const GpuState& state = around.gpu.driver.gpus[index].state;
  const std::string id = of_gpu(around, "clocks", index, '_'), title = of_gpu(around, "clocks", index, ' ');
  if (!state.sm_clock_mhz || !state.sm_clock_max_mhz) {
    const std::string why = around.gpu.driver.nvml_trouble;
    return list.could_be_better(id, title, "cannot be read" + (why.empty() ? "" : ": " + why),
                                {"times are measured anyway, but nothing shows whether the GPU was slowed down"});
  }
  std::string what = fmt::format("{} of {} MHz", *state.sm_clock_mhz, *state.sm_clock_max_mhz);
  if (state.temperature_c) what += fmt::format(", {} C", *state.temperature_c);
  if (state.power_w && state.power_limit_w)
    what += fmt::format(", {:.0f} of {:.0f} W", *state.power_w, *state.power_limit_w);
  const std::uint64_t bits = state.clock_reason_bits.value_or(0);
  bool spoils = false;
  for (const ClockReason& reason : clock_reasons()) {
    if ((bits & reason.bit) == 0) continue;
    what += fmt::format("; {}", reason.words);
    spoils = spoils || reason.weight == ClockReason::Weight::spoils;
  }
  if (!spoils) return list.ok(id, title, what);
  list.could_be_better(id, title, what,
                       {"times measured now are discarded: let it cool, check its fans and its power supply"});
}

// Advises persistence mode if it is off: a server without it unloads the driver when nobody uses the GPU, so every
// program must load it again. A desktop keeps the driver loaded in any case.
void add_persistence(const Surroundings& around, std::size_t index, FindingList& list) {
  const GpuState& state = around.gpu.driver.gpus[index].state;
  if (state.persistence.value_or(true) || around.system.wsl > 0) return;
  const std::string id = of_gpu(around, "persistence", index, '_');
  list.could_be_better(id, of_gpu(around, "start-up", index, ' '),
                       "the driver shuts the GPU down whenever nobody uses it, so runs start slowly",
                       {"an administrator can keep it ready (persistence mode):",
                        "$ sudo systemctl enable --now "
                        "nvidia-persistenced"});
}

void add_host_memory(const Surroundings& around, FindingList& list) {
  const auto& gpus = around.gpu.driver.gpus;
  const bool reaches = std::any_of(gpus.begin(), gpus.end(),
                                   [](const ProbedGpu& gpu) { return gpu.reaches_host_memory.value_or(false); });
  if (!reaches) return;
  list.ok("host_memory", "host memory",
          "kernels can reach the memory of the program that starts them (HMM); runs are made by a process of their own "
          "that holds nothing but inputs");
}

std::string process_text(const GpuProcess& process) {
  std::string text = process.name.empty() ? fmt::format("process {}", process.pid) : process.name;
  if (!process.user.empty()) text += " of " + process.user;
  if (process.used_bytes) text += fmt::format(" ({:.1f} GB)", static_cast<double>(*process.used_bytes) * 1e-9);
  return text;
}

void add_others(const Surroundings& around, std::size_t index, FindingList& list) {
  const GpuState& state = around.gpu.driver.gpus[index].state;
  const std::string id = of_gpu(around, "others", index, '_'), title = of_gpu(around, "others", index, ' ');
  if (!state.processes) {
    return list.not_here(id, title, "other processes on the GPU cannot be seen; its memory is watched instead");
  }
  if (!state.processes->empty()) {
    std::string what = process_text(state.processes->front());
    if (state.processes->size() > 1) what += fmt::format(" and {} more", state.processes->size() - 1);
    FindingList::Advice advice = {"times would be unfair: wait until the GPU is free"};
    if (around.gpu.driver.gpus.size() > 1) advice[0] += ", or take another one (--device cuda:N)";
    if (!around.gpu.sees_host_pids)
      advice.push_back("this is a container: only the host can tell whose processes these are");
    return list.could_be_better(id, title, "on the GPU now: " + what, std::move(advice));
  }
  list.ok(id, title,
          around.gpu.sees_host_pids ? "nobody else computes on it"
                                    : "nobody computes on it, as far as a container can see");
}

void add_slices(const Surroundings& around, std::size_t index, FindingList& list) {
  const GpuState& state = around.gpu.driver.gpus[index].state;
  const std::string id = of_gpu(around, "slices", index, '_'), title = of_gpu(around, "slices", index, ' ');
  if (!state.mig.value_or(false)) return;
  if (state.uuid.starts_with("MIG-")) {
    return list.ok(id, title, "this is a slice of a GPU (MIG): its roofs are measured on the slice itself",
                   {"counters need a slice with one compute instance"});
  }
  list.could_be_better(id, title, "the GPU is split into slices (MIG), and none of them is assigned to you",
                       {"`nvidia-smi -L` lists them; take one by its name:", "$ export CUDA_VISIBLE_DEVICES=MIG-..."});
}

void add_compute_mode(const Surroundings& around, std::size_t index, FindingList& list) {
  const std::string mode = around.gpu.driver.gpus[index].state.compute_mode.value_or("default");
  const std::string id = of_gpu(around, "compute_mode", index, '_'), title = of_gpu(around, "access", index, ' ');
  if (mode == "prohibited") {
    list.could_be_better(id, title, "the GPU's compute mode forbids all programs that compute",
                         {"an administrator can change it:", "$ sudo nvidia-smi -c DEFAULT"});
  } else if (mode != "default") {
    list.ok(id, title, "one program at a time, so nobody can disturb a measurement");
  }
}

void add_permission(const Surroundings& around, FindingList& list) {
  const auto& gpu = around.gpu;
  const std::string id = "permission", title = "permission";
  if (!gpu.counters_for_admins_only) {
    if (around.system.wsl > 0) {
      return list.ok(id, title, "Windows decides; the first run will show",
                     {"if it is refused: NVIDIA Control Panel, Desktop > Enable Developer Settings, then Manage GPU "
                      "Performance Counters > Allow access to all users"});
    }
    return list.ok(id, title, "not known here; the first run will show");
  }
  if (!*gpu.counters_for_admins_only) return list.ok(id, title, "everybody may read the GPU's counters");
  if (gpu.may_administer) return list.ok(id, title, "administrators only, and that includes you");
  const bool perfmon_suffices = driver_branch(around) >= kPerfmonDriver;
  if (gpu.may_monitor && perfmon_suffices) return list.ok(id, title, "granted to you (CAP_PERFMON)");

  FindingList::Advice advice = {"you can go on: bytes are the virtual GPU's then, and every screen says so"};
  if (!around.system.container.empty()) {
    advice.push_back("the container can be started with this permission:");
    advice.push_back(fmt::format("$ {} run --cap-add={} ...", around.system.container == "podman" ? "podman" : "docker",
                                 perfmon_suffices ? "PERFMON" : "SYS_ADMIN"));
  } else {
    advice.push_back("an administrator opens them for all with one line in /etc/modprobe.d/roofwalk.conf:");
    advice.push_back("$ options nvidia NVreg_RestrictProfilingToAdminUsers=0");
    advice.push_back("then `update-initramfs -u` (Debian, Ubuntu) and a restart");
  }
  list.could_be_better(id, title, "only administrators may read the GPU's counters", std::move(advice));
}

bool is_virtual(const ProbedGpu& gpu) { return gpu.state.virtualization == "vgpu"; }

}  // namespace

bool can_measure(const Surroundings& around, const ProbedGpu& gpu) {
  return around.gpu.driver.cuda_version >= kOldestCuda && chip_of(gpu) >= kOldestChip;
}

bool can_measure(const Surroundings& around) {
  const auto& gpus = around.gpu.driver.gpus;
  return std::any_of(gpus.begin(), gpus.end(), [&](const ProbedGpu& gpu) { return can_measure(around, gpu); });
}

void add_gpu(const Surroundings& around, FindingList list) {
  const DriverProbe& driver = around.gpu.driver;
  if (!driver.has_library) return add_absent_gpu(around, list);
  if (driver.gpus.empty()) return add_silent_driver(around, list);
  for (std::size_t i = 0; i < driver.gpus.size(); ++i) add_chip(around, i, list);
  add_driver(around, list);
  for (std::size_t i = 0; i < driver.gpus.size(); ++i) {
    if (!can_measure(around, driver.gpus[i])) continue;
    add_clocks(around, i, list);
    add_persistence(around, i, list);
  }
  if (can_measure(around)) add_host_memory(around, list);
  if (!around.gpu.visible_devices.empty()) {
    list.ok("visible_devices", "choice", fmt::format("CUDA_VISIBLE_DEVICES={}", around.gpu.visible_devices));
  }
}

void add_counters(const Surroundings& around, FindingList list) {
  if (!can_measure(around)) return;
  if (around.tools.cupti_library.empty()) {
    list.could_be_better("cupti", "CUPTI", "NVIDIA's library that reads counters was not found",
                         {"install CUPTI 13 (package cuda-cupti-13-0), or let ./roofwalk install a toolkit: unset "
                          "ROOFWALK_CUDA and CUDA_HOME"});
  } else {
    list.ok("cupti", "CUPTI", "NVIDIA's library that reads them: " + around.tools.cupti_library);
  }
  add_permission(around, list);
  const auto& gpus = around.gpu.driver.gpus;
  if (std::any_of(gpus.begin(), gpus.end(), is_virtual)) {
    list.could_be_better("vgpu", "vGPU", "this GPU is shared between virtual machines by NVIDIA's vGPU",
                         {"counters need the plugin parameter enable_profiling, which the host's administrator sets; "
                          "times depend on the other machines"});
  }
  if (around.gpu.has_mps) {
    list.could_be_better("mps", "MPS", "NVIDIA's multi-process service runs: counters do not work under it",
                         {"an administrator can end it:", "$ echo quit | nvidia-cuda-mps-control"});
  }
}

void add_sharing(const Surroundings& around, FindingList list) {
  if (!can_measure(around)) return;
  for (std::size_t i = 0; i < around.gpu.driver.gpus.size(); ++i) {
    if (!can_measure(around, around.gpu.driver.gpus[i])) continue;
    add_others(around, i, list);
    add_slices(around, i, list);
    add_compute_mode(around, i, list);
  }
  if (!around.system.slurm_job.empty()) {
    list.ok("slurm", "Slurm", fmt::format("this is job {}: the GPUs that it was given", around.system.slurm_job));
  }
}

}  // namespace roofwalk
