// Launches, memsets and copies within device memory: each is a plan of the machine, so that each begins with a cold L2.
#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/mix.h"
#include "common/cudart/errors.h"
#include "common/cudart/session.h"
#include "common/vgpu/timing/occupancy.h"

namespace roofwalk::cudart {
namespace {

// The error that a program gets from the call after a kernel's fault.
std::int32_t error_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds:
    case FaultKind::read_only:
      return kIllegalAddress;
    case FaultKind::misaligned:
      return kMisalignedAddress;
    case FaultKind::runaway:
    case FaultKind::barrier_deadlock:
      return kLaunchTimeout;
    case FaultKind::assertion:
      return kAssert;
    case FaultKind::stack_overflow:
      return kHardwareStackError;
    case FaultKind::bad_call:
      return kInvalidPc;
    case FaultKind::resource:
      return kOutOfResources;
    case FaultKind::unsupported:
      return kNotSupported;
    case FaultKind::uninitialized:
    case FaultKind::race:
    case FaultKind::missing_wait:
    case FaultKind::trap:
      return kLaunchFailure;
  }
  return kUnknown;
}

void add_without_launch(const KernelRecord& row, KernelRecord& whole) {
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (const auto value = row.counters[counter]) whole.counters.add(counter, *value);
  }
  const double launch_ns = whole.parts.launch_ns;
  add_parts(row.parts, whole.parts);
  whole.parts.launch_ns = launch_ns;
  whole.elapsed_ns += row.elapsed_ns - row.parts.launch_ns;
}

std::uint64_t dynamic_and_static(const KernelFigures& figures, std::uint32_t dynamic_bytes) {
  return std::uint64_t{figures.static_shared_bytes} + dynamic_bytes;
}

}  // namespace

void Session::begin_plan(std::uint64_t key, bool counts) {
  vgpu::RunLimits limits;
  limits.work = options_.work;
  constexpr double kNoLimitSeconds = 1e9;  // the user's own process: it can be interrupted
  limits.seconds = kNoLimitSeconds;
  limits.sanitize = options_.sanitize;
  limits.threads = options_.threads;
  limits.traces.key = mix(key + mix(0));
  limits.counts = counts;
  if (!counts) limits.traces.instructions = 0;
  gpu_.begin_plan(limits);
}

Session::Refusal Session::why_not(const Kernel& kernel, const Launch& launch) const {
  constexpr std::uint32_t kMostX = 0x7fffffff, kMostYz = 65535, kMostBlockXy = 1024, kMostBlockZ = 64;
  const auto refuse_shape = [](std::string reason) {
    return Refusal{kInvalidConfiguration, "cudaErrorInvalidConfiguration", std::move(reason)};
  };
  const auto refuse_value = [](std::string reason) {
    return Refusal{kInvalidValue, "cudaErrorInvalidValue", std::move(reason)};
  };
  const auto& grid = launch.grid;
  const auto& block = launch.block;
  const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return refuse_shape("the grid is empty");
  if (threads == 0) return refuse_shape("the block is empty");
  if (grid[0] > kMostX || grid[1] > kMostYz || grid[2] > kMostYz)
    return refuse_shape(fmt::format("at most {} x {} x {} blocks are possible", kMostX, kMostYz, kMostYz));
  const Machine& machine = gpu_.machine();
  if (block[0] > kMostBlockXy || block[1] > kMostBlockXy || block[2] > kMostBlockZ ||
      threads > static_cast<std::uint64_t>(machine.max_threads_per_block)) {
    return refuse_shape(fmt::format("a block has at most {} x {} x {} threads, and {} in all", kMostBlockXy,
                                    kMostBlockXy, kMostBlockZ, machine.max_threads_per_block));
  }
  if (threads > static_cast<std::uint64_t>(kernel.max_threads))
    return refuse_value(fmt::format("this kernel has at most {} threads a block", kernel.max_threads));
  const std::uint64_t shared_bytes = dynamic_and_static(kernel.figures, launch.dynamic_shared_bytes);
  if (shared_bytes > static_cast<std::uint64_t>(machine.max_shared_bytes_per_block)) {
    return refuse_value(fmt::format("{} bytes of shared memory are more than the {} of a block on {}", shared_bytes,
                                    machine.max_shared_bytes_per_block, machine.name));
  }
  const auto fits = vgpu::occupancy_of(
      machine, {threads, kernel.figures.registers_per_thread, static_cast<std::uint32_t>(shared_bytes)});
  if (!fits) return {kOutOfResources, "cudaErrorLaunchOutOfResources", fits.error().message};
  if (launch.is_cooperative == 0) return {};
  // All blocks of a grid that waits for itself have to be resident.
  const std::uint64_t resident = static_cast<std::uint64_t>(fits->blocks_per_sm) * static_cast<unsigned>(machine.sms);
  if (static_cast<double>(grid[0]) * grid[1] * grid[2] <= static_cast<double>(resident)) return {};
  return {kCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
          fmt::format("a cooperative grid of it has at most {} blocks on {}", resident, machine.name)};
}

Result<std::uint64_t> Session::grid_workspace() {
  constexpr std::size_t kBytes = 8;  // its size, which nobody reads, and the count of cooperative_groups/details/sync.h
  if (workspace_ < 0) {
    ROOFWALK_TRY(workspace_, gpu_.memory().allocate("the grid's barrier", kBytes, 4, vgpu::Memory::Region::globals));
  }
  const vgpu::Buffer& buffer = gpu_.memory().buffer(workspace_);
  std::fill_n(buffer.data, kBytes, std::uint8_t{0});
  return buffer.address;
}

std::vector<PointerArgument> Session::pointers_in(const Kernel& kernel, std::string_view arguments) const {
  std::vector<PointerArgument> pointers;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const ParameterPlace& place = kernel.parameters[i];
    if (place.size_bytes != sizeof(std::uint64_t) || place.offset_bytes + place.size_bytes > arguments.size()) continue;
    const auto address = front_of<std::uint64_t>(arguments.substr(place.offset_bytes));
    if (const vgpu::Buffer* buffer = gpu_.memory().find(address)) pointers.push_back({i, buffer->name});
  }
  return pointers;
}

Reply Session::launch(std::string_view payload) {
  const auto asked = front_of<Launch>(payload);
  const auto number = static_cast<std::size_t>(asked.kernel);
  if (number >= kernels_.size() || payload.size() < sizeof asked) return {.error = kInvalidDeviceFunction};
  const Kernel& kernel = *kernels_[number];
  if (const Refusal refused = why_not(kernel, asked); refused.error != kSuccess) {
    // Many a program does not ask for the error, and finds its results unchanged.
    const std::string name = vgpu::display_name(kernel.name);
    tell_once(fmt::format("{} {}", kernel.name, refused.reason),
              fmt::format("kernel {} is not launched with a grid of {} and a block of {}, {}: {}", name,
                          fmt::join(asked.grid, " x "), fmt::join(asked.block, " x "), refused.name, refused.reason));
    return {.error = refused.error};
  }
  Reply reply = run(kernel, asked, payload.substr(sizeof asked));
  if (options_.observer != nullptr) options_.observer->ended();
  return reply;
}

Reply Session::run(const Kernel& kernel, const Launch& asked, std::string_view arguments) {
  gpu_.use_module(kernel.module->number, kernel.file, told_path(kernel.file));
  Alike& alike = alike_[std::string(bytes_of(asked))];
  const bool is_wanted = options_.observer == nullptr || options_.observer->begins(vgpu::display_name(kernel.name));
  const bool counts = is_wanted && (options_.counted_launches == 0 || alike.launches < options_.counted_launches);
  if (is_wanted) ++alike.launches;
  begin_plan(kernel.module->code.hash, counts);
  vgpu::KernelCall call;
  call.kernel = kernel.name;
  call.grid = {asked.grid[0], asked.grid[1], asked.grid[2]};
  call.block = {asked.block[0], asked.block[1], asked.block[2]};
  call.dynamic_shared_bytes = asked.dynamic_shared_bytes;
  call.arguments = {reinterpret_cast<const std::uint8_t*>(arguments.data()), arguments.size()};
  call.registers_per_thread = kernel.figures.registers_per_thread;
  call.local_bytes_per_thread = kernel.figures.local_bytes_per_thread;
  if (const auto code = kernel.module->code.code.find(kernel.name); code != kernel.module->code.code.end())
    call.code = code->second;
  std::optional<Error> trouble;
  if (asked.is_cooperative != 0) {
    const auto workspace = grid_workspace();
    if (!workspace) trouble = workspace.error();
    call.grid_workspace = workspace ? *workspace : 0;
  }
  if (kernel.takes_memory) {
    if (const Status has_heap = gpu_.make_heap(heap_bytes_); !has_heap) trouble = has_heap.error();
  }
  const Result<bool> is_run = trouble ? Result<bool>(*trouble) : gpu_.launch(call);
  RunRecord record = gpu_.end_plan();
  Reply reply{.printed = std::move(record.printed.text)};
  if (!is_run) {
    const std::string text =
        fmt::format("kernel {} does not run: {}", vgpu::display_name(kernel.name), is_run.error().text());
    tell_once(text, text);
    reply.error = kNotSupported;
    return reply;
  }
  Launched launched;
  if (record.fault) {
    tell(fault_text(*record.fault, kernel.name, pointers_in(kernel, arguments)), true);
    launched.fault = error_of(record.fault->kind);
  }
  for (const Fault& warning : record.warnings) {
    // A kernel that is launched a thousand times gives one warning for a line, although numbers in it may differ.
    tell_once(fmt::format("{} {} {} {}", static_cast<int>(warning.kind), kernel.name, warning.file, warning.line),
              "warning: " + fault_text(warning, kernel.name, pointers_in(kernel, arguments)));
  }
  if (counts) alike.last = std::move(record.kernels);
  if (!record.fault && is_wanted) {
    for (const KernelRecord& each : alike.last) {
      records_.add(each, told_path(kernel.file), counts);
      if (options_.observer != nullptr) options_.observer->measured(each, told_path(kernel.file));
      now_ns_ += each.elapsed_ns;
    }
  }
  reply.bytes = std::string(bytes_of(launched));
  return reply;
}

// Rows of one memset or copy are moved by one launch.
Reply Session::end_transfer(bool is_done) {
  const RunRecord record = gpu_.end_plan();
  if (!is_done) {
    if (record.fault) tell(record.fault->message, true);
    return {.error = kInvalidValue};
  }
  if (!record.kernels.empty()) {
    KernelRecord whole = record.kernels.front();
    for (std::size_t row = 1; row < record.kernels.size(); ++row) add_without_launch(record.kernels[row], whole);
    records_.add(whole, "", /*is_counted=*/true);
    now_ns_ += whole.elapsed_ns;
  }
  return {.bytes = std::string(bytes_of(Launched{}))};
}

Reply Session::fill(std::string_view payload) {
  const auto asked = front_of<Fill>(payload);
  begin_plan(0, /*counts=*/true);
  bool is_done = true;
  const std::uint64_t rows = asked.width_bytes == 0 ? 0 : asked.rows * asked.slices;
  for (std::uint64_t i = 0; is_done && i < rows; ++i) {
    const std::uint64_t at = i / asked.rows * asked.slice_bytes + i % asked.rows * asked.pitch_bytes;
    is_done = gpu_.set_memory(asked.address + at, static_cast<std::uint8_t>(asked.value), asked.width_bytes, 0);
  }
  return end_transfer(is_done);
}

Reply Session::copy(std::string_view payload) {
  const auto asked = front_of<Copy>(payload);
  begin_plan(0, /*counts=*/true);
  bool is_done = true;
  const std::uint64_t rows = asked.width_bytes == 0 ? 0 : asked.rows * asked.slices;
  for (std::uint64_t i = 0; is_done && i < rows; ++i) {
    const std::uint64_t slice = i / asked.rows, row = i % asked.rows;
    is_done = gpu_.copy_memory(asked.to + slice * asked.to_slice_bytes + row * asked.to_pitch_bytes,
                               asked.from + slice * asked.from_slice_bytes + row * asked.from_pitch_bytes,
                               asked.width_bytes, 0);
  }
  return end_transfer(is_done);
}

Reply Session::occupancy(std::string_view payload) const {
  const auto asked = front_of<AskOccupancy>(payload);
  const auto number = static_cast<std::size_t>(asked.kernel);
  if (number >= kernels_.size() || asked.threads == 0) return {.error = kInvalidValue};
  const KernelFigures& figures = kernels_[number]->figures;
  const auto fits = vgpu::occupancy_of(
      gpu_.machine(), {asked.threads, figures.registers_per_thread,
                       static_cast<std::uint32_t>(dynamic_and_static(figures, asked.dynamic_shared_bytes))});
  return {.bytes = std::string(bytes_of(Occupied{fits ? fits->blocks_per_sm : 0}))};
}

}  // namespace roofwalk::cudart
