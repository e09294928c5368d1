// The objects that all attempts of one program call use: course, toolkit, device, machine, threads.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "common/build/build.h"
#include "common/device/cuda/nvml/gpu_state.h"
#include "common/device/device.h"
#include "common/measure/roof_rates.h"
#include "common/roofline/roofline.h"
#include "grader/course/course.h"
#include "grader/rig/phases.h"

namespace roofwalk {

class Store;

using DeviceFactory = std::function<Result<std::unique_ptr<Device>>()>;

struct Rig {
  const Course* course = nullptr;
  Result<Toolkit> toolkit = Error{"no toolkit was looked for"};  // its error is reported by the first build
  std::filesystem::path include;                                 // the folder of roofwalk.cuh
  std::filesystem::path cache;                                   // compiled kernels, by content
  // Opens a new device for a learner's kernel. On a real GPU, all devices share one process, and all calls must come
  // from one thread.
  DeviceFactory open;
  DeviceFactory open_own;      // for the course's own kernels, in a process that runs no learner's kernel; empty:
                               // `open`
  DeviceFactory open_virtual;  // the virtual GPU that finds a fault's line in place of a real GPU; empty: `open`
  DeviceIdentity gpu;          // identity of a real GPU
  // Reads the present state of a real GPU. Empty, or returning an Error, if it cannot be read.
  std::function<Result<GpuState>()> gpu_state;
  // With Isolation::boxed, learners' code is compiled in boxes and, on the virtual GPU, also planned and run in boxes
  // (by the devices of `open` and `open_virtual`).
  Isolation isolation = Isolation::none;
  // Shows a line while this process waits until others have finished timing on the GPU; an empty line ends that. May
  // be empty.
  std::function<void(const std::string& line)> while_waiting;
  Machine machine;
  std::string device_kind;  // "virtual", "cuda"
  Roofs roofs;              // with the FP32 roof; the data sheet's, until use_measured_roofs() (grader/rig/roofs.h)
  RoofRates rates;          // the measured ones; none until then
  int threads = 1;
  int virtual_threads = 1;  // for the virtual GPU that is used in addition to a real GPU; `threads` is 1 on a real GPU
  Store* store = nullptr;   // stores the starters' dots; nullptr: starters are measured each time

  Phases* phases = nullptr;  // phases of this call; nullptr: not recorded

  bool is_usual = false;  // whether the device is the default one

  bool counts_bytes = true;  // false: the bytes are the virtual GPU's, even if times are measured

  const DeviceFactory& own_devices() const { return open_own ? open_own : open; }
  const DeviceFactory& virtual_devices() const { return open_virtual ? open_virtual : open; }
  bool is_real() const { return device_kind == "cuda"; }
  bool models() const { return !is_real() || !counts_bytes; }  // whether time, bytes or both are modelled
  std::string device_name() const { return device_kind + ":" + machine.name; }
  std::string device_option;         // " --device cuda:0", for a command that the user may type; empty: the default
  std::string device_title() const;  // the same for people: of a slice, it says how many of the chip's SMs it has

  // The path of a walk's picture. It contains the machine's name, unless the machine is the default, so that one
  // machine's picture does not overwrite another's.
  std::filesystem::path picture(const std::string& name, const std::string& ending) const;
};

// `device`: the value of --device. `program`: the executable for device processes; empty: this program. Errors: no
// such device; no box can be made here (with the reason and advice).
Result<Rig> open_rig(const Course& course, const std::string& device, int threads, Store* store,
                     Isolation isolation = Isolation::none, std::filesystem::path program = {});

// `headers`: a folder of headers that the kernel may include in addition to roofwalk.cuh; empty: none.
Result<Artifact> build_for(const Rig& rig, const std::filesystem::path& source,
                           const std::filesystem::path& headers = {});

// A hash of the names and contents of all files below a folder.
std::string folder_hash(const std::filesystem::path& folder);

// A hash of everything on which figures depend except the kernel: the kernel header, the machine, the device, this
// program and the toolkit.
std::string identity(const Rig& rig);

}  // namespace roofwalk
