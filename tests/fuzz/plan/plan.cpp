// Fuzz target: takes any bytes as the PTX of a file with a `solve`. Making a plan of it may fail with a clean error. A
// plan that is made must run, fault or be rejected, within small budgets.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "common/device/virtual/virtual_device.h"
#include "common/plan/plan.h"
#include "common/ptx/module.h"
#include "common/record/run_record.h"
#include "common/specs/machine.h"

namespace {

using namespace roofwalk;

constexpr std::uint64_t kBufferBytes = 4096;

void insist(bool holds, const char* words) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", words);
  std::abort();
}

Machine small_machine() {
  auto machine = load_machine("classroom");
  insist(machine.ok(), "no machine");
  machine->sms = 2;
  machine->memory_bytes = 64 << 20;
  return std::move(*machine);
}

// Returns arguments for solve: pointers to buffers for parameters of eight bytes, 100 for those of four, bytes of value
// 3 for others.
std::vector<ArgumentBytes> arguments_of(const ptx::Function& solve, Device& device) {
  std::vector<ArgumentBytes> out;
  for (const ptx::Variable& parameter : solve.parameters) {
    ArgumentBytes bytes(parameter.size_bytes, 3);
    if (parameter.size_bytes == 8) {
      const auto buffer = device.allocate("buffer", kBufferBytes, 4);
      if (buffer) {
        const std::vector<std::uint8_t> zeros(kBufferBytes);
        device.write(*buffer, 0, zeros);
        for (int i = 0; i < 8; ++i)
          bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(buffer->address >> 8 * i);
      }
    } else if (parameter.size_bytes == 4) {
      bytes = {100, 0, 0, 0};
    }
    out.push_back(std::move(bytes));
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Machine machine = small_machine();
  Artifact artifact;
  artifact.source_path = "kernel.cu";
  artifact.source_name = "kernel.cu";
  artifact.ptx.assign(reinterpret_cast<const char*>(data), size);
  const auto module = ptx::parse(artifact.ptx, artifact.source_name);
  if (!module) return 0;
  const ptx::Function* solve = module->find_function("solve");
  constexpr std::size_t kMostParameters = 16;
  constexpr std::uint64_t kMostParameterBytes = 4096;
  if (solve == nullptr || solve->parameters.size() > kMostParameters) return 0;
  for (const ptx::Variable& parameter : solve->parameters) {
    if (parameter.size_bytes > kMostParameterBytes) return 0;
  }
  const auto device = make_virtual_device(machine);
  if (!device->load(artifact)) return 0;
  const auto scratch = [&](std::uint64_t size_bytes) -> Result<std::uint64_t> {
    ROOFWALK_TRY(const DeviceBuffer buffer, device->allocate("scratch", size_bytes, 1));
    return buffer.address;
  };
  const PlanLimits limits{.max_instructions = 20'000, .max_steps = 50, .max_scratch_bytes = 1 << 20};
  const auto plan = make_plan(artifact, arguments_of(*solve, *device), scratch, limits);
  if (!plan) {
    insist(!plan.error().message.empty(), "a refusal without words");
    return 0;
  }
  insist(!plan->steps.empty() && plan->steps.size() <= limits.max_steps, "a plan of no or too many steps");
  RunOptions options;
  options.max_work = 200'000;
  options.max_seconds = 5;
  options.threads = 1;
  options.sanitize = size % 2 == 0;
  const auto record = device->run(*plan, options);
  if (!record) {
    insist(!record.error().message.empty(), "a refusal without words");
  } else if (record->fault) {
    insist(!record->fault->message.empty(), "a fault without words");
  } else {
    insist(record->kernels.size() == plan->steps.size(), "a step without a record");
  }
  return 0;
}
