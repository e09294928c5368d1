// NVIDIA's management library (NVML), opened at run time: clocks, temperatures, processes on a GPU. The toolkit has no
// nvml.h, so the calls are declared here, from the NVML API reference (docs.nvidia.com/deploy/nvml-api, R590). Only
// functions that read are listed.
#pragma once

#include <cstdint>

#include "common/base/result.h"

namespace roofwalk {

namespace nvml {

using Return = int;               // nvmlReturn_t
using Device = struct DeviceOf*;  // nvmlDevice_t

// The values of nvmlReturn_t that matter here.
inline constexpr Return kSuccess = 0, kNotSupported = 3, kNoPermission = 4, kNotFound = 6, kInsufficientSize = 7,
                        kDriverNotLoaded = 9, kGpuIsLost = 15, kResetRequired = 16, kLibraryMismatch = 18;

// Returns the version field of a struct: its size in the low bytes, its version in the highest.
constexpr unsigned struct_version(std::size_t size_bytes, unsigned version) {
  return static_cast<unsigned>(size_bytes) | version << 24;
}

struct Utilization {  // nvmlUtilization_t: percent of the last sampling period
  unsigned gpu = 0, memory = 0;
};

struct Memory {  // nvmlMemory_t
  unsigned long long total = 0, free = 0, used = 0;
};

struct MemoryV2 {  // nvmlMemory_v2_t
  unsigned version = struct_version(sizeof(MemoryV2), 2);
  unsigned long long total = 0, reserved = 0, free = 0, used = 0;
};

struct Temperature {  // nvmlTemperature_v1_t
  unsigned version = struct_version(sizeof(Temperature), 1);
  int sensor = 0;  // NVML_TEMPERATURE_GPU
  int celsius = 0;
};

struct Process {  // nvmlProcessInfo_v2_t, also used by the third version of the function
  unsigned pid = 0;
  unsigned long long used_bytes = 0;  // all bits set: not available
  unsigned gpu_instance = 0, compute_instance = 0;
};

inline constexpr int kSmClock = 1, kMemoryClock = 2;  // nvmlClockType_t
inline constexpr unsigned kTextLength = 96;           // NVML_DEVICE_NAME_V2_BUFFER_SIZE, the longest text

}  // namespace nvml

// Pointers are null if the loaded library lacks the function, as older drivers do. Tests fill this with fakes.
struct NvmlApi {
  using Return = nvml::Return;
  using Device = nvml::Device;

  // Never null.
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*count)(unsigned* devices) = nullptr;
  Return (*device_by_index)(unsigned index, Device* device) = nullptr;
  Return (*device_by_uuid)(const char* uuid, Device* device) = nullptr;
  Return (*uuid)(Device device, char* text, unsigned length) = nullptr;

  // May be null.
  const char* (*error_text)(Return result) = nullptr;
  Return (*driver_version)(char* text, unsigned length) = nullptr;
  Return (*name)(Device device, char* text, unsigned length) = nullptr;
  Return (*parent_of_slice)(Device slice, Device* device) = nullptr;
  Return (*clock)(Device device, int type, unsigned* mhz) = nullptr;
  Return (*max_clock)(Device device, int type, unsigned* mhz) = nullptr;
  Return (*clock_reasons)(Device device, unsigned long long* bits) = nullptr;
  Return (*temperature)(Device device, nvml::Temperature* temperature) = nullptr;
  Return (*old_temperature)(Device device, int sensor, unsigned* celsius) = nullptr;
  Return (*power)(Device device, unsigned* milliwatts) = nullptr;
  Return (*power_limit)(Device device, unsigned* milliwatts) = nullptr;
  Return (*utilization)(Device device, nvml::Utilization* utilization) = nullptr;
  Return (*memory)(Device device, nvml::MemoryV2* memory) = nullptr;
  Return (*old_memory)(Device device, nvml::Memory* memory) = nullptr;
  Return (*processes)(Device device, unsigned* count, nvml::Process* processes) = nullptr;
  Return (*old_processes)(Device device, unsigned* count, nvml::Process* processes) = nullptr;
  Return (*mig_mode)(Device device, unsigned* now, unsigned* after_reset) = nullptr;
  Return (*persistence_mode)(Device device, int* mode) = nullptr;
  Return (*ecc_mode)(Device device, int* now, int* after_reboot) = nullptr;
  Return (*compute_mode)(Device device, int* mode) = nullptr;
  Return (*virtualization_mode)(Device device, int* mode) = nullptr;
};

// Loads the library, which stays open until the program ends. Errors: the library is missing, or too old for the
// functions that must exist.
Result<NvmlApi> load_nvml_api(const char* library = "libnvidia-ml.so.1");

}  // namespace roofwalk
