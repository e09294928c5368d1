#include "common/cudart/session.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <stdexcept>

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

// What this computer can give without taking it from other programs; 0: unknown.
std::uint64_t available_bytes() {
  std::ifstream figures("/proc/meminfo");
  std::uint64_t kib = 0;
  for (std::string name, unit; figures >> name >> kib; std::getline(figures, unit)) {
    if (name == "MemAvailable:") return kib << 10;
  }
  return 0;
}

std::string_view behind(std::string_view payload, std::size_t size_bytes) {
  return payload.substr(std::min(size_bytes, payload.size()));
}

}  // namespace

Session::Session(const SessionOptions& options, KernelRecords& records)
    : options_(options), records_(records), gpu_(options.machine) {
  memory_file_ = memfd_create("roofwalk device memory", MFD_CLOEXEC);
  ROOFWALK_CHECK(memory_file_ >= 0);
  if (options_.sanitize) gpu_.memory().keep_undefined();
}

Session::~Session() { close(memory_file_); }

void Session::tell(std::string text, bool is_fault) { records_.tell({std::move(text), is_fault}); }

void Session::tell_once(const std::string& what, std::string text) {
  if (told_once_.insert(what).second) tell(std::move(text), false);
}

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
    case Call::wrote:
      return wrote(payload);
    case Call::limit_heap:
      heap_bytes_ = front_of<HeapSize>(payload).size_bytes;
      return {};
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
  figures.watches_memory = options_.sanitize ? 1 : 0;
  return {.bytes = as_bytes(figures)};
}

Reply Session::say(std::string_view payload) {
  tell(std::string(payload), false);
  return {};
}

std::optional<std::uint64_t> Session::share(const vgpu::Buffer& buffer, bool keeps) {
  const std::uint64_t offset = file_end_, size_bytes = whole_pages(buffer.size_bytes);
  if (ftruncate(memory_file_, static_cast<off_t>(file_end_ + size_bytes)) != 0) return std::nullopt;
  std::string initial;
  if (keeps) initial.assign(buffer.data, buffer.data + buffer.size_bytes);
  void* const at = mmap(buffer.data, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory_file_,
                        static_cast<off_t>(offset));
  if (at != buffer.data) return std::nullopt;
  file_end_ += size_bytes;
  std::copy(initial.begin(), initial.end(), buffer.data);
  return offset;
}

// Memory that is never touched costs nothing here, but a program may well touch all that it asks for.
bool Session::computer_has(std::uint64_t size_bytes) {
  constexpr std::uint64_t kFewBytes = 256 << 20;
  if (size_bytes <= kFewBytes) return true;
  const std::uint64_t free_bytes = available_bytes();
  if (free_bytes == 0 || size_bytes + kFewBytes <= free_bytes) return true;
  tell(fmt::format(
           "the program asks for {} MiB of device memory at once, and this computer has only {} MiB left to hold "
           "it: the call returns cudaErrorMemoryAllocation",
           size_bytes >> 20, free_bytes >> 20),
       false);
  return false;
}

// A machine for learners has less memory than programs expect of a GPU.
void Session::tell_if_full(std::uint64_t size_bytes) {
  const auto all_bytes = static_cast<std::uint64_t>(gpu_.machine().memory_bytes);
  std::uint64_t taken_bytes = 0;
  for (const auto& [address, place] : places_) taken_bytes += place.size_bytes;
  if (size_bytes <= all_bytes - std::min(all_bytes, taken_bytes)) return;
  tell_once("device memory",
            fmt::format("the program asks for {} MiB of device memory, but {} of the {} MiB of {} are taken: the call "
                        "returns cudaErrorMemoryAllocation. --device chooses a machine with more",
                        ((size_bytes - 1) >> 20) + 1, taken_bytes >> 20, all_bytes >> 20, gpu_.machine().name));
}

std::optional<Place> Session::place_of_new(std::uint64_t size_bytes) try {
  const auto id = gpu_.memory().allocate(fmt::format("{}{}", kAllocation, allocations_ + 1), size_bytes, 1,
                                         vgpu::Memory::Region::buffers);
  if (!id) return std::nullopt;
  const vgpu::Buffer& buffer = gpu_.memory().buffer(*id);
  const bool has_address = buffer.address + size_bytes < vgpu::Memory::kConstantBase;
  if (const auto offset = has_address ? share(buffer, /*keeps=*/false) : std::nullopt) {
    ++allocations_;
    return Place{buffer.address, buffer.size_bytes, *offset};
  }
  gpu_.memory().release(*id);
  return std::nullopt;
} catch (const std::runtime_error&) {  // more mappings than the system allows a process
  return std::nullopt;
}

Reply Session::allocate(std::string_view payload) {
  const auto asked = front_of<Allocate>(payload);
  constexpr std::uint64_t kMostWatchedBytes = 256 << 20;
  const bool fits = asked.size_bytes <= static_cast<std::uint64_t>(gpu_.machine().memory_bytes);
  const auto place = fits && computer_has(asked.size_bytes) ? place_of_new(asked.size_bytes) : std::optional<Place>();
  if (!place) {
    tell_if_full(asked.size_bytes);
    return {.error = kOutOfMemory};
  }
  places_[place->address] = *place;
  if (options_.sanitize && asked.kind == MemoryKind::device && asked.size_bytes <= kMostWatchedBytes)
    gpu_.memory().undefine(place->address, place->size_bytes);
  return {.bytes = as_bytes(*place)};
}

Reply Session::wrote(std::string_view payload) {
  const auto written = front_of<Fill>(payload);
  for (std::uint64_t slice = 0; slice < written.slices; ++slice) {
    for (std::uint64_t row = 0; row < written.rows; ++row) {
      const std::uint64_t address = written.address + slice * written.slice_bytes + row * written.pitch_bytes;
      const vgpu::Buffer* const buffer = gpu_.memory().find(address);
      if (buffer == nullptr || !buffer->contains(address, written.width_bytes)) return {.error = kInvalidValue};
      gpu_.memory().define(address, written.width_bytes);
    }
  }
  return {};
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
  const auto known = places_.find(*address);
  if (known != places_.end()) return {.bytes = as_bytes(known->second)};
  const vgpu::Buffer& buffer = *gpu_.memory().find(*address);
  const auto offset = share(buffer, /*keeps=*/true);
  if (!offset) return {.error = kOutOfMemory};
  const Place place{buffer.address, buffer.size_bytes, *offset};
  places_[place.address] = place;
  return {.bytes = as_bytes(place)};
}

// The PTX of one fat binary for the machine. Error: it has none; `error` is what the program gets.
Result<std::string> Session::ptx_of(std::string_view fat_binary, std::int32_t& error) const {
  error = kInvalidKernelImage;
  const int capability = gpu_.machine().compute_capability;
  ROOFWALK_TRY(FatBinary binary, read_fat_binary(fat_binary));
  error = kNoKernelImage;
  if (binary.ptx.empty()) {
    return Error{.message =
                     "the program has machine code only, and the virtual GPU runs PTX: build it anew under "
                     "`./roofwalk build -- make`"};
  }
  const FatBinary::Ptx* ptx = ptx_for(binary, capability);
  if (ptx != nullptr) return ptx->text;
  return Error{.message = fmt::format("the program's PTX is for compute capability {}.{} and later, and {} has {}.{}: "
                                      "name a later chip with --device, or build it anew under `./roofwalk build -- "
                                      "make`",
                                      binary.ptx.front().capability / 10, binary.ptx.front().capability % 10,
                                      gpu_.machine().name, capability / 10, capability % 10)};
}

Reply Session::add_module(std::string_view fat_binaries) {
  const auto refuse = [&](const Error& error, std::int32_t number) {
    tell(error.text(), false);
    return Reply{.error = number};
  };
  // Of several, the first is that of the linked program. It has machine code alone, and so may files of NVIDIA's
  // libraries.
  const std::size_t first_bytes = fat_binary_bytes(fat_binaries);
  const bool is_linked = first_bytes > 0 && first_bytes < fat_binaries.size();
  if (is_linked) fat_binaries.remove_prefix(first_bytes);
  std::vector<std::string> texts;
  std::int32_t number = kSuccess;
  std::optional<Error> trouble;
  do {
    auto text = ptx_of(fat_binaries, number);
    if (text) {
      texts.push_back(*std::move(text));
    } else if (!trouble) {
      trouble = text.error();
    }
    fat_binaries.remove_prefix(std::min(fat_binary_bytes(fat_binaries), fat_binaries.size()));
  } while (fat_binary_bytes(fat_binaries) > 0);
  if (texts.empty()) return refuse(*trouble, number);
  auto code = load_module_code(options_.toolkit, gpu_.machine(), options_.cache, texts);
  if (!code) return refuse(code.error(), kInvalidPtx);
  auto module = std::make_unique<Module>();
  module->code = std::move(*code);
  const auto added = gpu_.add_module(std::move(module->code.module), "", "");
  if (!added) return refuse(added.error(), kInvalidPtx);
  module->number = *added;
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
    const std::string place = why->file.empty() ? "" : fmt::format("{}:{}: ", told_path(why->file), why->line);
    tell(fmt::format("{}kernel {} does not run: {}", place, vgpu::display_name(name), why->message), false);
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
  kernel->takes_memory = ptx::find_reachable(*module.module, *function, [](const ptx::Function& each) {
                           return each.is_extern && (each.name == "malloc" || each.name == "free");
                         }) != nullptr;
  describe(*kernel);
  kernel->figures.kernel = static_cast<std::int32_t>(kernels_.size());
  Reply reply{.bytes = as_bytes(kernel->figures)};
  for (const ParameterPlace& place : kernel->parameters) reply.bytes += as_bytes(place);
  kernels_.push_back(std::move(kernel));
  return reply;
}

}  // namespace roofwalk::cudart
