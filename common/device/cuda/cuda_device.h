// A real GPU behind the device interface, in this process. What a learner's kernel does to its context, it does to the
// process: after a fault it may have to end (Device::alive). Use it from one thread.
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
#include "common/device/cuda/cuda_card.h"
#include "common/device/cuda/driver_api.h"
#include "common/device/cuda/loaded_module.h"
#include "common/device/cuda/output_capture.h"
#include "common/device/cuda/range_counters.h"
#include "common/device/device.h"

namespace roofwalk {

// Where counters come from, and what its values mean on this card.
struct CounterSource {
  std::function<Result<std::unique_ptr<RangeCounters>>(CUcontext context, CUdevice device, int ordinal)> open;
  std::function<Counters(const RangeValues& values)> counters_of;
  std::vector<Counter> known;
};

struct CudaOptions {
  int ordinal = 0;
  // PTX to code for a chip ("sm_90a"), by the toolkit's ptxas. Empty, or where it does not know the chip: the driver's
  // compiler does it.
  std::function<Result<ChipCode>(const Artifact& artifact, std::string_view ptx, const std::string& chip)> assemble;
  std::optional<CounterSource> counters;  // nothing: times only
  double preheat_s = 0.5;                 // of work before a time is taken on a GPU that was idle: clocks rise slowly
  std::function<double()> host_ns;        // a clock of the host that never goes back; empty: its steady one
};

// What a record says of counters that are not there.
std::string without_counters(const Error& error);

class CudaDevice final : public Device {
 public:
  // `api` must outlive the device. Errors: no such GPU, the driver's own. Counters that cannot be opened are no error:
  // no counter is supported then, and every record says why.
  static Result<std::unique_ptr<CudaDevice>> open(const DriverApi& api, CudaOptions options);
  ~CudaDevice() override;

  const CudaCard& card() const { return card_; }

 private:
  struct Allocation {
    std::string name;
    CUdeviceptr address = 0;
    std::uint64_t size_bytes = 0;
  };
  // Why a plan did not come to its end.
  struct Broken {
    CUresult code = CUDA_SUCCESS;
    std::optional<std::size_t> step = {};  // nothing: one of them
    bool timed_out = false;
  };
  class Saved;   // what all buffers held
  class Events;  // some, given back at the end
  using Clock = std::chrono::steady_clock;

  CudaDevice(const DriverApi& api, CudaOptions options) : api_(api), options_(std::move(options)), module_(api) {}

  const Machine& do_machine() const override { return machine_; }
  bool do_supports(Counter counter) const override { return supported_[static_cast<std::size_t>(counter)]; }
  DeviceIdentity do_identity() const override { return {card_.uuid, card_.driver_version, card_.name}; }
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
  // `code`, or an error; notes a loss.
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
  // All steps; the one that the driver refuses, if any.
  std::optional<Broken> queue(const Plan& plan);
  // Finds and loads the plan's kernels, so that queueing them does not.
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
  CudaCard card_;
  Machine machine_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  ColdCache cold_;
  LoadedModule module_;
  std::string source_path_;
  std::map<std::string, std::uint64_t> own_local_bytes_;  // by kernel: its arrays in local memory, before any spill
  bool has_run_ = false;                                  // since it was loaded
  bool prints_ = false;                                   // or asserts
  bool has_variables_ = false;                            // in global memory, which a run may change
  std::map<std::string, std::string> images_;             // by what they were made of
  std::map<int, Allocation> buffers_;
  int next_id_ = 0;

  std::unique_ptr<RangeCounters> counters_;
  std::array<bool, kCounterCount> supported_{};
  std::string why_no_counters_;

  mutable std::optional<Error> lost_;
  Clock::time_point deadline_, last_work_;
  double sweep_ns_ = 0;  // that one reading of ColdCache takes
  double queue_ns_ = 0;  // that the host takes to queue a step
};

}  // namespace roofwalk
