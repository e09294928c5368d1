// A real GPU behind the device interface, in this process. A learner's kernel can make the GPU's context unusable, and
// with it this process, which may then have to end (Device::alive). Use the device from one thread only.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/build/assemble.h"
#include "common/device/cuda/cold_cache.h"
#include "common/device/cuda/cupti/range_counters.h"
#include "common/device/cuda/driver/driver_api.h"
#include "common/device/cuda/gpu_properties.h"
#include "common/device/cuda/loaded_module.h"
#include "common/device/cuda/output_capture.h"
#include "common/device/device.h"
#include "common/record/run_record.h"

namespace roofwalk {

// Opens the counters and converts their values to Counters. `known`: the Counters that this GPU can have.
struct CounterSource {
  std::function<Result<std::unique_ptr<RangeCounters>>(CUcontext context, CUdevice device, int ordinal)> open;
  std::function<Counters(const RangeValues& values)> counters_of;
  std::vector<Counter> known;
};

struct CudaOptions {
  int ordinal = 0;
  // Compiles PTX for a chip ("sm_90a") with the toolkit's ptxas. If empty, or if ptxas does not know the chip, the
  // driver's compiler is used.
  std::function<Result<ChipCode>(const Artifact& artifact, std::string_view ptx, const std::string& chip)> assemble;
  std::optional<CounterSource> counters;  // nullopt: times only
  double preheat_s = 0.5;                 // seconds of work before timing on an idle GPU, whose clocks rise slowly
  std::function<double()> host_ns;        // a monotonic clock of the host; empty: std::chrono::steady_clock
};

// Returns the note for a run record without counters, which says why there are none.
std::string without_counters(const Error& error);

class CudaDevice final : public Device {
 public:
  // Opens a GPU. `api` must outlive the device. Errors: no such GPU; the driver's own. Counters that cannot be opened
  // are not an error: no counter is supported then, and the records of runs that would have counted say why.
  static Result<std::unique_ptr<CudaDevice>> open(const DriverApi& api, CudaOptions options);
  ~CudaDevice() override;

  const GpuProperties& gpu() const { return gpu_; }

 private:
  struct Allocation {
    std::string name;
    CUdeviceptr address = 0;
    std::uint64_t size_bytes = 0;
  };
  // Why a plan did not complete.
  struct Broken {
    CUresult code = CUDA_SUCCESS;
    std::optional<std::size_t> step = {};  // nullopt: unknown which
    bool timed_out = false;
  };
  class Saved;   // contents of all buffers
  class Events;  // a set of events, destroyed at the end
  using Clock = std::chrono::steady_clock;

  CudaDevice(const DriverApi& api, CudaOptions options) : api_(api), options_(std::move(options)), module_(api) {}

  const Machine& do_machine() const override { return machine_; }
  bool do_supports(Counter counter) const override { return supported_[static_cast<std::size_t>(counter)]; }
  DeviceIdentity do_identity() const override { return {gpu_.uuid, gpu_.driver_version, gpu_.name}; }
  Status do_alive() const override { return lost_ ? Status(*lost_) : kOk; }
  Result<DeviceBuffer> do_allocate(std::string_view name, std::uint64_t size_bytes, std::uint32_t) override;
  void do_release(const DeviceBuffer& buffer) override;
  void do_write(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<const std::uint8_t> data) override;
  void do_read(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<std::uint8_t> data) const override;
  Status do_load(const Artifact& artifact) override;
  Result<RunRecord> do_run(const Plan& plan, const RunOptions& options) override;

  Status start();
  Status calibrate();
  Result<std::string> image_of(const Artifact& artifact);
  // Returns the Error for `code`, or kOk. If the error is sticky, marks the device as lost.
  Status check(CUresult code, std::string_view what) const;
  void lose(Error error) const;
  double host_ns() const;

  Result<std::optional<Fault>> describe(const Plan& plan, RunRecord& record);
  Result<std::optional<Fault>> describe_launch(const KernelLaunch& launch, KernelRecord& kernel);
  std::optional<Fault> check_range(const char* what, std::uint64_t address, std::uint64_t size_bytes, int line) const;
  Fault fault_at(FaultKind kind, const Plan& plan, std::optional<std::size_t> step, std::string_view cause) const;
  void take_output(OutputCapture& output, bool is_busy, RunRecord& record) const;
  Result<bool> settle(const std::optional<Broken>& broken, const Plan& plan, RunRecord& record) const;

  Status replay(const Plan& plan, RunOptions::Figures figures, bool once, OutputCapture& output, RunRecord& record);
  CUresult queue(const PlanStep& step);
  // Queues all steps; returns the one that the driver refuses, if any.
  std::optional<Broken> queue(const Plan& plan);
  // Looks up and loads the plan's kernels before they are queued.
  std::optional<Broken> find_kernels(const Plan& plan);
  std::optional<Broken> wait(CUevent event) const;
  std::optional<Broken> preheat();
  std::uint32_t rounds_for(double calls) const;
  Result<std::unique_ptr<Saved>> save() const;
  Status restore(const Saved& saved);
  std::optional<Broken> check_steps(const Plan& plan);
  Result<std::optional<Broken>> time_plan(const Plan& plan, RunRecord& record);
  Result<std::optional<Broken>> time_steps(const Plan& plan, RunRecord& record);
  Result<std::optional<Broken>> count(const Plan& plan, const Saved& saved, RunRecord& record);

  const DriverApi& api_;
  CudaOptions options_;
  GpuProperties gpu_;
  Machine machine_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  ColdCache cold_;
  LoadedModule module_;
  std::string source_path_;
  // By kernel: bytes of its own arrays in local memory, without spills.
  std::map<std::string, std::uint64_t> own_local_bytes_;
  bool has_run_ = false;  // since loading
  bool prints_ = false;   // whether kernels print or assert
  // Whether the module has variables in global memory, which a run may change.
  bool has_variables_ = false;
  std::map<std::string, std::string> images_;  // compiled images, by the inputs of compilation
  std::map<int, Allocation> buffers_;
  int next_id_ = 0;

  std::unique_ptr<RangeCounters> counters_;
  std::array<bool, kCounterCount> supported_{};
  std::string why_no_counters_;

  mutable std::optional<Error> lost_;
  Clock::time_point deadline_, last_work_;
  double sweep_ns_ = 0;  // duration of one ColdCache sweep
  double queue_ns_ = 0;  // host time to queue a step
};

}  // namespace roofwalk
