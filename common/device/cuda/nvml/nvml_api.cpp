#include "common/device/cuda/nvml/nvml_api.h"

#include <dlfcn.h>

#include <initializer_list>
#include <string>

namespace roofwalk {

Result<NvmlApi> load_nvml_api(const char* library) {
  void* opened = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    return Error{.message = std::string(library) + " is not on this machine, so nothing reports what the GPU is doing",
                 .advice = "it comes with NVIDIA's driver"};
  }
  NvmlApi api;
  // Finds the first of the names that the library has; older names of a function come second.
  const auto find = [opened](auto& function, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (function == nullptr) function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(opened, name));
    }
    return function != nullptr;
  };
  const bool usable = find(api.init, {"nvmlInit_v2"}) && find(api.shutdown, {"nvmlShutdown"}) &&
                      find(api.count, {"nvmlDeviceGetCount_v2"}) &&
                      find(api.device_by_index, {"nvmlDeviceGetHandleByIndex_v2"}) &&
                      find(api.device_by_uuid, {"nvmlDeviceGetHandleByUUID"}) && find(api.uuid, {"nvmlDeviceGetUUID"});
  if (!usable) {
    return Error{.message = std::string(library) + " lacks functions that every driver since 2013 has",
                 .advice = "reinstall NVIDIA's driver"};
  }
  find(api.error_text, {"nvmlErrorString"});
  find(api.driver_version, {"nvmlSystemGetDriverVersion"});
  find(api.name, {"nvmlDeviceGetName"});
  find(api.parent_of_slice, {"nvmlDeviceGetDeviceHandleFromMigDeviceHandle"});
  find(api.clock, {"nvmlDeviceGetClockInfo"});
  find(api.max_clock, {"nvmlDeviceGetMaxClockInfo"});
  find(api.clock_reasons, {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  find(api.temperature, {"nvmlDeviceGetTemperatureV"});
  find(api.old_temperature, {"nvmlDeviceGetTemperature"});
  find(api.power, {"nvmlDeviceGetPowerUsage"});
  find(api.power_limit, {"nvmlDeviceGetEnforcedPowerLimit"});
  find(api.utilization, {"nvmlDeviceGetUtilizationRates"});
  find(api.memory, {"nvmlDeviceGetMemoryInfo_v2"});
  find(api.old_memory, {"nvmlDeviceGetMemoryInfo"});
  find(api.processes, {"nvmlDeviceGetComputeRunningProcesses_v3"});
  find(api.old_processes, {"nvmlDeviceGetComputeRunningProcesses_v2"});
  find(api.mig_mode, {"nvmlDeviceGetMigMode"});
  find(api.persistence_mode, {"nvmlDeviceGetPersistenceMode"});
  find(api.ecc_mode, {"nvmlDeviceGetEccMode"});
  find(api.compute_mode, {"nvmlDeviceGetComputeMode"});
  find(api.virtualization_mode, {"nvmlDeviceGetVirtualizationMode"});
  return api;
}

}  // namespace roofwalk
