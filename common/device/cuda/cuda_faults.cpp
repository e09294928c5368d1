// What a CudaDevice knows about a launch before it runs, e.g. its occupancy, and who is at fault if a launch fails.
#include <fmt/format.h>

#include <algorithm>

#include "common/build/diagnostics.h"
#include "common/device/cuda/cuda_device.h"
#include "common/device/cuda/cuda_errors.h"

namespace roofwalk {
namespace {

constexpr const char* kWhere =
    "a GPU reports neither the thread nor the line: run this with `--device virtual`, which does";

std::string launch_text(const KernelLaunch& launch) {
  return fmt::format("{}<<<{} x {} x {}, {} x {} x {}>>>", written_name(launch.kernel), launch.grid.x, launch.grid.y,
                     launch.grid.z, launch.block.x, launch.block.y, launch.block.z);
}

int line_of(const PlanStep& step) {
  return std::visit([](const auto& some) { return some.line; }, step);
}

std::string name_of(const PlanStep& step) {
  if (const auto* launch = std::get_if<KernelLaunch>(&step)) return written_name(launch->kernel);
  return std::holds_alternative<MemsetStep>(step) ? "memset" : "memcpy";
}

}  // namespace

std::optional<Fault> CudaDevice::check_range(const char* what, std::uint64_t address, std::uint64_t size_bytes,
                                             int line) const {
  const Allocation* inside = nullptr;
  for (const auto& [id, buffer] : buffers_) {
    if (address >= buffer.address && address - buffer.address < buffer.size_bytes) inside = &buffer;
  }
  if (inside != nullptr && size_bytes <= inside->size_bytes - (address - inside->address)) return std::nullopt;
  Fault fault;
  fault.kind = FaultKind::out_of_bounds;
  fault.kernel = what;
  fault.file = source_path_;
  fault.line = line;
  if (inside == nullptr) {
    fault.message =
        fmt::format("out of bounds: {} of {} bytes at an address that belongs to no buffer", what, size_bytes);
  } else {
    fault.buffer = inside->name;
    fault.message = fmt::format("out of bounds: {} of {} bytes from byte {} of {}, which has {} bytes", what,
                                size_bytes, address - inside->address, inside->name, inside->size_bytes);
  }
  return fault;
}

Result<std::optional<Fault>> CudaDevice::describe_launch(const KernelLaunch& launch, KernelRecord& kernel) {
  CUfunction function = nullptr;
  const auto ask = [&](CUfunction_attribute which, int& value) {
    return api_.cuFuncGetAttribute(&value, which, function);
  };
  CUresult code = module_.function(launch.kernel, 0, function);
  int static_bytes = 0, local_bytes = 0, most_threads = 0, blocks = 0;
  if (code == CUDA_SUCCESS) code = ask(CU_FUNC_ATTRIBUTE_NUM_REGS, kernel.registers_per_thread);
  if (code == CUDA_SUCCESS) code = ask(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, static_bytes);
  if (code == CUDA_SUCCESS) code = ask(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, local_bytes);
  if (code == CUDA_SUCCESS) code = ask(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, most_threads);
  ROOFWALK_TRY_STATUS(check(code, fmt::format("look at kernel {}", kernel.name)));
  kernel.shared_counts_from = CountsFrom::sass;  // what the hardware counts
  kernel.grid = launch.grid;
  kernel.block = launch.block;
  kernel.shared_bytes = static_cast<std::uint32_t>(static_bytes) + launch.dynamic_shared_bytes;
  kernel.local_bytes_per_thread = static_cast<std::uint64_t>(local_bytes);
  if (const auto own = own_local_bytes_.find(launch.kernel); own != own_local_bytes_.end()) {
    kernel.spilled_bytes_per_thread =
        kernel.local_bytes_per_thread - std::min(kernel.local_bytes_per_thread, own->second);
  }
  const std::uint64_t threads = launch.block.count();
  const bool fits = threads <= static_cast<std::uint64_t>(most_threads) &&
                    kernel.shared_bytes <= static_cast<std::uint32_t>(gpu_.max_shared_bytes_per_block);
  if (fits) {
    code = module_.function(launch.kernel, launch.dynamic_shared_bytes, function);
    if (code == CUDA_SUCCESS) {
      code = api_.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, static_cast<int>(threads),
                                                              launch.dynamic_shared_bytes);
    }
    ROOFWALK_TRY_STATUS(check(code, fmt::format("ask how many blocks of {} an SM holds", kernel.name)));
  }
  if (blocks == 0) {
    Fault fault;
    fault.kind = FaultKind::resource;
    fault.kernel = kernel.name;
    fault.file = source_path_;
    fault.line = launch.line;
    fault.message = fmt::format(
        "no SM of {} holds a block of {}: {} threads of {} registers and {} bytes of shared memory (at most {} threads "
        "with so many registers, and {} bytes)",
        gpu_.name, launch_text(launch), threads, kernel.registers_per_thread, kernel.shared_bytes, most_threads,
        gpu_.max_shared_bytes_per_block);
    return std::optional<Fault>(std::move(fault));
  }
  constexpr std::uint64_t kWarp = 32;
  kernel.resident_blocks_per_sm = blocks;
  kernel.occupancy = static_cast<double>(static_cast<std::uint64_t>(blocks) * ((threads + kWarp - 1) / kWarp)) /
                     (static_cast<double>(gpu_.max_threads_per_sm) / kWarp);
  return std::optional<Fault>();
}

// Fills in the facts that are known before the run.
Result<std::optional<Fault>> CudaDevice::describe(const Plan& plan, RunRecord& record) {
  for (const PlanStep& step : plan.steps) {
    KernelRecord& kernel = record.kernels.emplace_back();
    kernel.name = name_of(step);
    kernel.line = line_of(step);
    std::optional<Fault> fault;
    if (const auto* launch = std::get_if<KernelLaunch>(&step)) {
      ROOFWALK_TRY(fault, describe_launch(*launch, kernel));
    } else if (const auto* set = std::get_if<MemsetStep>(&step)) {
      fault = check_range("memset", set->address, set->size_bytes, set->line);
    } else {
      const auto& copy = std::get<CopyStep>(step);
      fault = check_range("memcpy", copy.destination, copy.size_bytes, copy.line);
      if (!fault) fault = check_range("memcpy", copy.source, copy.size_bytes, copy.line);
    }
    if (fault) return fault;
  }
  return std::optional<Fault>();
}

Fault CudaDevice::fault_at(FaultKind kind, const Plan& plan, std::optional<std::size_t> step,
                           std::string_view cause) const {
  if (plan.steps.size() == 1) step = 0;
  Fault fault;
  fault.kind = kind;
  fault.file = source_path_;
  if (step) {
    fault.kernel = name_of(plan.steps[*step]);
    fault.line = line_of(plan.steps[*step]);
    fault.message = fmt::format("{}: {}, launched here; {}", cause, fault.kernel, kWhere);
  } else {
    fault.message = fmt::format("{}: one of the plan's {} steps; {}", cause, plan.steps.size(), kWhere);
  }
  return fault;
}

// Returns true if nothing went wrong, false if the learner is at fault (the record then contains the fault), and an
// Error if the machine is at fault.
Result<bool> CudaDevice::settle(const std::optional<Broken>& broken, const Plan& plan, RunRecord& record) const {
  if (!broken) return true;
  record.counters = {};
  record.kernels.clear();
  record.elapsed_ns = 0;
  if (broken->timed_out) {
    lose({.message = "the GPU is still busy with a kernel that ran past its limit: this process must end",
          .advice = "run it again"});
    record.fault = fault_at(FaultKind::runaway, plan, broken->step, "runs too long: the limit of time has passed");
    return false;
  }
  const CudaError* known = find_cuda_error(broken->code);
  // A launch that requests more than the GPU has is also the learner's fault.
  const bool refused_launch =
      broken->step && (broken->code == CUDA_ERROR_INVALID_VALUE || broken->code == CUDA_ERROR_OUT_OF_MEMORY);
  if ((known == nullptr || !known->fault) && !refused_launch) {
    return check(broken->code, "run the kernels").error();
  }
  if (known->is_sticky) {
    lose({.message = fmt::format("this process lost its GPU to an earlier fault ({})", known->name),
          .advice = "run it again"});
  }
  if (!refused_launch) {
    record.fault = fault_at(*known->fault, plan, broken->step, known->cause);
    return false;
  }
  const auto* launch = std::get_if<KernelLaunch>(&plan.steps[*broken->step]);
  record.fault = fault_at(FaultKind::resource, plan, broken->step, "");
  record.fault->message = fmt::format(
      "the driver refuses {}: {}", launch != nullptr ? launch_text(*launch) : name_of(plan.steps[*broken->step]),
      broken->code == CUDA_ERROR_OUT_OF_MEMORY ? "the memory that its threads need for themselves is not there"
                                               : "its grid or its block is larger than this GPU allows");
  return false;
}

// Puts what kernels printed since OutputCapture::restart() into the record. Synchronizes, because the driver delivers
// output only then. Does nothing if `is_busy`, because it would wait for a kernel that is still running.
void CudaDevice::take_output(OutputCapture& output, bool is_busy, RunRecord& record) const {
  if (!prints_ || is_busy) return;
  api_.cuStreamSynchronize(stream_);  // after a fault, this returns the same fault again
  record.printed = printed_of(output.out());
  if (!record.fault || record.fault->kind != FaultKind::assertion) return;
  const auto failed = assertion_in(output.err());
  if (!failed) return;
  record.fault->line = failed->line;
  record.fault->block = failed->block;
  record.fault->thread = failed->thread;
  record.fault->message =
      fmt::format("assertion failed: {}: your own assert, false for this thread", failed->condition);
}

}  // namespace roofwalk
