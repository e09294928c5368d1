#include "common/device/cuda/driver_probe.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace roofwalk {
namespace {

using Clock = std::chrono::steady_clock;

// The driver API as far as it is asked here: cuda.h of CUDA 13.0. All of it has been in every driver since 2019.
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

// "GPU-" and "MIG-" names hold the same sixteen bytes.
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

// In the child.
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
    if (gpus[i]["reaches_host_memory"].is_boolean()) gpu.reaches_host_memory = gpus[i]["reaches_host_memory"];
    gpu.state.uuid = gpus[i].value("uuid", "");
    if (i < states.size()) gpu.state = gpu_state_from_json(states[i]);
  }
  return probe;
}

DriverProbe failed(std::string trouble) { return {.has_library = true, .error = -1, .trouble = std::move(trouble)}; }

[[noreturn]] void answer_and_exit(const ProbeOptions& options, int pipe) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);  // drivers print when they are in trouble
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, standard);
  const std::string text = ask_driver(options).dump(-1, ' ', false, Json::error_handler_t::replace);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(pipe, text.data() + at, text.size() - at);
    if (count <= 0) ::_exit(1);
    at += static_cast<std::size_t>(count);
  }
  ::_exit(0);
}

// What the child writes until it ends or the time is up.
bool read_until(int pipe, Clock::time_point end, std::string& text) {
  char part[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd ready{.fd = pipe, .events = POLLIN, .revents = 0};
    if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) == 0) return false;
    const ssize_t count = ::read(pipe, part, sizeof part);
    if (count == 0) return true;
    if (count > 0) text.append(part, static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) return false;
  }
}

}  // namespace

DriverProbe probe_driver(const ProbeOptions& options) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("no pipe could be opened to ask it");
  const pid_t child = ::fork();
  if (child == 0) answer_and_exit(options, ends[1]);
  ::close(ends[1]);
  std::string text;
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.timeout_s));
  const bool ended = child > 0 && read_until(ends[0], Clock::now() + limit, text);
  ::close(ends[0]);
  if (child < 0) return failed("no process could be started to ask it");
  if (!ended) {
    ::kill(child, SIGKILL);
    // A process that hangs inside the driver cannot be killed; it is left behind then.
    for (int turn = 0; turn < 20 && ::waitpid(child, nullptr, WNOHANG) == 0; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return failed(fmt::format("it did not answer within {} s", options.timeout_s));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return failed(fmt::format("it crashed ({})", ::strsignal(WTERMSIG(status))));
  const Json answer = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) return failed("its answer could not be read");
  return from_answer(answer);
}

}  // namespace roofwalk
