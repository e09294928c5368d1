#include "common/device/virtual/virtual_device.h"

#include <cstring>
#include <map>
#include <thread>

#include "common/base/mix.h"
#include "common/device/virtual/code_hash.h"
#include "common/plan/parse_artifact.h"
#include "common/vgpu/counting.h"
#include "common/vgpu/gpu.h"

namespace roofwalk {
namespace {

class VirtualDevice final : public Device {
 public:
  explicit VirtualDevice(Machine machine) : gpu_(std::move(machine)) {}

 private:
  using Region = vgpu::Memory::Region;

  const Machine& do_machine() const override { return gpu_.machine(); }
  bool do_supports(Counter counter) const override { return !is_of_machine_code(counter); }

  Result<DeviceBuffer> do_allocate(std::string_view name, std::uint64_t size_bytes,
                                   std::uint32_t element_bytes) override {
    ROOFWALK_TRY(const int id, gpu_.memory().allocate(name, size_bytes, element_bytes, Region::buffers));
    return DeviceBuffer{id, gpu_.memory().buffer(id).address, size_bytes};
  }
  void do_release(const DeviceBuffer& buffer) override { gpu_.memory().release(buffer.id); }
  void do_protect(const DeviceBuffer& buffer) override { gpu_.memory().protect(buffer.id); }
  void do_lay_out(std::uint64_t seed) override { gpu_.memory().lay_out(seed); }
  void do_write(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<const std::uint8_t> data) override {
    if (!data.empty()) std::memcpy(gpu_.memory().buffer(buffer.id).data + offset_bytes, data.data(), data.size());
  }
  void do_read(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<std::uint8_t> data) const override {
    if (!data.empty()) std::memcpy(data.data(), gpu_.memory().buffer(buffer.id).data + offset_bytes, data.size());
  }

  void do_forget(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::uint64_t size_bytes) override {
    gpu_.memory().forget(buffer.id, offset_bytes, size_bytes);
  }

  Status do_load(const Artifact& artifact) override {
    ROOFWALK_TRY(ptx::Module module, parse_artifact(artifact));
    code_hash_ = hash_of_code(artifact.ptx);
    resources_ = artifact.kernels;
    code_.clear();
    for (const KernelResources& kernel : resources_) {
      for (const MachineInstruction& in : kernel.code) {
        code_[kernel.name].push_back(
            {in.ptx_line, in.operation, in.target, in.register_reads, in.shared_bytes, in.counts_lanes});
      }
    }
    return gpu_.load(std::move(module), artifact.source_name, artifact.source_path);
  }

  Result<RunRecord> do_run(const Plan& plan, const RunOptions& options) override {
    vgpu::RunLimits limits{options.max_work, options.max_seconds};
    limits.sanitize = options.sanitize;
    limits.sanitized_blocks = options.sanitized_blocks;
    limits.sanitized_seed = options.sanitized_seed;
    limits.watched = {options.watched_address, options.watched_bytes};
    limits.lockstep = options.lockstep;
    limits.threads = options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
    limits.counts = options.figures != RunOptions::Figures::none;
    if (options.time == RunOptions::Time::least || !limits.counts) limits.traces.instructions = 0;
    limits.traces.complete = options.time == RunOptions::Time::whole_clock;
    limits.traces.key = mix(code_hash_ + mix(options.sample_seed));
    limits.also_traced = options.also_traced;
    gpu_.begin_plan(limits);
    for (const PlanStep& step : plan.steps) {
      bool going_on = false;
      if (const auto* launch = std::get_if<KernelLaunch>(&step)) {
        ROOFWALK_TRY(going_on, gpu_.launch(call_of(*launch)));
      } else if (const auto* set = std::get_if<MemsetStep>(&step)) {
        going_on = gpu_.set_memory(set->address, set->value, set->size_bytes, set->line);
      } else {
        const auto& copy = std::get<CopyStep>(step);
        going_on = gpu_.copy_memory(copy.destination, copy.source, copy.size_bytes, copy.line);
      }
      if (!going_on) break;
    }
    RunRecord record = gpu_.end_plan();
    record.passed_milestone =
        options.milestone_work != 0 && options.max_work - gpu_.work_left() > options.milestone_work;
    record.device = "virtual:" + gpu_.machine().name;
    return record;
  }

  vgpu::KernelCall call_of(const KernelLaunch& launch) const {
    vgpu::KernelCall call{
        launch.kernel, launch.grid, launch.block, launch.dynamic_shared_bytes, launch.arguments, launch.line, 0, 0, {}};
    for (const KernelResources& kernel : resources_) {
      if (kernel.name != launch.kernel) continue;
      call.registers_per_thread = kernel.registers_per_thread;
      call.local_bytes_per_thread = static_cast<std::uint32_t>(kernel.local_bytes_per_thread);
      if (const auto code = code_.find(kernel.name); code != code_.end()) call.code = code->second;
    }
    return call;
  }

  vgpu::Gpu gpu_;
  std::vector<KernelResources> resources_;
  std::map<std::string, std::vector<vgpu::MachineOp>> code_;  // by kernel
  std::uint64_t code_hash_ = 0;
};

}  // namespace

std::unique_ptr<Device> make_virtual_device(Machine machine) {
  return std::make_unique<VirtualDevice>(std::move(machine));
}

}  // namespace roofwalk
