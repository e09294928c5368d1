#include "common/device/remote/worker_box.h"

#include <algorithm>
#include <thread>

#include "common/build/files.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRoot = "/roofwalk";
constexpr const char* kProgram = "/roofwalk/program";
constexpr std::size_t kMaxMachineBytes = 1 << 20;

// Address space: what the largest chapter takes on the largest machine, several times, and a heap and a stack for each
// thread.
constexpr std::size_t kMemoryBytes = std::size_t{6} << 30;
constexpr std::size_t kThreadBytes = 128 << 20;

}  // namespace

Result<WorkerCommand> boxed_worker(const fs::path& program, const fs::path& root, const std::string& device,
                                   int threads) {
  // A run that names no number of threads takes all that the machine has.
  threads = std::max(threads, static_cast<int>(std::thread::hardware_concurrency()));
  Box box;
  box.mounts = {{"/usr/lib", "/usr/lib"},
                {"/usr/lib64", "/usr/lib64", /*may_be_absent=*/true},
                {"/etc/ld.so.cache", "/etc/ld.so.cache", /*may_be_absent=*/true},
                {root / "common/specs", std::string(kRoot) + "/common/specs"},
                {program, kProgram}};
  box.links = {{"/lib", "usr/lib"}, {"/lib64", "usr/lib64"}};
  box.environment = {{"ROOFWALK_ROOT", kRoot}, {"LC_ALL", "C"}};
  box.limits = {.cpu_s = 0,  // the run's own limits and the parent's clock hold
                .memory_bytes = kMemoryBytes + static_cast<std::size_t>(threads) * kThreadBytes,
                .file_bytes = 4096,
                .temporary_bytes = 4096,
                .stack_bytes = 8 << 20,
                .processes = threads + 16,
                .descriptors = 64};
  std::string inside = device;
  constexpr std::string_view kVirtual = "virtual:";
  if (device.ends_with(".toml") && device.starts_with(kVirtual)) {  // a machine of the user's own
    const fs::path file = device.substr(kVirtual.size());
    auto text = read_file(file, kMaxMachineBytes);
    if (!text) return Error{.message = "there is no such machine file", .file = file.string()};
    const std::string to = std::string(kBoxFolder) + "/" + file.filename().string();
    box.files.push_back({to, *std::move(text)});
    inside = std::string(kVirtual) + to;
  }
  return WorkerCommand{
      .arguments = {kProgram, "--device", inside, "device-worker"}, .environment = {}, .box = std::move(box)};
}

}  // namespace roofwalk
