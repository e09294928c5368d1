// What a GPU is doing at one moment, as NVML tells it, and what makes a window between two such moments no good for a
// measurement. Everything here reads; nothing is ever set.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/base/result.h"
#include "common/device/cuda/nvml_api.h"

namespace roofwalk {

// Why a clock is not as high as it could be: the bits of nvmlDeviceGetCurrentClocksEventReasons.
struct ClockReason {
  enum class Weight { none, noted, spoils };
  std::uint64_t bit = 0;
  std::string_view name;
  std::string_view words;  // completes "the GPU's clock was ..."
  Weight weight = Weight::none;
};
std::span<const ClockReason> clock_reasons();

// Names of all bits that are set, those that we do not know as "0x800".
std::vector<std::string> clock_reason_names(std::uint64_t bits);

struct GpuProcess {
  unsigned pid = 0;  // the host's, also where we are in a container
  std::optional<std::uint64_t> used_bytes = {};
  std::string name = {}, user = {};  // empty where they cannot be seen
};

// What is absent could not be read: the driver is too old, the card has no such thing, or we may not see it.
struct GpuState {
  std::string uuid;  // "GPU-..." or, of a slice, "MIG-..."
  std::optional<std::string> name = {}, driver_version = {};
  std::optional<int> sm_clock_mhz = {}, sm_clock_max_mhz = {}, memory_clock_mhz = {}, memory_clock_max_mhz = {};
  std::optional<std::uint64_t> clock_reason_bits = {};
  std::optional<int> temperature_c = {};
  std::optional<double> power_w = {}, power_limit_w = {};
  std::optional<int> busy_percent = {};  // of the last sampling period, up to a second: our own work counts
  std::optional<std::uint64_t> memory_used_bytes = {}, memory_total_bytes = {};
  std::optional<std::vector<GpuProcess>> processes = {};  // that compute; drawing ones are not among them
  std::optional<bool> mig = {}, persistence = {}, ecc = {};
  std::optional<std::string> compute_mode = {};    // "default", "exclusive_thread", "prohibited", "exclusive_process"
  std::optional<std::string> virtualization = {};  // "none", "passthrough", "vgpu", "host_vgpu", "host_vsga"
};

// Keys in the order above; null where absent.
Json to_json(const GpuState& state);
GpuState gpu_state_from_json(const Json& json);  // what is missing there, or of another type, is absent

// NVML, initialised as long as one lives.
class Nvml {
 public:
  // Errors: NVML does not start (the driver's module is not loaded, or is another version than its library).
  static Result<std::unique_ptr<Nvml>> open(const NvmlApi& api);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Of all GPUs that this process may see. Errors: NVML's.
  Result<std::vector<std::string>> uuids() const;

  // A slice ("MIG-...") has name, memory and processes of its own, and the rest from its GPU. Errors: there is no such
  // GPU, or it no longer answers (lost, or in need of a reset).
  Result<GpuState> state(const std::string& uuid) const;

 private:
  explicit Nvml(const NvmlApi& api) : api_(api) {}
  Error error(std::string_view what, nvml::Return result) const;

  NvmlApi api_;
};

// False inside a container with process numbers of its own: the driver reports the host's, which mean nothing here.
bool sees_host_pids();

// Which processes on the GPU are the measurement's own.
struct OwnWork {
  std::vector<unsigned> pids;
  bool pids_are_hosts = true;  // sees_host_pids()
  std::size_t processes = 1;   // at most so many are ours, where their numbers cannot tell
};

// What makes the times between two states doubtful, in plain words. Both are taken with the same memory allocated.
struct Doubt {
  enum class Kind { another_gpu, foreign_process, foreign_memory, clock_reason, clock_moved };
  Kind kind;
  bool spoils = false;  // the window is thrown away; else it is only noted beside the result
  std::string text;
};
std::vector<Doubt> compare(const GpuState& before, const GpuState& after, const OwnWork& own);
bool spoiled(const std::vector<Doubt>& doubts);

}  // namespace roofwalk
