#include "common/device/remote/worker_box.h"

#include <algorithm>
#include <thread>

#include "common/build/files.h"
#include "common/sandbox/probe.h"
#include "common/specs/slice.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "/roofwalk/program";
constexpr std::size_t kMaxProgramBytes = 48 << 20;
constexpr std::size_t kMaxMachineBytes = 1 << 20;

// Limits of address space: more than a run may keep at once on the largest machine (buffers, scratch, registers, local
// memory, what recursive calls save), plus a heap and a stack per thread.
constexpr std::size_t kMemoryBytes = std::size_t{8} << 30;
constexpr std::size_t kThreadBytes = 128 << 20;

}  // namespace

Result<WorkerCommand> boxed_worker(const fs::path& program, const fs::path& root, const std::string& device,
                                   int threads) {
  // A run without a thread count uses all threads of the machine.
  threads = std::max(threads, static_cast<int>(std::thread::hardware_concurrency()));
  Box box;
  box.mounts = {
      {"/usr/lib", "/usr/lib"},
      {"/usr/lib64", "/usr/lib64", /*may_be_absent=*/true},
      {"/etc/ld.so.cache", "/etc/ld.so.cache", /*may_be_absent=*/true},
  };
  box.links = {{"/lib", "usr/lib"}, {"/lib64", "usr/lib64"}};
  box.environment = {{"ROOFWALK_ROOT", kBoxFolder}, {"LC_ALL", "C"}};
  box.limits = {.cpu_s = 0,  // limited by the run's own limits and the parent's timeouts
                .memory_bytes = kMemoryBytes + static_cast<std::size_t>(threads) * kThreadBytes,
                .file_bytes = 4096,
                .temporary_bytes = 4096,
                .stack_bytes = 8 << 20,
                .processes = threads + 16,
                .descriptors = 64};
  // Machine files are copied, not mounted, because perhaps only their owner can enter their folder, and root drops its
  // privileges before the box is made. The program has megabytes, so it is copied only where the box cannot reach
  // it.
  const std::string specs = std::string(kBoxFolder) + "/common/specs/";
  std::error_code error;
  for (fs::directory_iterator at(root / "common/specs", error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != ".toml") continue;
    if (auto text = read_file(at->path(), kMaxMachineBytes)) {
      box.files.push_back({specs + at->path().filename().string(), *std::move(text)});
    }
  }
  std::string start = kProgram;
  if (!require_reach(program, "this program")) {
    auto bytes = read_file(program, kMaxProgramBytes);
    if (!bytes) return Error{.message = "the program itself cannot be read", .file = program.string()};
    start = std::string(kBoxFolder) + "/roofwalk";
    box.files.push_back({start, *std::move(bytes), /*is_program=*/true});
  } else {
    box.mounts.push_back({program, kProgram});
  }
  std::string inside = device;
  constexpr std::string_view kVirtual = "virtual:";
  MachineName name = parse_machine_name(device.starts_with(kVirtual) ? device.substr(kVirtual.size()) : "");
  if (name.chip.ends_with(".toml")) {  // a machine file that belongs to the user
    const fs::path file = name.chip;
    auto text = read_file(file, kMaxMachineBytes);
    if (!text) return Error{.message = "there is no such machine file", .file = file.string()};
    const std::string to = std::string(kBoxFolder) + "/" + file.filename().string();
    box.files.push_back({to, *std::move(text)});
    name.chip = to;
    inside = std::string(kVirtual) + name.text();
  }
  return WorkerCommand{
      .arguments = {start, "--device", inside, "device-worker"}, .environment = {}, .box = std::move(box)};
}

}  // namespace roofwalk
