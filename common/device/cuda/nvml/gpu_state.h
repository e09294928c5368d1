// A snapshot of a GPU's state from NVML, and reasons not to trust a measurement made between two snapshots. Read-only:
// nothing here changes a setting.
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
#include "common/device/cuda/nvml/nvml_api.h"

namespace roofwalk {

// Why a clock is below its maximum: the bits of nvmlDeviceGetCurrentClocksEventReasons.
struct ClockReason {
  enum class Weight { none, noted, spoils };
  std::uint64_t bit = 0;
  std::string_view name;
  std::string_view words;  // completes "the GPU's clock was ..."
  Weight weight = Weight::none;
};
std::span<const ClockReason> clock_reasons();

// Returns the names of all set bits; an unknown bit is named "0x800".
std::vector<std::string> clock_reason_names(std::uint64_t bits);

struct GpuProcess {
  unsigned pid = 0;  // the host's, even inside a container
  std::optional<std::uint64_t> used_bytes = {};
  std::string name = {}, user = {};  // empty if not visible
};

// Absent values could not be read: the driver is too old, the GPU does not have them, or permission is missing.
struct GpuState {
  std::string uuid;  // "GPU-..." or, for a slice, "MIG-..."
  std::optional<std::string> name = {}, driver_version = {};
  std::optional<int> sm_clock_mhz = {}, sm_clock_max_mhz = {}, memory_clock_mhz = {}, memory_clock_max_mhz = {};
  std::optional<std::uint64_t> clock_reason_bits = {};
  std::optional<int> temperature_c = {};
  std::optional<double> power_w = {}, power_limit_w = {};
  std::optional<int> busy_percent = {};  // in the last sampling period of up to a second; includes this program's own
                                         // work
  std::optional<std::uint64_t> memory_used_bytes = {}, memory_total_bytes = {};
  std::optional<std::vector<GpuProcess>> processes = {};  // compute processes, without graphics
  std::optional<bool> mig = {}, persistence = {}, ecc = {};
  std::optional<std::string> compute_mode = {};    // "default", "exclusive_thread", "prohibited", "exclusive_process"
  std::optional<std::string> virtualization = {};  // "none", "passthrough", "vgpu", "host_vgpu", "host_vsga"
};

// Writes the keys in the order of the members; absent values are null.
Json to_json(const GpuState& state);
GpuState gpu_state_from_json(const Json& json);  // missing keys and wrong types become absent

// NVML, initialised for the lifetime of the object.
class Nvml {
 public:
  // Starts NVML. Errors: NVML does not start (the driver's module is not loaded, or its version differs from the
  // library's).
  static Result<std::unique_ptr<Nvml>> open(const NvmlApi& api);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Returns the UUIDs of all GPUs that this process can see. Errors: NVML's.
  Result<std::vector<std::string>> uuids() const;

  // Reads the state of a GPU or a slice. A slice ("MIG-...") has its own name, memory and processes; the rest comes
  // from its GPU. Errors: there is no such GPU, or it no longer answers (lost, or in need of a reset).
  Result<GpuState> state(const std::string& uuid) const;

 private:
  explicit Nvml(const NvmlApi& api) : api_(api) {}
  Error error(std::string_view what, nvml::Return result) const;

  NvmlApi api_;
};

// False inside a container with its own PID namespace: there, the host's PIDs that the driver reports mean nothing.
bool sees_host_pids();

// The processes on the GPU that belong to the measurement.
struct OwnProcesses {
  std::vector<unsigned> pids;
  bool pids_are_hosts = true;  // whether `pids` are the host's: sees_host_pids()
  std::size_t processes = 1;   // if they are not: how many processes on the GPU may belong to the measurement
};

// A reason, in plain words, to doubt times taken between two states. This program must have the same memory allocated
// in both.
struct Doubt {
  enum class Kind { another_gpu, foreign_process, foreign_memory, clock_reason, clock_moved };
  Kind kind;
  bool spoils = false;  // true: the measurement is discarded; false: noted with the result
  std::string text;
};
std::vector<Doubt> compare(const GpuState& before, const GpuState& after, const OwnProcesses& own);
bool spoiled(const std::vector<Doubt>& doubts);

}  // namespace roofwalk
