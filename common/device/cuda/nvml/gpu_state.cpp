#include "common/device/cuda/nvml/gpu_state.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "common/base/json.h"

namespace roofwalk {
namespace {

using Weight = ClockReason::Weight;

// Bits and meanings: NVML API reference, NvmlClocksEventReasons. Weights: a slowdown that halves the clock makes times
// useless; power and heat limits are normal under load and are only noted.
constexpr std::array kReasons = {
    ClockReason{0x1, "idle", "low, because nothing ran", Weight::none},
    ClockReason{0x2, "application_clocks", "set by an administrator", Weight::none},
    ClockReason{0x4, "power_cap", "held down to stay within the power limit", Weight::noted},
    ClockReason{0x8, "hardware_slowdown", "halved or worse by the hardware: too hot, or short of power",
                Weight::spoils},
    ClockReason{0x10, "sync_boost", "tied to that of other GPUs", Weight::none},
    ClockReason{0x20, "thermal", "held down to keep the GPU cool", Weight::noted},
    ClockReason{0x40, "hardware_thermal", "halved or worse by the hardware: too hot", Weight::spoils},
    ClockReason{0x80, "power_brake", "halved or worse: the machine's power supply asked for it", Weight::spoils},
    ClockReason{0x100, "display", "limited by the settings of a display", Weight::none},
    ClockReason{0x200, "board_limit", "limited by the board", Weight::none},
    ClockReason{0x400, "reliability", "limited for reliability", Weight::none},
};
constexpr std::uint64_t kIdle = 0x1;

constexpr const char* kComputeModes[] = {"default", "exclusive_thread", "prohibited", "exclusive_process"};
constexpr const char* kVirtualizationModes[] = {"none", "passthrough", "vgpu", "host_vgpu", "host_vsga"};

constexpr double kClockTolerance = 0.05;
// Between two states in which this program has the same memory allocated, used memory may change by less than this:
// less than another program's CUDA context takes, and more than the driver's own bookkeeping varies. Not taken from a
// source; to be checked on GPUs.
constexpr std::uint64_t kForeignBytes = 64ull << 20;

template <std::size_t size>
std::optional<std::string> mode_name(const char* const (&names)[size], std::optional<int> mode) {
  if (!mode || *mode < 0 || static_cast<std::size_t>(*mode) >= size) return std::nullopt;
  return names[*mode];
}

// Replaces characters that are not printable, because process names are untrusted text.
std::string harmless(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return text;
}

void look_up(GpuProcess& process) {
  const std::string folder = fmt::format("/proc/{}", process.pid);
  std::ifstream in(folder + "/comm");
  std::getline(in, process.name);
  process.name = harmless(process.name);
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return;
  if (const passwd* user = ::getpwuid(status.st_uid)) process.user = harmless(user->pw_name);
}

// Drivers 535.43 to 535.86 fill the third version of the process list with a longer struct of the same name
// (XuehaiPan/nvitop #79 and #89). The second version of the list is right in these drivers.
bool has_longer_processes(const std::string& driver_version) {
  int major = 0, minor = 0;
  return std::sscanf(driver_version.c_str(), "%d.%d", &major, &minor) == 2 && major == 535 && minor < 98;
}

std::string bytes_text(std::uint64_t bytes) {
  const double megabytes = static_cast<double>(bytes) * 1e-6;
  return megabytes < 1000 ? fmt::format("{:.0f} MB", megabytes) : fmt::format("{:.1f} GB", megabytes * 1e-3);
}

std::string process_text(const GpuProcess& process) {
  std::string text = process.name.empty() ? "a process" : process.name;
  if (!process.user.empty()) text += " of " + process.user;
  text += fmt::format(" (pid {}", process.pid);
  if (process.used_bytes) text += ", " + bytes_text(*process.used_bytes);
  return text + ")";
}

// Reads one value after another; values that cannot be read are absent. Remembers whether the GPU is gone.
class Reader {
 public:
  explicit Reader(nvml::Device device) : device_(device) {}

  // Returns the value that `function(device, extra..., &value)` writes.
  template <class T, class... Extra, class... Parameters>
  std::optional<T> value(nvml::Return (*function)(Parameters...), Extra... extra) {
    T read{};
    return ask(function, extra..., &read) ? std::optional<T>(read) : std::nullopt;
  }

  std::optional<std::string> text(nvml::Return (*function)(nvml::Device, char*, unsigned)) {
    char read[nvml::kTextLength] = {};
    if (!ask(function, read, nvml::kTextLength - 1)) return std::nullopt;
    return std::string(read);
  }

  template <class... Parameters, class... Arguments>
  bool ask(nvml::Return (*function)(Parameters...), Arguments... arguments) {
    if (function == nullptr) return false;
    const nvml::Return result = function(device_, arguments...);
    if (result == nvml::kGpuIsLost || result == nvml::kResetRequired) gone_ = result;
    return result == nvml::kSuccess;
  }

  std::optional<std::vector<GpuProcess>> processes(nvml::Return (*function)(nvml::Device, unsigned*, nvml::Process*)) {
    if (function == nullptr) return std::nullopt;
    // The list may grow between the calls that ask for its length and for its contents.
    std::vector<nvml::Process> list(16);
    for (int turn = 0; turn < 4; ++turn) {
      auto count = static_cast<unsigned>(list.size());
      const nvml::Return result = function(device_, &count, list.data());
      if (result == nvml::kSuccess) {
        list.resize(std::min<std::size_t>(count, list.size()));
        break;
      }
      if (result != nvml::kInsufficientSize || turn == 3) return std::nullopt;
      list.resize(std::max<std::size_t>(count, list.size()) + 16);
    }
    std::vector<GpuProcess> processes;
    for (const nvml::Process& found : list) {
      GpuProcess& process = processes.emplace_back();
      process.pid = found.pid;
      if (found.used_bytes != ~0ull) process.used_bytes = found.used_bytes;
      if (sees_host_pids()) look_up(process);
    }
    return processes;
  }

  nvml::Return gone() const { return gone_; }

 private:
  nvml::Device device_;
  nvml::Return gone_ = nvml::kSuccess;
};

template <class To, class From>
std::optional<To> as(const std::optional<From>& value) {
  return value ? std::optional<To>(static_cast<To>(*value)) : std::nullopt;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// Returns the value under `key`, if it exists and has this type.
template <class T>
std::optional<T> value_of(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) return std::nullopt;
  const Json& value = json.at(key);
  const bool fits = std::is_same_v<T, std::string> ? value.is_string()
                    : std::is_same_v<T, bool>      ? value.is_boolean()
                    : std::is_same_v<T, double>    ? value.is_number()
                                                   : value.is_number_integer();
  return fits ? std::optional<T>(value.get<T>()) : std::nullopt;
}

void add_foreign(const GpuState& state, const OwnProcesses& own, std::vector<Doubt>& doubts) {
  if (!state.processes) return;
  const auto add = [&doubts](std::string text) {
    const bool told = std::any_of(doubts.begin(), doubts.end(), [&](const Doubt& doubt) { return doubt.text == text; });
    if (!told) doubts.push_back({Doubt::Kind::foreign_process, true, std::move(text)});
  };
  if (!own.pids_are_hosts) {
    if (state.processes->size() <= own.processes) return;
    return add(fmt::format("{} processes use this GPU, and only {} of them can be ours (a container hides which)",
                           state.processes->size(), own.processes));
  }
  for (const GpuProcess& process : *state.processes) {
    if (std::find(own.pids.begin(), own.pids.end(), process.pid) != own.pids.end()) continue;
    add(fmt::format("another program uses this GPU: {}", process_text(process)));
  }
}

void add_memory(const GpuState& before, const GpuState& after, std::vector<Doubt>& doubts) {
  if (!before.memory_used_bytes || !after.memory_used_bytes) return;
  const auto [less, more] = std::minmax(*before.memory_used_bytes, *after.memory_used_bytes);
  if (more - less < kForeignBytes) return;
  doubts.push_back({Doubt::Kind::foreign_memory, true,
                    fmt::format("the GPU's memory in use went from {} to {} without us: another program uses it",
                                bytes_text(*before.memory_used_bytes), bytes_text(*after.memory_used_bytes))});
}

void add_reasons(const GpuState& before, const GpuState& after, std::vector<Doubt>& doubts) {
  const std::uint64_t bits = before.clock_reason_bits.value_or(0) | after.clock_reason_bits.value_or(0);
  for (const ClockReason& reason : kReasons) {
    if ((bits & reason.bit) == 0 || reason.weight == Weight::none) continue;
    std::string text = fmt::format("the GPU's clock was {}", reason.words);
    if (reason.name == "power_cap" && after.power_limit_w) text += fmt::format(" ({:.0f} W)", *after.power_limit_w);
    if (reason.name == "thermal" && after.temperature_c) text += fmt::format(" ({} C)", *after.temperature_c);
    doubts.push_back({Doubt::Kind::clock_reason, reason.weight == Weight::spoils, std::move(text)});
  }
}

// Adds a doubt if a clock moved. `is_explained`: a power or heat limit, which is normal under load, was already
// reported, so the doubt does not spoil the measurement.
void add_clock(std::string_view what, std::optional<int> before, std::optional<int> after, bool is_explained,
               std::vector<Doubt>& doubts) {
  if (!before || !after || *before <= 0 || *after <= 0) return;
  const double share = std::abs(*after - *before) / static_cast<double>(std::max(*before, *after));
  if (share <= kClockTolerance) return;
  doubts.push_back(
      {Doubt::Kind::clock_moved, !is_explained,
       fmt::format("the {} clock moved from {} to {} MHz ({:.0f} %)", what, *before, *after, 100 * share)});
}

}  // namespace

std::span<const ClockReason> clock_reasons() { return kReasons; }

std::vector<std::string> clock_reason_names(std::uint64_t bits) {
  std::vector<std::string> names;
  for (const ClockReason& reason : kReasons) {
    if ((bits & reason.bit) != 0) names.emplace_back(reason.name);
    bits &= ~reason.bit;
  }
  for (; bits != 0; bits &= bits - 1) names.push_back(fmt::format("0x{:x}", bits & (~bits + 1)));
  return names;
}

Json to_json(const GpuState& state) {
  Json processes = nullptr;
  if (state.processes) {
    processes = Json::array();
    for (const GpuProcess& process : *state.processes) {
      processes.push_back({{"pid", process.pid},
                           {"used_bytes", or_null(process.used_bytes)},
                           {"name", process.name},
                           {"user", process.user}});
    }
  }
  return {{"uuid", state.uuid},
          {"name", or_null(state.name)},
          {"driver_version", or_null(state.driver_version)},
          {"sm_clock_mhz", or_null(state.sm_clock_mhz)},
          {"sm_clock_max_mhz", or_null(state.sm_clock_max_mhz)},
          {"memory_clock_mhz", or_null(state.memory_clock_mhz)},
          {"memory_clock_max_mhz", or_null(state.memory_clock_max_mhz)},
          {"clock_reason_bits", or_null(state.clock_reason_bits)},
          {"clock_reasons", state.clock_reason_bits ? Json(clock_reason_names(*state.clock_reason_bits)) : nullptr},
          {"temperature_c", or_null(state.temperature_c)},
          {"power_w", or_null(state.power_w)},
          {"power_limit_w", or_null(state.power_limit_w)},
          {"busy_percent", or_null(state.busy_percent)},
          {"memory_used_bytes", or_null(state.memory_used_bytes)},
          {"memory_total_bytes", or_null(state.memory_total_bytes)},
          {"processes", std::move(processes)},
          {"mig", or_null(state.mig)},
          {"persistence", or_null(state.persistence)},
          {"ecc", or_null(state.ecc)},
          {"compute_mode", or_null(state.compute_mode)},
          {"virtualization", or_null(state.virtualization)}};
}

GpuState gpu_state_from_json(const Json& json) {
  GpuState state{.uuid = value_of<std::string>(json, "uuid").value_or("")};
  state.name = value_of<std::string>(json, "name");
  state.driver_version = value_of<std::string>(json, "driver_version");
  state.sm_clock_mhz = value_of<int>(json, "sm_clock_mhz");
  state.sm_clock_max_mhz = value_of<int>(json, "sm_clock_max_mhz");
  state.memory_clock_mhz = value_of<int>(json, "memory_clock_mhz");
  state.memory_clock_max_mhz = value_of<int>(json, "memory_clock_max_mhz");
  state.clock_reason_bits = value_of<std::uint64_t>(json, "clock_reason_bits");
  state.temperature_c = value_of<int>(json, "temperature_c");
  state.power_w = value_of<double>(json, "power_w");
  state.power_limit_w = value_of<double>(json, "power_limit_w");
  state.busy_percent = value_of<int>(json, "busy_percent");
  state.memory_used_bytes = value_of<std::uint64_t>(json, "memory_used_bytes");
  state.memory_total_bytes = value_of<std::uint64_t>(json, "memory_total_bytes");
  if (json.is_object() && json.contains("processes") && json.at("processes").is_array()) {
    state.processes.emplace();
    for (const Json& process : json.at("processes")) {
      state.processes->push_back({.pid = value_of<unsigned>(process, "pid").value_or(0),
                                  .used_bytes = value_of<std::uint64_t>(process, "used_bytes"),
                                  .name = value_of<std::string>(process, "name").value_or(""),
                                  .user = value_of<std::string>(process, "user").value_or("")});
    }
  }
  state.mig = value_of<bool>(json, "mig");
  state.persistence = value_of<bool>(json, "persistence");
  state.ecc = value_of<bool>(json, "ecc");
  state.compute_mode = value_of<std::string>(json, "compute_mode");
  state.virtualization = value_of<std::string>(json, "virtualization");
  return state;
}

Error Nvml::error(std::string_view what, nvml::Return result) const {
  const char* words = api_.error_text != nullptr ? api_.error_text(result) : nullptr;
  Error error{.message = fmt::format("{}: NVML says {} ({})", what, words != nullptr ? words : "no more", result)};
  if (result == nvml::kDriverNotLoaded) error.advice = "NVIDIA's driver is installed but not running: restart";
  if (result == nvml::kLibraryMismatch) error.advice = "the driver was updated while it ran: restart";
  if (result == nvml::kGpuIsLost) error.advice = "the GPU no longer answers: restart the machine";
  if (result == nvml::kResetRequired) error.advice = "the GPU must be reset, or the machine restarted";
  return error;
}

Result<std::unique_ptr<Nvml>> Nvml::open(const NvmlApi& api) {
  std::unique_ptr<Nvml> nvml(new Nvml(api));
  const nvml::Return result = api.init();
  if (result == nvml::kSuccess) return nvml;
  nvml->api_.shutdown = nullptr;  // it did not start, so it must not be shut down
  return nvml->error("the GPUs' states cannot be read", result);
}

Nvml::~Nvml() {
  if (api_.shutdown != nullptr) api_.shutdown();
}

Result<std::vector<std::string>> Nvml::uuids() const {
  unsigned count = 0;
  if (const nvml::Return result = api_.count(&count); result != nvml::kSuccess) {
    return error("the GPUs cannot be counted", result);
  }
  std::vector<std::string> uuids;
  for (unsigned i = 0; i < count; ++i) {
    nvml::Device device = nullptr;
    nvml::Return result = api_.device_by_index(i, &device);
    if (result == nvml::kNoPermission) continue;  // another user's GPU, as seen in a container or a job
    char uuid[nvml::kTextLength] = {};
    if (result == nvml::kSuccess) result = api_.uuid(device, uuid, nvml::kTextLength - 1);
    if (result != nvml::kSuccess) return error(fmt::format("GPU {} does not answer", i), result);
    uuids.emplace_back(uuid);
  }
  return uuids;
}

Result<GpuState> Nvml::state(const std::string& uuid) const {
  nvml::Device device = nullptr;
  if (const nvml::Return result = api_.device_by_uuid(uuid.c_str(), &device); result != nvml::kSuccess) {
    return error(fmt::format("GPU {} cannot be asked", uuid), result);
  }
  GpuState state{.uuid = uuid};
  char version[nvml::kTextLength] = {};
  if (api_.driver_version != nullptr && api_.driver_version(version, sizeof version - 1) == nvml::kSuccess) {
    state.driver_version = version;
  }
  Reader own(device);
  state.name = own.text(api_.name);
  if (const auto memory = own.value<nvml::MemoryV2>(api_.memory)) {
    state.memory_used_bytes = memory->used;
    state.memory_total_bytes = memory->total;
  } else if (const auto with_reserved = own.value<nvml::Memory>(api_.old_memory)) {
    state.memory_used_bytes = with_reserved->used;
    state.memory_total_bytes = with_reserved->total;
  }
  if (!has_longer_processes(state.driver_version.value_or(""))) state.processes = own.processes(api_.processes);
  if (!state.processes) state.processes = own.processes(api_.old_processes);

  nvml::Device whole = device;
  if (uuid.starts_with("MIG-") && api_.parent_of_slice != nullptr) api_.parent_of_slice(device, &whole);
  Reader gpu(whole);
  state.sm_clock_mhz = as<int>(gpu.value<unsigned>(api_.clock, nvml::kSmClock));
  state.sm_clock_max_mhz = as<int>(gpu.value<unsigned>(api_.max_clock, nvml::kSmClock));
  state.memory_clock_mhz = as<int>(gpu.value<unsigned>(api_.clock, nvml::kMemoryClock));
  state.memory_clock_max_mhz = as<int>(gpu.value<unsigned>(api_.max_clock, nvml::kMemoryClock));
  state.clock_reason_bits = as<std::uint64_t>(gpu.value<unsigned long long>(api_.clock_reasons));
  if (const auto temperature = gpu.value<nvml::Temperature>(api_.temperature)) {
    state.temperature_c = temperature->celsius;
  } else {
    state.temperature_c = as<int>(gpu.value<unsigned>(api_.old_temperature, /*sensor=*/0));
  }
  if (const auto milliwatts = gpu.value<unsigned>(api_.power)) state.power_w = *milliwatts * 1e-3;
  if (const auto milliwatts = gpu.value<unsigned>(api_.power_limit)) state.power_limit_w = *milliwatts * 1e-3;
  if (const auto busy = gpu.value<nvml::Utilization>(api_.utilization))
    state.busy_percent = static_cast<int>(busy->gpu);
  unsigned mig = 0, mig_later = 0;
  if (gpu.ask(api_.mig_mode, &mig, &mig_later)) state.mig = mig == 1;
  if (const auto mode = gpu.value<int>(api_.persistence_mode)) state.persistence = *mode == 1;
  int ecc = 0, ecc_later = 0;
  if (gpu.ask(api_.ecc_mode, &ecc, &ecc_later)) state.ecc = ecc == 1;
  state.compute_mode = mode_name(kComputeModes, gpu.value<int>(api_.compute_mode));
  state.virtualization = mode_name(kVirtualizationModes, gpu.value<int>(api_.virtualization_mode));
  for (const Reader* reader : {&own, &gpu}) {
    if (reader->gone() != nvml::kSuccess) return error(fmt::format("GPU {} does not answer", uuid), reader->gone());
  }
  return state;
}

bool sees_host_pids() {
  // The initial PID namespace has a fixed inode: PROC_PID_INIT_INO in Linux' proc_ns.h.
  constexpr ino_t kFirstNamespace = 0xEFFFFFFC;
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == kFirstNamespace;
}

std::vector<Doubt> compare(const GpuState& before, const GpuState& after, const OwnProcesses& own) {
  const bool cut = after.mig.value_or(before.mig.value_or(false));
  if (before.uuid != after.uuid || before.mig.value_or(cut) != cut) {
    return {
        {Doubt::Kind::another_gpu, true, "this is not the GPU that the measurement began on, or it was split again"}};
  }
  std::vector<Doubt> doubts;
  add_foreign(before, own, doubts);
  add_foreign(after, own, doubts);
  add_memory(before, after, doubts);
  add_reasons(before, after, doubts);
  // The clock of an idle GPU says nothing about its clock under load.
  const std::uint64_t bits = before.clock_reason_bits.value_or(0) | after.clock_reason_bits.value_or(0);
  if ((bits & kIdle) == 0) {
    const bool is_explained = std::any_of(kReasons.begin(), kReasons.end(), [&](const ClockReason& reason) {
      return (bits & reason.bit) != 0 && reason.weight == Weight::noted;
    });
    add_clock("SM", before.sm_clock_mhz, after.sm_clock_mhz, is_explained, doubts);
    add_clock("memory", before.memory_clock_mhz, after.memory_clock_mhz, /*is_explained=*/false, doubts);
  }
  return doubts;
}

bool spoiled(const std::vector<Doubt>& doubts) {
  return std::any_of(doubts.begin(), doubts.end(), [](const Doubt& doubt) { return doubt.spoils; });
}

}  // namespace roofwalk
