#include "grader/rig/bench.h"

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
#include "grader/rig/gpu_bench.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

// Tells builds of this program apart without reading all of it.
std::string program_identity() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const auto written = fs::last_write_time(self, error).time_since_epoch().count();
  return fmt::format("{} {} {}", ROOFWALK_VERSION, fs::file_size(self, error), written);
}

// An error if `device` is the name or file of a machine without its kind: `classroom` for `virtual:classroom`.
std::optional<Error> lacks_kind(const std::string& device) {
  const auto known = machine_names();
  const bool is_machine = std::find(known.begin(), known.end(), device) != known.end() || device.ends_with(".toml");
  if (!is_machine || device.find(':') != std::string::npos) return std::nullopt;
  return Error{.message = fmt::format("unknown device `{}`", device),
               .advice = fmt::format("did you mean virtual:{}?", device)};
}

// The virtual GPU with this card's figures, or the default one if there is no file for this card.
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

// The virtual GPU in a box, one process per device. This process reads nothing of a learner's kernel.
DeviceFactory boxed_virtual_devices(const std::string& device, const fs::path& program, const fs::path& root,
                                    int threads) {
  return [=]() -> Result<std::unique_ptr<Device>> {
    ROOFWALK_TRY(WorkerCommand command, boxed_worker(program, root, device, threads));
    return make_remote_device(std::move(command), device, {}, {.plans = true, .kernels_may_end_it = false});
  };
}

// The roofs and starters of a real GPU depend on the card, the driver and the day.
std::string identity(const DeviceIdentity& gpu) {
  if (gpu == DeviceIdentity{}) return "";
  const auto days = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()).time_since_epoch().count();
  return fmt::format("{} {} {}", gpu.uuid, gpu.driver_version, days);
}

}  // namespace

fs::path Bench::picture(const std::string& name, const std::string& ending) const {
  return course->plot(is_usual ? name : fmt::format("{}-{}", name, machine.name), ending);
}

Result<Bench> open_bench(const Course& course, const std::string& device, int threads, Store* store,
                         Isolation isolation, fs::path program) {
  if (const auto error = lacks_kind(device)) return *error;
  const auto ordinal = cuda_ordinal(device);
  if (ordinal && *ordinal < 0) {
    return Error{.message = fmt::format("`{}` names no GPU", device), .advice = "cuda:0 is the first one"};
  }
  Bench bench;
  bench.course = &course;
  bench.include = course.include();
  bench.cache = course.cache();
  bench.device_kind = ordinal ? "cuda" : "virtual";
  bench.isolation = isolation;
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
    bench.open = devices_in_worker(device, program, isolation);
    bench.open_own = devices_in_worker(device, program, Isolation::none);
  } else {
    bench.open = virtual_devices(device);
    if (boxed) bench.open_own = [device] { return open_device(device); };
  }
  ROOFWALK_TRY(const auto usual, open_device("auto"));
  ROOFWALK_TRY(const auto opened, bench.open());
  bench.machine = opened->machine();
  bench.gpu = opened->identity();
  bench.counts_bytes = opened->supports(Counter::dram_read_bytes);
  if (ordinal) {
    bench.open_virtual = virtual_devices(virtual_device_for(bench.machine));
    bench.gpu_state = states_of(bench.gpu.uuid);
  }
  bench.is_usual = bench.device_kind == "virtual" && bench.machine.name == usual->machine().name;
  bench.roofs = roofs_of(bench.machine);
  bench.threads = ordinal ? 1 : threads;  // one worker, one thread
  bench.virtual_threads = threads;
  bench.store = store;
  bench.toolkit = find_toolkit(root);
  if (bench.toolkit) bench.toolkit->isolation = isolation;
  if (bench.toolkit && boxed) ROOFWALK_TRY_STATUS(require_reach(bench.toolkit->root, "the CUDA toolkit"));
  return bench;
}

Result<Artifact> build_for(const Bench& bench, const fs::path& source, const fs::path& headers) {
  if (!bench.toolkit) return bench.toolkit.error();
  return build(*bench.toolkit, {.source = source,
                                .arch = bench.machine.arch,
                                .include = bench.include,
                                .cache = bench.cache,
                                .headers = headers});
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

std::string identity(const Bench& bench) {
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}\n{}", folder_hash(bench.include), json_line(to_json(bench.machine)),
                                bench.device_name(), identity(bench.gpu),
                                program_identity() + (bench.toolkit ? bench.toolkit->version : "")));
}

}  // namespace roofwalk
