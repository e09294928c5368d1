// What every attempt of one call of the program shares: the course, the toolkit, the device, the machine, the threads.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "common/build/build.h"
#include "common/device/cuda/gpu_state.h"
#include "common/device/device.h"
#include "common/roofline/roofline.h"
#include "grader/course/course.h"
#include "grader/rig/phases.h"

namespace roofwalk {

class Store;

using DeviceFactory = std::function<Result<std::unique_ptr<Device>>()>;

struct Bench {
  const Course* course = nullptr;
  Result<Toolkit> toolkit = Error{"no toolkit was looked for"};  // its error is told only when something is to be built
  std::filesystem::path include;                                 // the folder of roofwalk.cuh
  std::filesystem::path cache;                                   // of compiled kernels, by content
  // A fresh device at each call, for a learner's kernel; of a real GPU all live in one process, and one thread may ask.
  DeviceFactory open;
  DeviceFactory open_own;  // empty: `open`. For the course's own kernels: a process that no learner's kernel touches
  DeviceFactory open_virtual;  // empty: `open`. What finds a fault's line: the virtual GPU in a real one's place
  DeviceIdentity gpu;          // of a real GPU
  // Of a real GPU: what it does now. Empty or an error: nobody can tell.
  std::function<Result<GpuState>()> gpu_state;
  // boxed: what a learner wrote is compiled and, on the virtual GPU, planned and run in boxes (open, open_virtual).
  Isolation isolation = Isolation::none;
  // For a person who waits until others have timed on the GPU: a line, an empty one when the wait is over. May be
  // empty.
  std::function<void(const std::string& line)> while_waiting;
  Machine machine;
  std::string device_kind;  // "virtual", "cuda"
  Roofs roofs;              // the data sheet's, until use_measured_roofs() (grader/rig/roofs.h)
  int threads = 1;
  int virtual_threads = 1;  // of the virtual GPU in a real one's place, which itself is asked by one thread
  Store* store = nullptr;   // where starters' dots are kept; nullptr: measured each time

  Phases* phases = nullptr;  // of this call, where somebody asked for them

  bool is_usual = false;  // the device that serves where nobody names one

  bool counts_bytes = true;  // else they are the virtual GPU's, also where times are measured

  const DeviceFactory& own_devices() const { return open_own ? open_own : open; }
  const DeviceFactory& virtual_devices() const { return open_virtual ? open_virtual : open; }
  bool is_real() const { return device_kind == "cuda"; }
  bool models() const { return !is_real() || !counts_bytes; }  // part of what makes a dot, at least
  std::string device_name() const { return device_kind + ":" + machine.name; }

  // Where the picture of a walk goes. Another machine's has a name of its own: neither overwrites the other.
  std::filesystem::path picture(const std::string& name, const std::string& ending) const;
};

// `device` is what --device says. `program` serves as the process of a device; empty: this program. Errors: no such
// device; no box can be made here (why, and what to change).
Result<Bench> open_bench(const Course& course, const std::string& device, int threads, Store* store,
                         Isolation isolation = Isolation::none, std::filesystem::path program = {});

// `headers`: a folder of headers that the kernel includes beside roofwalk.cuh; empty: none.
Result<Artifact> build_for(const Bench& bench, const std::filesystem::path& source,
                           const std::filesystem::path& headers = {});

// A hash of names and contents of all files below a folder.
std::string folder_hash(const std::filesystem::path& folder);

// A hash of what every figure depends on, whatever the kernel: the kernel header, the machine, this program, the
// toolkit.
std::string identity(const Bench& bench);

}  // namespace roofwalk
