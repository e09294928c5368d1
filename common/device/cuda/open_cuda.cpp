#include "common/device/cuda/open_cuda.h"

#include <charconv>

#include "common/base/ask_child.h"
#include "common/device/cuda/cuda_device.h"
#include "common/device/cuda/cuda_errors.h"
#include "common/device/cuda/cupti/cupti_api.h"
#include "common/device/cuda/cupti/range_counters.h"

namespace roofwalk {
namespace {

constexpr double kProbeSeconds = 60;  // a sleeping GPU takes seconds to wake up, and the profiler longer to start

std::filesystem::path root_of(const std::optional<Toolkit>& toolkit) {
  return toolkit ? toolkit->root : std::filesystem::path();
}

// Returns this process's driver, and starts it on the first call. Never call this before forking a child: a started
// driver does not survive a fork.
const Result<DriverApi>& driver_api() {
  static const Result<DriverApi> driver = load_driver_api();
  return driver;
}

// Finds out whether CUPTI can count. Runs in a child process, because CUPTI may crash.
CounterProbe probe(int ordinal, const std::optional<Toolkit>& toolkit) {
  const auto refused = [](const Error& error) {
    return CounterProbe{.cause = "other", .message = error.message, .advice = error.advice};
  };
  const auto driver = load_driver_api();
  if (!driver) return refused(driver.error());
  const auto cupti = load_cupti_api(root_of(toolkit));
  if (!cupti) return refused(cupti.error());
  CounterTarget target{.ordinal = static_cast<std::size_t>(ordinal)};
  CUstream stream = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  const char* ptx = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry nothing_to_count()\n{\nret;\n}\n";
  CUresult code = driver->cuDeviceGet(&target.device, ordinal);
  if (code == CUDA_SUCCESS) code = driver->cuDevicePrimaryCtxRetain(&target.context, target.device);
  if (code == CUDA_SUCCESS) code = driver->cuCtxSetCurrent(target.context);
  if (code == CUDA_SUCCESS) code = driver->cuStreamCreate(&stream, CU_STREAM_DEFAULT);
  if (code == CUDA_SUCCESS) code = driver->cuModuleLoadDataEx(&module, ptx, 0, nullptr, nullptr);
  if (code == CUDA_SUCCESS) code = driver->cuModuleGetFunction(&kernel, module, "nothing_to_count");
  if (code != CUDA_SUCCESS) return refused(cuda_error(*driver, code, "start a kernel to count"));
  return probe_counters(*cupti, target, [&]() -> Status {
    const CUresult launched = driver->cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr);
    return launched == CUDA_SUCCESS ? kOk : Status(cuda_error(*driver, launched, "start a kernel to count"));
  });
}

CounterProbe probe_in_child(int ordinal, const std::optional<Toolkit>& toolkit) {
  const ChildAnswer asked = ask_child(kProbeSeconds, [&] { return to_json(probe(ordinal, toolkit)); });
  if (asked.end == ChildAnswer::End::crashed) return crashed_probe(asked.signal);
  if (asked.end == ChildAnswer::End::answered) {
    if (auto found = counter_probe_of(asked.json)) return *found;
  }
  return {.cause = "other",
          .message = "no counters: CUPTI did not answer when it was asked for them",
          .advice = "`./roofwalk doctor` looks at the driver and at who uses the GPU"};
}

// Returns the source of counters. If there are no counters, its `open` returns the reason.
CounterSource counter_source(int ordinal, const std::optional<Toolkit>& toolkit) {
  const CounterProbe found = probe_in_child(ordinal, toolkit);
  static const Result<CuptiApi> cupti = load_cupti_api(root_of(toolkit));  // stays loaded until the process ends
  if (!found.available || !cupti) {
    const Error why = cupti ? Error{.message = found.message, .advice = found.advice} : cupti.error();
    return {.open = [why](CUcontext, CUdevice, int) -> Result<std::unique_ptr<RangeCounters>> { return why; },
            .counters_of = {},
            .known = {}};
  }
  const auto open = [](CUcontext context, CUdevice gpu, int number) {
    return open_range_counters(*cupti,
                               {.context = context, .device = gpu, .ordinal = static_cast<std::size_t>(number)});
  };
  return {.open = open,
          .counters_of = [chip = found.chip](const RangeValues& values) { return counters_of(chip, values); },
          .known = counters_known(found.chip)};
}

}  // namespace

std::optional<int> cuda_ordinal(std::string_view device) {
  constexpr std::string_view kKind = "cuda";
  if (device == kKind) return 0;
  if (!device.starts_with(kKind) || device[kKind.size()] != ':') return std::nullopt;
  device.remove_prefix(kKind.size() + 1);
  int ordinal = -1;
  const auto [end, error] = std::from_chars(device.data(), device.data() + device.size(), ordinal);
  return error == std::errc() && end == device.data() + device.size() ? ordinal : -1;
}

Result<std::unique_ptr<Device>> open_cuda(int ordinal, const std::optional<Toolkit>& toolkit) {
  CounterSource counters = counter_source(ordinal, toolkit);
  const Result<DriverApi>& driver = driver_api();
  if (!driver) return driver.error();
  CudaOptions options{.ordinal = ordinal, .assemble = {}, .counters = std::move(counters), .host_ns = {}};
  if (toolkit) {
    options.assemble = [toolkit](const Artifact& artifact, std::string_view ptx, const std::string& chip) {
      return assemble_for(*toolkit, artifact, ptx, chip);
    };
  }
  ROOFWALK_TRY(auto device, CudaDevice::open(*driver, std::move(options)));
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace roofwalk
