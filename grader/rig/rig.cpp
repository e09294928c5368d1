#include "grader/rig/rig.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "common/base/hash.h"
#include "common/base/json.h"
#include "common/device/cuda/open_cuda.h"
#include "common/device/remote/remote_device.h"
#include "common/device/remote/worker_box.h"
#include "common/measure/roofs.h"
#include "common/sandbox/probe.h"
#include "common/specs/slice.h"
#include "grader/rig/gpu_rig.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

// A text that is different for each build of this program. Uses the program's version, size and time, because hashing
// the whole program would take longer.
std::string program_identity() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const auto written = fs::last_write_time(self, error).time_since_epoch().count();
  return fmt::format("{} {} {}", ROOFWALK_VERSION, fs::file_size(self, error), written);
}

// An Error if `device` is the name or file of a machine without its kind, such as `classroom` for
// `virtual:classroom`.
std::optional<Error> lacks_kind(const std::string& device) {
  const auto known = machine_names();
  const std::string chip = parse_machine_name(device).chip;
  const bool is_machine = std::find(known.begin(), known.end(), chip) != known.end() || chip.ends_with(".toml");
  if (!is_machine || device.find(':') != std::string::npos) return std::nullopt;
  return Error{.message = fmt::format("unknown device `{}`", device),
               .advice = fmt::format("did you mean virtual:{}?", device)};
}

// The virtual GPU with this GPU's figures, or the default one if the GPU has no machine file.
std::string virtual_device_for(const Machine& machine) {
  const auto known = machine_names();
  const bool has_file = std::find(known.begin(), known.end(), machine.name) != known.end();
  return has_file ? "virtual:" + machine.name : "auto";
}

// Opens NVML at the first call.
std::function<Result<GpuState>()> states_of(const std::string& uuid) {
  return [uuid, nvml = std::shared_ptr<const Nvml>()]() mutable -> Result<GpuState> {
    if (!nvml) {
      ROOFWALK_TRY(const NvmlApi api, load_nvml_api());
      ROOFWALK_TRY(nvml, Nvml::open(api));
    }
    return nvml->state(uuid);
  };
}

// Opens the virtual GPU in a box, with one process per device, so that this process does not even parse a learner's
// kernel.
DeviceFactory boxed_virtual_devices(const std::string& device, const fs::path& program, const fs::path& root,
                                    int threads) {
  return [=]() -> Result<std::unique_ptr<Device>> {
    ROOFWALK_TRY(WorkerCommand command, boxed_worker(program, root, device, threads));
    return make_remote_device(std::move(command), device, {}, {.plans = true, .kernels_may_end_it = false});
  };
}

// A text for what only the figures of a real GPU depend on: the GPU, the driver and the day; empty for the virtual GPU.
std::string identity(const DeviceIdentity& gpu) {
  if (gpu == DeviceIdentity{}) return "";
  const auto days = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()).time_since_epoch().count();
  return fmt::format("{} {} {}", gpu.uuid, gpu.driver_version, days);
}

}  // namespace

std::string Rig::device_title() const {
  if (!machine.is_slice()) return device_name();
  return fmt::format("{}:{}, {} of its {} SMs", device_kind, machine.chip_name(), machine.sms, machine.chip_sms);
}

fs::path Rig::picture(const std::string& name, const std::string& ending) const {
  return course->plot(is_usual ? name : fmt::format("{}-{}", name, machine.file_name()), ending);
}

Result<Rig> open_rig(const Course& course, const std::string& device, int threads, Store* store, Isolation isolation,
                     fs::path program) {
  if (const auto error = lacks_kind(device)) return *error;
  const auto ordinal = cuda_ordinal(device);
  if (ordinal && *ordinal < 0) {
    return Error{.message = fmt::format("`{}` names no GPU", device), .advice = "cuda:0 is the first one"};
  }
  Rig rig;
  rig.course = &course;
  rig.include = course.include();
  rig.cache = course.cache();
  rig.device_kind = ordinal ? "cuda" : "virtual";
  rig.isolation = isolation;
  const bool boxed = isolation == Isolation::boxed;
  if (boxed) ROOFWALK_TRY_STATUS(require_boxes());
  std::error_code error;
  const fs::path root = fs::absolute(course.root / ".", error).lexically_normal();
  if (program.empty()) program = fs::read_symlink("/proc/self/exe", error);
  const auto virtual_devices = [&](const std::string& name) -> DeviceFactory {
    if (boxed) return boxed_virtual_devices(name, program, root, threads);
    return [name] { return open_device(name); };
  };
  if (ordinal) {
    rig.open = devices_in_worker(device, program, isolation);
    rig.open_own = devices_in_worker(device, program, Isolation::none);
  } else {
    rig.open = virtual_devices(device);
    if (boxed) rig.open_own = [device] { return open_device(device); };
  }
  ROOFWALK_TRY(const auto usual, open_device("auto"));
  ROOFWALK_TRY(const auto opened, rig.open());
  rig.machine = opened->machine();
  rig.gpu = opened->identity();
  rig.counts_bytes = opened->supports(Counter::dram_read_bytes);
  if (ordinal) {
    rig.open_virtual = virtual_devices(virtual_device_for(rig.machine));
    rig.gpu_state = states_of(rig.gpu.uuid);
  }
  rig.is_usual = rig.device_kind == "virtual" && rig.machine.name == usual->machine().name;
  // In a class, the device is the course's, and a learner need not know the place of its file.
  if (!rig.is_usual && !boxed) rig.device_option = " --device " + device;
  rig.roofs = roofs_of(rig.machine);
  rig.threads = ordinal ? 1 : threads;  // one worker with one thread
  rig.virtual_threads = threads;
  rig.store = store;
  rig.toolkit = find_toolkit(root);
  if (rig.toolkit) rig.toolkit->isolation = isolation;
  if (rig.toolkit && boxed) ROOFWALK_TRY_STATUS(require_reach(rig.toolkit->root, "the CUDA toolkit"));
  return rig;
}

Result<Artifact> build_for(const Rig& rig, const fs::path& source, const fs::path& headers) {
  if (!rig.toolkit) return rig.toolkit.error();
  return build(
      *rig.toolkit,
      {.source = source, .arch = rig.machine.arch, .include = rig.include, .cache = rig.cache, .headers = headers});
}

std::string folder_hash(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string all;
  for (const fs::path& file : files) {
    all += fmt::format("{} {}\n", file.lexically_relative(folder).string(), sha256_hex(file_text(file)));
  }
  return sha256_hex(all);
}

std::string identity(const Rig& rig) {
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}\n{}", folder_hash(rig.include), json_line(to_json(rig.machine)),
                                rig.device_name(), identity(rig.gpu),
                                program_identity() + (rig.toolkit ? rig.toolkit->version : "")));
}

}  // namespace roofwalk
