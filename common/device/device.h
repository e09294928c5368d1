// The one interface behind which a kernel runs: the virtual GPU, a CUDA device, or a scripted fake in tests.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/build/artifact.h"
#include "common/device/run_record.h"
#include "common/plan/plan.h"
#include "common/specs/machine.h"

namespace roofwalk {

struct DeviceBuffer {
  int id = -1;
  std::uint64_t address = 0;  // as kernels see it; at least 256-byte aligned
  std::uint64_t size_bytes = 0;
};

struct RunOptions {
  // Of the virtual GPU, in warp instructions and what costs as much (vgpu/work.h): a run past it is a `runaway` fault.
  std::uint64_t max_work = 20'000'000'000;
  // Of wall time. The virtual GPU takes it for trouble with the host, an Error: which kernels end is a matter of
  // counts. On a real GPU nothing else ends a loop: a `runaway` fault.
  double max_seconds = 300;
  int threads = 0;        // of the virtual GPU, at most; 0: as many as the machine has. No figure depends on it
  bool lockstep = true;   // of the virtual GPU: whole warps run as one (vgpu/lockstep.h). No figure depends on it
  bool sanitize = false;  // of the virtual GPU: races and reads of what was never written are faults
  // Of a sanitized run: shared memory is watched in about so many blocks of each launch, the first ones and others by
  // the seed; 0: in all of them.
  std::uint64_t sanitized_blocks = 0, sanitized_seed = 0;
  // Of a sanitized run: bytes of device memory. The record says which line wrote to them last.
  std::uint64_t watched_address = 0, watched_bytes = 0;
  // The virtual GPU's time: `clock` replays sampled blocks on a model of the SMs; `whole_clock` replays every block;
  // `least` replays none: elapsed_ns is the least that the counts allow, and waits are empty.
  enum class Time { clock, whole_clock, least };
  Time time = Time::clock;
  // `clock`: which blocks are replayed depends on the code and on this number, as by chance. Those that the record of
  // an earlier run says were missing (RunRecord::untraced_blocks) are replayed too.
  std::uint64_t sample_seed = 0;
  std::vector<std::vector<std::uint64_t>> also_traced = {};
  // What the run finds out. On a real GPU each figure beyond the plan's time takes more passes over it, from the same
  // buffers and variables; what the last pass leaves stays in the buffers. The virtual GPU needs one pass.
  //   all: counters where they can be had, the time of each step, and the plan's time
  //   time: the plan's time, in one pass. Of a fault in a plan of several steps nobody knows the step. The virtual GPU:
  //     as all
  //   none: one pass, step by step, for what it computes or where it fails. The virtual GPU counts instructions and
  //     what they do (warp_instructions to barriers), nothing of memory, and has no time
  enum class Figures { all, time, none };
  Figures figures = Figures::all;
};

// What tells a real GPU from all others; empty for the virtual one.
struct DeviceIdentity {
  std::string uuid;        // "GPU-...", "MIG-..."
  int driver_version = 0;  // as the driver counts: 13000 for CUDA 13.0
  std::string name = {};   // as the driver calls the card
  bool operator==(const DeviceIdentity&) const = default;
};

class Device {
 public:
  virtual ~Device() = default;

  const Machine& machine() const { return do_machine(); }
  bool supports(Counter counter) const { return do_supports(counter); }
  DeviceIdentity identity() const { return do_identity(); }

  // `element_bytes` lets faults speak in elements. Contents are undefined until written. Errors: out of memory.
  Result<DeviceBuffer> allocate(std::string_view name, std::uint64_t size_bytes, std::uint32_t element_bytes) {
    ROOFWALK_CHECK(size_bytes > 0 && element_bytes > 0);
    return do_allocate(name, size_bytes, element_bytes);
  }
  void release(const DeviceBuffer& buffer) { do_release(buffer); }

  // Plans may only read the buffer from now on. Where the device sees every access (the virtual GPU), a write is a
  // `read_only` fault; elsewhere whoever wants to know compares afterwards.
  void protect(const DeviceBuffer& buffer) { do_protect(buffer); }

  // Of the virtual GPU: where buffers that are allocated from now on lie follows from the seed; 0: where they always
  // do. No figure depends on it. Other devices put them where their driver does.
  void lay_out(std::uint64_t seed) { do_lay_out(seed); }

  // Whole-range copies; offset + data.size() must lie inside the buffer.
  void write(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<const std::uint8_t> data) {
    ROOFWALK_CHECK(offset_bytes + data.size() <= buffer.size_bytes);
    do_write(buffer, offset_bytes, data);
  }
  void read(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<std::uint8_t> data) const {
    ROOFWALK_CHECK(offset_bytes + data.size() <= buffer.size_bytes);
    do_read(buffer, offset_bytes, data);
  }

  // Nobody knows what these bytes hold. A sanitized run of the virtual GPU finds kernels that read them first.
  void forget(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::uint64_t size_bytes) {
    ROOFWALK_CHECK(offset_bytes + size_bytes <= buffer.size_bytes);
    do_forget(buffer, offset_bytes, size_bytes);
  }

  // Compiles or lowers the PTX. Errors name the PTX construct and the learner's line. Replaces the loaded module and
  // resets its globals.
  Status load(const Artifact& artifact) { return do_load(artifact); }

  // Learns the launch plan of the artifact that was loaded, as make_plan does, with its errors: where a device lives in
  // a process of its own so that nothing here reads what a stranger wrote. Nothing where planning is the caller's.
  using AllocateScratch = std::function<Result<std::uint64_t>(std::uint64_t size_bytes)>;
  std::optional<Result<Plan>> plan(std::span<const ArgumentBytes> arguments, const AllocateScratch& allocate_scratch) {
    return do_plan(arguments, allocate_scratch);
  }

  // Runs the plan once, from a cold L2, with the module's globals as `load` left them or the last run changed them.
  // A learner's fault is a RunRecord with `fault` set; an Error is the harness's own trouble. A plan holds addresses of
  // buffers: it is good for as long as these live.
  Result<RunRecord> run(const Plan& plan, const RunOptions& options = {}) { return do_run(plan, options); }

  // A device can be lost: a kernel spoilt its context, or the process that it lives in ended. All buffers are gone
  // then. An Error says why; `read` gives zeros, `write` and `forget` do nothing, `allocate`, `load` and `run` are
  // Errors. Whoever decides by what was read asks this afterwards. A device that can begin anew does so when the last
  // of the lost buffers is released: kOk again, and what is needed has to be allocated, loaded and planned again.
  Status alive() const { return do_alive(); }

 private:
  virtual const Machine& do_machine() const = 0;
  virtual bool do_supports(Counter counter) const = 0;
  virtual DeviceIdentity do_identity() const { return {}; }
  virtual Result<DeviceBuffer> do_allocate(std::string_view name, std::uint64_t size_bytes,
                                           std::uint32_t element_bytes) = 0;
  virtual void do_release(const DeviceBuffer& buffer) = 0;
  virtual void do_protect(const DeviceBuffer&) {}
  virtual void do_lay_out(std::uint64_t) {}
  virtual void do_write(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<const std::uint8_t> data) = 0;
  virtual void do_read(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<std::uint8_t> data) const = 0;
  virtual void do_forget(const DeviceBuffer&, std::uint64_t, std::uint64_t) {}
  virtual Status do_load(const Artifact& artifact) = 0;
  virtual std::optional<Result<Plan>> do_plan(std::span<const ArgumentBytes>, const AllocateScratch&) {
    return std::nullopt;
  }
  virtual Result<RunRecord> do_run(const Plan& plan, const RunOptions& options) = 0;
  virtual Status do_alive() const { return kOk; }
};

// "virtual:classroom", "virtual:my-gpu.toml"; "virtual" and "auto" mean virtual:classroom.
Result<std::unique_ptr<Device>> open_device(std::string_view name);

}  // namespace roofwalk
