#include "grader/rig/gpu_rig.h"

#include <fmt/format.h>

#include "common/device/remote/remote_device.h"
#include "common/record/run_record.h"

namespace roofwalk {
namespace {

// Forwards all calls to a device that another object owns and that outlives this one.
class BorrowedDevice final : public Device {
 public:
  explicit BorrowedDevice(std::shared_ptr<Device> device) : device_(std::move(device)) {}

 private:
  const Machine& do_machine() const override { return device_->machine(); }
  bool do_supports(Counter counter) const override { return device_->supports(counter); }
  DeviceIdentity do_identity() const override { return device_->identity(); }
  Result<DeviceBuffer> do_allocate(std::string_view name, std::uint64_t size_bytes,
                                   std::uint32_t element_bytes) override {
    return device_->allocate(name, size_bytes, element_bytes);
  }
  void do_release(const DeviceBuffer& buffer) override { device_->release(buffer); }
  void do_protect(const DeviceBuffer& buffer) override { device_->protect(buffer); }
  void do_lay_out(std::uint64_t seed) override { device_->lay_out(seed); }
  void do_write(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<const std::uint8_t> data) override {
    device_->write(buffer, offset_bytes, data);
  }
  void do_read(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<std::uint8_t> data) const override {
    device_->read(buffer, offset_bytes, data);
  }
  void do_forget(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::uint64_t size_bytes) override {
    device_->forget(buffer, offset_bytes, size_bytes);
  }
  Status do_load(const Artifact& artifact) override { return device_->load(artifact); }
  std::optional<Result<Plan>> do_plan(std::span<const ArgumentBytes> arguments,
                                      const AllocateScratch& allocate_scratch) override {
    return device_->plan(arguments, allocate_scratch);
  }
  Result<RunRecord> do_run(const Plan& plan, const RunOptions& options) override { return device_->run(plan, options); }
  Status do_alive() const override { return device_->alive(); }

  std::shared_ptr<Device> device_;
};

}  // namespace

DeviceFactory devices_in_worker(const std::string& device, const std::filesystem::path& program, Isolation isolation) {
  struct Kept {
    std::shared_ptr<Device> device;
    std::weak_ptr<char> thread;  // the thread that started the worker; the worker is killed when this thread ends
  };
  const auto kept = std::make_shared<Kept>();
  return [device, program, isolation, kept]() -> Result<std::unique_ptr<Device>> {
    thread_local const auto this_thread = std::make_shared<char>();
    if (!kept->device || kept->thread.lock() != this_thread) {
      kept->device.reset();  // ends its worker before a new one starts, because a GPU may allow one process only
      WorkerCommand command{.arguments = {program.string(), "--device", device, "device-worker"},
                            .environment = worker_environment()};
      const bool boxed = isolation == Isolation::boxed;
      if (boxed) command.arguments.push_back("--boxed-tools");
      ROOFWALK_TRY(std::unique_ptr<Device> worker,
                   make_remote_device(std::move(command), device, {}, {.plans = boxed}));
      kept->device = std::move(worker);
      kept->thread = this_thread;
    }
    return std::unique_ptr<Device>(std::make_unique<BorrowedDevice>(kept->device));
  };
}

Result<std::optional<GpuTurn>> wait_for_turn(const Rig& rig, const std::string& doing) {
  std::optional<GpuTurn> turn;
  if (!rig.is_real()) return turn;
  bool has_waited = false;
  auto waited = GpuTurn::wait({.gpu_uuid = rig.gpu.uuid, .doing = doing}, [&](const GpuWait& wait) {
    has_waited = true;
    if (rig.while_waiting) rig.while_waiting(waiting_line(wait));
  });
  if (has_waited && rig.while_waiting) rig.while_waiting("");
  if (!waited) return waited.error();
  turn.emplace(*std::move(waited));
  return turn;
}

std::optional<GpuState> state_of(const Rig& rig) {
  if (!rig.gpu_state) return std::nullopt;
  auto state = rig.gpu_state();
  return state ? std::optional(*std::move(state)) : std::nullopt;
}

}  // namespace roofwalk
