#include "common/cudart/session.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "common/cudart/errors.h"
#include "common/cudart/fat_binary.h"
#include "common/cudart/fault_text.h"
#include "common/vgpu/lowering/lower.h"
#include "common/vgpu/timing/occupancy.h"

namespace roofwalk::cudart {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

std::uint64_t whole_pages(std::uint64_t size_bytes) { return (size_bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

template <class T>
std::string as_bytes(const T& value) {
  return std::string(bytes_of(value));
}

std::string_view behind(std::string_view payload, std::size_t size_bytes) {
  return payload.substr(std::min(size_bytes, payload.size()));
}

}  // namespace

Session::Session(const SessionOptions& options, KernelRecords& records)
    : options_(options), records_(records), gpu_(options.machine) {
  memory_file_ = memfd_create("roofwalk device memory", MFD_CLOEXEC);
  ROOFWALK_CHECK(memory_file_ >= 0);
}

Session::~Session() { close(memory_file_); }

void Session::tell(std::string text, bool is_fault) { records_.tell({std::move(text), is_fault}); }

std::string Session::told_path(const std::string& path) const {
  const std::string folder = options_.caller.string() + "/";
  return path.starts_with(folder) ? path.substr(folder.size()) : path;
}

Reply Session::handle(Call call, std::string_view payload) {
  switch (call) {
    case Call::hello:
      return hello(payload);
    case Call::add_module:
      return add_module(payload);
    case Call::kernel:
      return kernel(payload);
    case Call::variable:
      return variable(payload);
    case Call::allocate:
      return allocate(payload);
    case Call::release:
      return release(payload);
    case Call::launch:
      return launch(payload);
    case Call::fill:
      return fill(payload);
    case Call::copy:
      return copy(payload);
    case Call::occupancy:
      return occupancy(payload);
    case Call::say:
      return say(payload);
  }
  return {.error = kUnknown};
}

Reply Session::hello(std::string_view payload) const {
  if (front_of<Hello>(payload).version != kProtocolVersion) return {.error = kInitializationError};
  const Machine& machine = gpu_.machine();
  DeviceFigures figures;
  const std::string name = machine.driver_name.empty() ? "Roofwalk virtual GPU " + machine.name : machine.driver_name;
  name.copy(figures.name, sizeof figures.name - 1);
  figures.compute_capability = machine.compute_capability;
  figures.sms = machine.sms;
  figures.max_threads_per_sm = machine.max_threads_per_sm;
  figures.max_blocks_per_sm = machine.max_blocks_per_sm;
  figures.max_threads_per_block = machine.max_threads_per_block;
  figures.registers_per_sm = machine.registers_per_sm;
  figures.shared_bytes_per_sm = machine.shared_bytes_per_sm;
  figures.max_shared_bytes_per_block = machine.max_shared_bytes_per_block;
  figures.reserved_shared_bytes_per_block = machine.reserved_shared_bytes_per_block;
  figures.clock_khz = static_cast<std::int32_t>(machine.clock_hz / 1000);
  figures.memory_bytes = machine.memory_bytes;
  figures.l2_bytes = machine.l2_bytes;
  return {.bytes = as_bytes(figures)};
}

Reply Session::say(std::string_view payload) {
  tell(std::string(payload), false);
  return {};
}

std::uint64_t Session::share(const vgpu::Buffer& buffer, bool keeps) {
  const std::uint64_t offset = file_end_, size_bytes = whole_pages(buffer.size_bytes);
  file_end_ += size_bytes;
  ROOFWALK_CHECK(ftruncate(memory_file_, static_cast<off_t>(file_end_)) == 0);
  std::string initial;
  if (keeps) initial.assign(buffer.data, buffer.data + buffer.size_bytes);
  void* const at = mmap(buffer.data, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory_file_,
                        static_cast<off_t>(offset));
  ROOFWALK_CHECK(at == buffer.data);
  std::copy(initial.begin(), initial.end(), buffer.data);
  return offset;
}

Reply Session::allocate(std::string_view payload) {
  const auto asked = front_of<Allocate>(payload);
  const std::string name = fmt::format("{}{}", kAllocation, allocations_ + 1);
  const auto id = gpu_.memory().allocate(name, asked.size_bytes, 1, vgpu::Memory::Region::buffers);
  if (!id) return {.error = kOutOfMemory};
  ++allocations_;
  const vgpu::Buffer& buffer = gpu_.memory().buffer(*id);
  const Place place{buffer.address, buffer.size_bytes, share(buffer, /*keeps=*/false)};
  places_[place.address] = place;
  return {.bytes = as_bytes(place)};
}

Reply Session::release(std::string_view payload) {
  const auto at = places_.find(front_of<Release>(payload).address);
  if (at == places_.end()) return {.error = kInvalidValue};
  gpu_.memory().release(gpu_.memory().find(at->first)->id);
  (void)fallocate(memory_file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at->second.file_offset),
                  static_cast<off_t>(whole_pages(at->second.size_bytes)));
  places_.erase(at);
  return {};
}

Reply Session::variable(std::string_view payload) {
  const auto number = static_cast<std::size_t>(front_of<NamedInModule>(payload).module);
  const std::string name(behind(payload, sizeof(NamedInModule)));
  if (number >= modules_.size()) return {.error = kInvalidSymbol};
  gpu_.use_module(modules_[number]->number, "", "");
  const auto address = gpu_.variable_address(name);
  if (!address) return {.error = kInvalidSymbol};
  Place& place = places_[*address];
  if (place.address == 0) {
    const vgpu::Buffer& buffer = *gpu_.memory().find(*address);
    place = {buffer.address, buffer.size_bytes, share(buffer, /*keeps=*/true)};
  }
  return {.bytes = as_bytes(place)};
}

Reply Session::add_module(std::string_view fat_binary) {
  const int capability = gpu_.machine().compute_capability;
  const auto refuse = [&](std::string text, std::int32_t error) {
    tell(std::move(text), false);
    return Reply{.error = error};
  };
  const auto binary = read_fat_binary(fat_binary);
  if (!binary) return refuse(binary.error().text(), kInvalidKernelImage);
  const FatBinary::Ptx* ptx = ptx_for(*binary, capability);
  if (ptx == nullptr) {
    return refuse(
        binary->ptx.empty()
            ? "the program has machine code only, and the virtual GPU runs PTX: build it anew under "
              "`./roofwalk build -- make`, without -rdc=true"
            : fmt::format("the program's PTX is for compute capability {}.{} and later, and {} has {}.{}: "
                          "name a later chip with --device, or build it anew under `./roofwalk build -- make`",
                          binary->ptx.front().capability / 10, binary->ptx.front().capability % 10, gpu_.machine().name,
                          capability / 10, capability % 10),
        kNoKernelImage);
  }
  auto code = load_module_code(options_.toolkit, gpu_.machine(), options_.cache, ptx->text);
  if (!code) return refuse(code.error().text(), kInvalidPtx);
  auto module = std::make_unique<Module>();
  module->code = std::move(*code);
  const auto number = gpu_.add_module(std::move(module->code.module), "", "");
  if (!number) return refuse(number.error().text(), kInvalidPtx);
  module->number = *number;
  module->module = gpu_.module();
  modules_.push_back(std::move(module));
  return {.bytes = as_bytes(AddedModule{static_cast<std::int32_t>(modules_.size() - 1)})};
}

void Session::describe(Kernel& kernel) const {
  const ptx::Module& module = *kernel.module->module;
  const int* most = kernel.function->max_threads;
  const int* exact = kernel.function->required_threads;
  kernel.max_threads = gpu_.machine().max_threads_per_block;
  for (const int* bounds : {most, exact}) {
    if (bounds[0] > 0) kernel.max_threads = bounds[0] * std::max(bounds[1], 1) * std::max(bounds[2], 1);
  }
  const vgpu::ParameterLayout layout = vgpu::parameter_layout(*kernel.function);
  for (std::size_t i = 0; i < layout.offsets.size(); ++i) {
    kernel.parameters.push_back(
        {layout.offsets[i], static_cast<std::uint32_t>(kernel.function->parameters[i].size_bytes)});
  }
  KernelFigures& figures = kernel.figures;
  figures.max_threads_per_block = kernel.max_threads;
  figures.ptx_version = figures.binary_version = gpu_.machine().compute_capability;
  for (const ptx::Variable& each : module.variables) {
    if (each.space == ptx::Space::constant) figures.constant_bytes += static_cast<std::uint32_t>(each.size_bytes);
  }
  figures.parameters = static_cast<std::uint32_t>(kernel.parameters.size());
  figures.parameter_bytes = layout.size_bytes;
  if (kernel.resources == nullptr) return;
  figures.registers_per_thread = kernel.resources->registers_per_thread;
  figures.static_shared_bytes = static_cast<std::uint32_t>(kernel.resources->static_shared_bytes);
  figures.local_bytes_per_thread = static_cast<std::uint32_t>(kernel.resources->local_bytes_per_thread);
}

Reply Session::kernel(std::string_view payload) {
  const auto number = static_cast<std::size_t>(front_of<NamedInModule>(payload).module);
  const std::string name(behind(payload, sizeof(NamedInModule)));
  if (number >= modules_.size()) return {.error = kInvalidDeviceFunction};
  const Module& module = *modules_[number];
  const ptx::Function* function = module.module->find_function(name);
  if (function == nullptr || !function->is_entry) return {.error = kInvalidDeviceFunction};
  if (const Error* why = ptx::why_unsupported(*module.module, *function)) {
    tell(fmt::format("kernel {} does not run: {}", vgpu::display_name(name), why->message), false);
    return {.error = kNotSupported};
  }
  auto kernel = std::make_unique<Kernel>();
  kernel->module = &module;
  kernel->name = name;
  kernel->function = function;
  kernel->file = source_of(*module.module, *function);
  for (const KernelResources& each : module.code.resources) {
    if (each.name == name) kernel->resources = &each;
  }
  describe(*kernel);
  kernel->figures.kernel = static_cast<std::int32_t>(kernels_.size());
  Reply reply{.bytes = as_bytes(kernel->figures)};
  for (const ParameterPlace& place : kernel->parameters) reply.bytes += as_bytes(place);
  kernels_.push_back(std::move(kernel));
  return reply;
}

}  // namespace roofwalk::cudart
