#include "common/device/cuda/driver/driver_probe.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>

#include "common/base/ask_child.h"

namespace roofwalk {
namespace {

// The part of the driver API that is needed here, from cuda.h of CUDA 13.0. All drivers since 2019 have it.
constexpr int kMajor = 75, kMinor = 76, kPageableMemoryAccess = 88;  // CUdevice_attribute

struct Functions {
  int (*init)(unsigned flags) = nullptr;
  int (*version)(int* version) = nullptr;
  int (*count)(int* count) = nullptr;
  int (*get)(int* device, int ordinal) = nullptr;
  int (*name)(char* text, int length, int device) = nullptr;
  int (*attribute)(int* value, int attribute, int device) = nullptr;
  int (*uuid)(unsigned char* sixteen_bytes, int device) = nullptr;
  int (*error_name)(int error, const char** name) = nullptr;
};

bool find_functions(void* library, Functions& functions) {
  const auto find = [library](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(library, name));
    return function != nullptr;
  };
  return find(functions.init, "cuInit") && find(functions.version, "cuDriverGetVersion") &&
         find(functions.count, "cuDeviceGetCount") && find(functions.get, "cuDeviceGet") &&
         find(functions.name, "cuDeviceGetName") && find(functions.attribute, "cuDeviceGetAttribute") &&
         (find(functions.uuid, "cuDeviceGetUuid_v2") || find(functions.uuid, "cuDeviceGetUuid")) &&
         find(functions.error_name, "cuGetErrorName");
}

// Returns the part of a UUID after "GPU-" or "MIG-", as text, from its sixteen bytes.
std::string hex_groups(const unsigned char* bytes) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

Json ask_nvml(const char* library, const std::vector<std::string>& uuids, Json& states) {
  const auto api = load_nvml_api(library);
  if (!api) return api.error().text();
  const auto nvml = Nvml::open(*api);
  if (!nvml) return nvml.error().text();
  std::string trouble;
  for (const std::string& uuid : uuids) {
    auto state = (*nvml)->state("GPU-" + uuid);
    if (!state) {
      const auto slice = (*nvml)->state("MIG-" + uuid);
      if (slice) state = slice;
    }
    if (!state) trouble = state.error().text();
    states.push_back(to_json(state ? *state : GpuState{.uuid = "GPU-" + uuid}));
  }
  return trouble;
}

// Asks the driver; runs in the child.
Json ask_driver(const ProbeOptions& options) {
  Json answer = {{"has_library", false}, {"cuda_version", 0}, {"error", 0}, {"trouble", ""}};
  void* library = ::dlopen(options.driver, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return answer;
  answer["has_library"] = true;
  Functions cuda;
  if (!find_functions(library, cuda)) {
    answer["error"] = -1;
    answer["trouble"] = "the driver's library lacks functions that every driver since 2019 has";
    return answer;
  }
  int version = 0, count = 0;
  if (cuda.version(&version) == 0) answer["cuda_version"] = version;
  int error = cuda.init(0);
  if (error == 0) error = cuda.count(&count);
  if (error != 0) {
    const char* name = nullptr;
    if (cuda.error_name(error, &name) != 0 || name == nullptr) name = "an unknown error";
    answer["error"] = error;
    answer["trouble"] = fmt::format("{} ({})", name, error);
    return answer;
  }
  answer["gpus"] = Json::array();
  answer["states"] = Json::array();
  std::vector<std::string> uuids;
  for (int i = 0; i < count; ++i) {
    int device = 0, major = 0, minor = 0, reaches = 0;
    char name[256] = {};
    unsigned char uuid[16] = {};
    if (cuda.get(&device, i) != 0) continue;
    cuda.name(name, sizeof name - 1, device);
    cuda.attribute(&major, kMajor, device);
    cuda.attribute(&minor, kMinor, device);
    const bool known = cuda.attribute(&reaches, kPageableMemoryAccess, device) == 0;
    cuda.uuid(uuid, device);
    uuids.push_back(hex_groups(uuid));
    answer["gpus"].push_back({{"name", name},
                              {"major", major},
                              {"minor", minor},
                              {"reaches_host_memory", known ? Json(reaches != 0) : Json(nullptr)},
                              {"uuid", "GPU-" + uuids.back()}});
  }
  answer["nvml_trouble"] = ask_nvml(options.nvml, uuids, answer["states"]);
  return answer;
}

DriverProbe from_answer(const Json& answer) {
  DriverProbe probe{.has_library = answer.value("has_library", false),
                    .cuda_version = answer.value("cuda_version", 0),
                    .error = answer.value("error", 0),
                    .trouble = answer.value("trouble", ""),
                    .nvml_trouble = answer.value("nvml_trouble", "")};
  const Json gpus = answer.value("gpus", Json::array()), states = answer.value("states", Json::array());
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    ProbedGpu& gpu = probe.gpus.emplace_back();
    gpu.name = gpus[i].value("name", "");
    gpu.major = gpus[i].value("major", 0);
    gpu.minor = gpus[i].value("minor", 0);
    if (const Json* reaches = gpus[i].member("reaches_host_memory"); reaches != nullptr && reaches->is_boolean()) {
      gpu.reaches_host_memory = reaches->get<bool>();
    }
    gpu.state.uuid = gpus[i].value("uuid", "");
    if (i < states.size()) gpu.state = gpu_state_from_json(states[i]);
  }
  return probe;
}

DriverProbe failed(std::string trouble) { return {.has_library = true, .error = -1, .trouble = std::move(trouble)}; }

}  // namespace

DriverProbe probe_driver(const ProbeOptions& options) {
  const ChildAnswer asked = ask_child(options.timeout_s, [&] { return ask_driver(options); });
  switch (asked.end) {
    case ChildAnswer::End::answered:
      return from_answer(asked.json);
    case ChildAnswer::End::not_started:
      return failed("no process could be started to ask it");
    case ChildAnswer::End::late:
      return failed(fmt::format("it did not answer within {} s", options.timeout_s));
    case ChildAnswer::End::crashed:
      return failed(fmt::format("it crashed ({})", ::strsignal(asked.signal)));
    case ChildAnswer::End::unreadable:
      break;
  }
  return failed("its answer could not be read");
}

}  // namespace roofwalk
