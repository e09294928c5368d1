// The interface of devices that run kernels: the virtual GPU, a CUDA device, and a scripted fake in tests.
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
#include "common/plan/plan.h"
#include "common/record/counters.h"
#include "common/record/dim3.h"
#include "common/specs/machine.h"

namespace roofwalk {

struct RunRecord;

struct DeviceBuffer {
  int id = -1;
  std::uint64_t address = 0;  // the address that kernels see; at least 256-byte aligned
  std::uint64_t size_bytes = 0;
};

struct RunOptions {
  // Virtual GPU: limit of work, in warp instructions and equally costly units (vgpu/state/work.h). A run that needs
  // more is a `runaway` fault.
  std::uint64_t max_work = 20'000'000'000;
  // Virtual GPU: RunRecord::passed_milestone tells whether the run took more work than this; 0: do not tell.
  std::uint64_t milestone_work = 0;
  // Limit of wall time. On a real GPU only this limit ends an endless loop, as a `runaway` fault. On the virtual GPU
  // max_work ends kernels that run too long, so exceeding this limit is an Error: the host is too slow.
  double max_seconds = 300;
  int threads = 0;        // virtual GPU: maximum; 0: all that the machine has. Does not affect any figure
  bool lockstep = true;   // virtual GPU: run whole warps as one (vgpu/exec/lockstep). Does not affect any figure
  bool sanitize = false;  // virtual GPU: races and reads of uninitialised memory are faults
  // In sanitized runs: shared memory is watched in about this many blocks per launch, namely the first ones and
  // others chosen by the seed; 0: in all blocks. Without figures, warps miss turns, chosen by the seed, too; 0: none.
  std::uint64_t sanitized_blocks = 0, sanitized_seed = 0;
  // In sanitized runs: a range of device memory to watch. The record tells which line wrote to it last.
  std::uint64_t watched_address = 0, watched_bytes = 0;
  // The virtual GPU's time. `clock`: the timing model replays sampled blocks. `whole_clock`: it replays every block.
  // `least`: no replay; elapsed_ns is the lower bound that the counts imply, and waits are empty.
  enum class Time { clock, whole_clock, least };
  Time time = Time::clock;
  // For `clock`: the sample of replayed blocks is pseudo-random and depends on the code and this seed. `also_traced`
  // adds blocks that an earlier run's record reported as missing (RunRecord::untraced_blocks).
  std::uint64_t sample_seed = 0;
  std::vector<std::vector<std::uint64_t>> also_traced = {};
  // The figures to measure. On a real GPU, each figure beyond the plan's time takes extra passes, each from the same
  // buffers and variables; the buffers keep the last pass's results. The virtual GPU needs one pass.
  //   all: counters where available, the time of each step, and the plan's time
  //   time: the plan's time, in one pass. If the plan has several steps, a fault does not name its step. On the virtual
  //     GPU: same as all
  //   none: one pass, step by step, only for results and faults. The virtual GPU counts instructions and their work
  //     (the Counters from warp_instructions to barriers), nothing about memory, and has no time
  enum class Figures { all, time, none };
  Figures figures = Figures::all;
};

// Identifies a real GPU; empty for the virtual one.
struct DeviceIdentity {
  std::string uuid;        // "GPU-...", "MIG-..."
  int driver_version = 0;  // in the driver's numbers: 13000 for CUDA 13.0
  std::string name = {};   // the driver's name for the GPU
  bool operator==(const DeviceIdentity&) const = default;
};

class Device {
 public:
  virtual ~Device() = default;

  const Machine& machine() const { return do_machine(); }
  bool supports(Counter counter) const { return do_supports(counter); }
  DeviceIdentity identity() const { return do_identity(); }

  // Allocates a buffer, whose contents are undefined until written. `element_bytes` serves to give the index of an
  // element in fault messages. Errors: out of memory.
  Result<DeviceBuffer> allocate(std::string_view name, std::uint64_t size_bytes, std::uint32_t element_bytes) {
    ROOFWALK_CHECK(size_bytes > 0 && element_bytes > 0);
    return do_allocate(name, size_bytes, element_bytes);
  }
  void release(const DeviceBuffer& buffer) { do_release(buffer); }

  // Makes the buffer read-only for plans. A device that sees every access (the virtual GPU) reports a write as a
  // `read_only` fault; with other devices the caller must compare the contents afterwards.
  void protect(const DeviceBuffer& buffer) { do_protect(buffer); }

  // From now on, the virtual GPU allocates buffers at pseudo-random addresses that depend on `seed`; 0: at the default
  // addresses. Does not affect any figure. On other devices, the driver chooses addresses.
  void lay_out(std::uint64_t seed) { do_lay_out(seed); }

  // write and read copy a whole range, which must lie inside the buffer.
  void write(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<const std::uint8_t> data) {
    ROOFWALK_CHECK(offset_bytes + data.size() <= buffer.size_bytes);
    do_write(buffer, offset_bytes, data);
  }
  void read(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<std::uint8_t> data) const {
    ROOFWALK_CHECK(offset_bytes + data.size() <= buffer.size_bytes);
    do_read(buffer, offset_bytes, data);
  }

  // Marks these bytes as uninitialized. A sanitized run of the virtual GPU reports kernels that read them before
  // writing.
  void forget(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::uint64_t size_bytes) {
    ROOFWALK_CHECK(offset_bytes + size_bytes <= buffer.size_bytes);
    do_forget(buffer, offset_bytes, size_bytes);
  }

  // Compiles or lowers the PTX. Errors name the PTX construct and the learner's line. Replaces the loaded module and
  // resets its globals.
  Status load(const Artifact& artifact) { return do_load(artifact); }

  // Makes the launch plan of the loaded artifact, as make_plan does and with the same errors. nullopt: this device does
  // not plan, so the caller must call make_plan. Devices in a process of their own do plan, so that this process does
  // not read untrusted artifacts.
  using AllocateScratch = std::function<Result<std::uint64_t>(std::uint64_t size_bytes)>;
  std::optional<Result<Plan>> plan(std::span<const ArgumentBytes> arguments, const AllocateScratch& allocate_scratch) {
    return do_plan(arguments, allocate_scratch);
  }

  // Runs the plan once, from a cold L2. The module's globals are as `load` or the last run left them. After a learner's
  // fault, the RunRecord has `fault`; an Error means that the harness or the machine is at fault. A plan contains
  // addresses of buffers and is valid as long as they live.
  Result<RunRecord> run(const Plan& plan, const RunOptions& options = {});

  // Returns kOk unless the device is lost: a kernel corrupted the GPU's context, or the device's process ended. Then
  // all buffers are gone, and this returns the reason as an Error; `read` gives zeros, `write` and `forget` do nothing,
  // and `allocate`, `load` and `run` return Errors. After a `read`, callers must check this before they use the data. A
  // device that can restart does so when the last of the lost buffers is released: then this is kOk again, and the
  // caller must allocate, load and plan again.
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

// Opens a device by name: "virtual:classroom", "virtual:h100-sxm/8" (a slice), "virtual:my-gpu.toml". "virtual" and
// "auto" mean virtual:classroom.
Result<std::unique_ptr<Device>> open_device(std::string_view name);

}  // namespace roofwalk
