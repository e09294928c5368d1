// A fake device: its memory is real, but a run only calls a function that the test provides. Tests of verification,
// measurement and grading use it instead of a device that executes kernels.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "common/device/device.h"
#include "common/record/run_record.h"

namespace roofwalk::testing {

// Global memory as the script sees it.
class FakeMemory {
 public:
  struct Buffer {
    std::string name;
    std::uint64_t address;
    std::vector<std::uint8_t> bytes;
  };

  // Returns the floats of the buffer with this name, which must exist.
  std::span<float> floats(std::string_view name) {
    for (auto& [id, buffer] : buffers) {
      if (buffer.name == name) return {reinterpret_cast<float*>(buffer.bytes.data()), buffer.bytes.size() / 4};
    }
    check_failed(__FILE__, __LINE__, "the fake device has that buffer");
  }

  std::map<int, Buffer> buffers;
  bool lost = false;  // the result of Device::alive
};

using FakeRun = std::function<Result<RunRecord>(FakeMemory& memory, const Plan& plan)>;

class FakeDevice final : public Device {
 public:
  FakeDevice(Machine machine, FakeRun run) : machine_(std::move(machine)), run_(std::move(run)) {}

 private:
  const Machine& do_machine() const override { return machine_; }
  bool do_supports(Counter) const override { return true; }
  Result<DeviceBuffer> do_allocate(std::string_view name, std::uint64_t size_bytes, std::uint32_t) override {
    const DeviceBuffer buffer{next_id_++, next_address_, size_bytes};
    next_address_ += (size_bytes + 511) / 256 * 256;
    memory_.buffers[buffer.id] = {std::string(name), buffer.address, std::vector<std::uint8_t>(size_bytes)};
    return buffer;
  }
  void do_release(const DeviceBuffer& buffer) override { memory_.buffers.erase(buffer.id); }
  void do_write(const DeviceBuffer& buffer, std::uint64_t offset, std::span<const std::uint8_t> data) override {
    std::copy(data.begin(), data.end(),
              memory_.buffers.at(buffer.id).bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  void do_read(const DeviceBuffer& buffer, std::uint64_t offset, std::span<std::uint8_t> data) const override {
    std::memcpy(data.data(), memory_.buffers.at(buffer.id).bytes.data() + offset, data.size());
  }
  Status do_load(const Artifact&) override { return kOk; }
  Result<RunRecord> do_run(const Plan& plan, const RunOptions&) override { return run_(memory_, plan); }
  Status do_alive() const override {
    if (memory_.lost) return Error{.message = "the device was lost"};
    return kOk;
  }

  Machine machine_;
  FakeRun run_;
  FakeMemory memory_;
  int next_id_ = 0;
  std::uint64_t next_address_ = 0x1000;
};

}  // namespace roofwalk::testing
