#include "tests/support/fake_driver.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include <fmt/format.h>

#include "common/device/cuda/cuda_errors.h"
#include "common/vgpu/lowering/lower.h"
#include "common/vgpu/program/program.h"
#include "common/vgpu/timing/occupancy.h"

namespace roofwalk::test {
namespace {

FakeDriver* current = nullptr;

constexpr std::size_t kGranule = 512;  // allocations are rounded up: a small overrun is no fault, as on a GPU
constexpr int kPlainSharedBytes = 48 << 10;
constexpr const char* kCubin = "cubin for ";

CUresult code_of(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::misaligned:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case FaultKind::assertion:
      return CUDA_ERROR_ASSERT;
    case FaultKind::resource:
      return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    case FaultKind::out_of_bounds:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    default:
      return CUDA_ERROR_LAUNCH_FAILED;
  }
}

}  // namespace

std::optional<CUresult> FakeDriver::enter(const std::string& function) {
  const int call = ++calls_[function];
  host_ns_ += host_cost_ns;
  if (const auto hang = hangs_.find(function); hang != hangs_.end() && hang->second == call) {
    for (;;) ::pause();
  }
  if (lost_) return lost_;
  if (const auto rules = rules_.find(function); rules != rules_.end()) {
    if (const auto rule = rules->second.find(call); rule != rules->second.end()) {
      if (is_sticky(rule->second)) lost_ = rule->second;
      return rule->second;
    }
  }
  return std::nullopt;
}

CUresult FakeDriver::surface() {
  if (pending_ != CUDA_SUCCESS && is_sticky(pending_)) lost_ = pending_;
  return std::exchange(pending_, CUDA_SUCCESS);
}

bool FakeDriver::relink() {
  ptx::Module all;
  for (const auto& module : modules_) {
    ptx::Module one = module->parsed;
    if (!one.locations.empty()) std::swap(one, all);  // instructions index the locations: keeps one module's
    std::move(one.functions.begin(), one.functions.end(), std::back_inserter(all.functions));
    std::move(one.variables.begin(), one.variables.end(), std::back_inserter(all.variables));
  }
  return gpu_.load(std::move(all), "kernel.cu", "kernel.cu").ok();
}

void FakeDriver::advance(const RunRecord& record) {
  gpu_ns_ = std::max(gpu_ns_, host_ns_) + record.elapsed_ns;
  if (takes_its_time) std::this_thread::sleep_for(std::chrono::duration<double, std::nano>(record.elapsed_ns));
  printed_ += record.printed.text;
  if (record.fault && record.fault->kind == FaultKind::assertion) {
    const Fault& f = *record.fault;
    const std::size_t from = f.message.find(": ") + 2;
    complained_ +=
        fmt::format("kernel.cu:{}: void {}(): block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n", f.line,
                    f.kernel, f.block.x, f.block.y, f.block.z, f.thread.x, f.thread.y, f.thread.z,
                    f.message.substr(from, f.message.find(": your own") - from));
  }
  if (record.fault && record.fault->kind == FaultKind::runaway) {
    endless_ = true;  // a GPU has no work limit: the kernel is endless
  } else if (record.fault && pending_ == CUDA_SUCCESS) {
    pending_ = code_of(*record.fault);
  }
}

void FakeDriver::run_step(const std::function<bool()>& step, bool timed) {
  if (captured_) {
    captured_->push_back(step);
    return;
  }
  if (pending_ != CUDA_SUCCESS) return;  // an earlier kernel broke the context
  if (in_range_) {
    if (step()) return;
    in_range_ = false;
    advance(gpu_.end_plan());
    return;
  }
  vgpu::RunLimits limits{.work = 1'000'000'000, .seconds = 60};
  if (!timed) limits.traces.instructions = 0;
  gpu_.begin_plan(limits);
  step();
  advance(gpu_.end_plan());
}

void FakeDriver::begin_range() {
  ROOFWALK_CHECK(!in_range_);
  in_range_ = true;
  gpu_.begin_plan({.work = 1'000'000'000, .seconds = 60});
}

RunRecord FakeDriver::end_range() {
  ROOFWALK_CHECK(in_range_);
  in_range_ = false;
  RunRecord record = gpu_.end_plan();
  advance(record);
  return record;
}

const ptx::Function* FakeDriver::entry_of(const Function& function) const {
  return function.module->parsed.find_function(function.name);
}

bool FakeDriver::is_alive(const Function& function) const {
  return std::any_of(modules_.begin(), modules_.end(), [&](const auto& m) { return m.get() == function.module; });
}

std::uint8_t* FakeDriver::at(CUdeviceptr address, std::size_t size_bytes) {
  const vgpu::Buffer* buffer = gpu_.memory().find(address);
  if (buffer == nullptr || !buffer->contains(address, size_bytes)) return nullptr;
  return buffer->data + (address - buffer->address);
}

#define ENTER(name)            \
  FakeDriver& self = *current; \
  if (const auto scripted = self.enter(#name); scripted) return *scripted

struct FakeDriver::Functions {
  static CUresult init(unsigned) {
    ENTER(cuInit);
    return CUDA_SUCCESS;
  }
  static CUresult version(int* version) {
    ENTER(cuDriverGetVersion);
    *version = self.version;
    return CUDA_SUCCESS;
  }
  static CUresult error_name(CUresult code, const char** text) {
    const CudaError* known = find_cuda_error(code);
    *text = known != nullptr ? known->name.data() : "CUDA_ERROR_OF_TOMORROW";
    return CUDA_SUCCESS;
  }
  static CUresult error_string(CUresult, const char** text) {
    *text = "something new";
    return CUDA_SUCCESS;
  }
  static CUresult device_count(int* count) {
    ENTER(cuDeviceGetCount);
    *count = self.devices;
    return CUDA_SUCCESS;
  }
  static CUresult device_get(CUdevice* device, int ordinal) {
    ENTER(cuDeviceGet);
    *device = ordinal;
    return ordinal < self.devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  }
  static CUresult device_name(char* text, int size, CUdevice) {
    ENTER(cuDeviceGetName);
    std::snprintf(text, static_cast<std::size_t>(size), "%s", self.name.c_str());
    return CUDA_SUCCESS;
  }
  static CUresult device_uuid(CUuuid* uuid, CUdevice) {
    ENTER(cuDeviceGetUuid);
    for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>(0x10 + i);
    return CUDA_SUCCESS;
  }
  static CUresult total_memory(std::size_t* bytes, CUdevice) {
    ENTER(cuDeviceTotalMem);
    *bytes = static_cast<std::size_t>(self.machine_.memory_bytes);
    return CUDA_SUCCESS;
  }
  static CUresult attribute(int* value, CUdevice_attribute which, CUdevice) {
    ENTER(cuDeviceGetAttribute);
    const Machine& m = self.machine_;
    const std::map<CUdevice_attribute, double> values{
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, m.compute_capability / 10},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, m.compute_capability % 10},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, m.sms},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, m.clock_hz / 1e3},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, m.dram_bytes_per_s * 8 / 2 / 1024 / 1e3},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 1024},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, static_cast<double>(m.l2_bytes)},
        {CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, self.persisting_l2_bytes},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, m.max_threads_per_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, m.max_blocks_per_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, m.max_threads_per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, m.registers_per_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, m.shared_bytes_per_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, m.max_shared_bytes_per_block},
        {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, m.reserved_shared_bytes_per_block},
    };
    const auto known = values.find(which);
    *value = known == values.end() ? 0 : static_cast<int>(known->second);
    return CUDA_SUCCESS;
  }
  static CUresult retain(CUcontext* context, CUdevice) {
    ENTER(cuDevicePrimaryCtxRetain);
    *context = reinterpret_cast<CUcontext>(&self);
    return CUDA_SUCCESS;
  }
  static CUresult set_current(CUcontext) {
    ENTER(cuCtxSetCurrent);
    return CUDA_SUCCESS;
  }
  static CUresult set_limit(CUlimit limit, std::size_t value) {
    ENTER(cuCtxSetLimit);
    self.log.push_back(fmt::format("limit {} {}", static_cast<int>(limit), value));
    return self.persisting_l2_bytes > 0 ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_LIMIT;
  }
  static CUresult reset_persisting() {
    ENTER(cuCtxResetPersistingL2Cache);
    self.log.push_back("reset L2");
    return CUDA_SUCCESS;
  }
  static CUresult memory_info(std::size_t* free_bytes, std::size_t* total_bytes) {
    ENTER(cuMemGetInfo);
    *total_bytes = static_cast<std::size_t>(self.machine_.memory_bytes);
    *free_bytes = *total_bytes;
    for (const auto& [address, id] : self.allocations_) *free_bytes -= self.gpu_.memory().buffer(id).size_bytes;
    return CUDA_SUCCESS;
  }
  static CUresult allocate(CUdeviceptr* address, std::size_t size_bytes) {
    ENTER(cuMemAlloc);
    if (const CUresult left = self.surface(); left != CUDA_SUCCESS) return left;
    const std::size_t rounded = (size_bytes + kGranule - 1) / kGranule * kGranule;
    const auto id = self.gpu_.memory().allocate("memory", rounded, 1, vgpu::Memory::Region::buffers);
    if (!id) return CUDA_ERROR_OUT_OF_MEMORY;
    const vgpu::Buffer& buffer = self.gpu_.memory().buffer(*id);
    std::memset(buffer.data, 0xa5, rounded);  // contents are undefined
    self.allocations_[buffer.address] = *id;
    *address = buffer.address;
    return CUDA_SUCCESS;
  }
  static CUresult release(CUdeviceptr address) {
    ENTER(cuMemFree);
    const auto known = self.allocations_.find(address);
    if (known == self.allocations_.end()) return CUDA_ERROR_INVALID_VALUE;
    self.gpu_.memory().release(known->second);
    self.allocations_.erase(known);
    return CUDA_SUCCESS;
  }
  static CUresult write(CUdeviceptr to, const void* from, std::size_t size_bytes) {
    ENTER(cuMemcpyHtoD);
    if (const CUresult left = self.surface(); left != CUDA_SUCCESS) return left;
    std::uint8_t* place = self.at(to, size_bytes);
    if (place == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(place, from, size_bytes);
    self.log.push_back("write");
    return CUDA_SUCCESS;
  }
  static CUresult read(void* to, CUdeviceptr from, std::size_t size_bytes) {
    ENTER(cuMemcpyDtoH);
    if (const CUresult left = self.surface(); left != CUDA_SUCCESS) return left;
    const std::uint8_t* place = self.at(from, size_bytes);
    if (place == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(to, place, size_bytes);
    self.log.push_back("read");
    return CUDA_SUCCESS;
  }
  static CUresult copy(CUdeviceptr to, CUdeviceptr from, std::size_t size_bytes, CUstream) {
    ENTER(cuMemcpyDtoDAsync);
    if (self.at(to, size_bytes) == nullptr || self.at(from, size_bytes) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    self.log.push_back("copy");
    self.run_step([=, &self] { return self.gpu_.copy_memory(to, from, size_bytes, 0); });
    return CUDA_SUCCESS;
  }
  static CUresult set(CUdeviceptr to, unsigned char value, std::size_t size_bytes, CUstream) {
    ENTER(cuMemsetD8Async);
    if (self.at(to, size_bytes) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    self.log.push_back("memset");
    self.run_step([=, &self] { return self.gpu_.set_memory(to, value, size_bytes, 0); });
    return CUDA_SUCCESS;
  }

  static CUresult load(CUmodule* out, const void* image, unsigned count, CUjit_option* options, void** values) {
    ENTER(cuModuleLoadDataEx);
    std::string text = static_cast<const char*>(image);
    self.last_image = text;
    self.log.push_back("load");
    const auto log = [&](const std::string& message) {
      for (unsigned i = 0; i + 1 < count; ++i) {
        if (options[i] != CU_JIT_ERROR_LOG_BUFFER) continue;
        std::snprintf(static_cast<char*>(values[i]), reinterpret_cast<std::size_t>(values[i + 1]), "%s",
                      message.c_str());
      }
    };
    if (text.starts_with(kCubin)) {
      text.erase(0, text.find('\n') + 1);
    } else if (!self.compiles_ptx) {
      return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    auto parsed = ptx::parse(text, "kernel.cu");
    if (!parsed) {
      log("ptxas error   : " + parsed.error().message + "\n");
      return CUDA_ERROR_INVALID_PTX;
    }
    for (const ptx::Function& function : parsed->functions) {
      if (function.unsupported) {
        log("ptxas error   : " + function.unsupported->message + "\n");
        return CUDA_ERROR_INVALID_PTX;
      }
      if (!function.is_extern || function.name == "vprintf" || function.name == "__assertfail") continue;
      log("ptxas fatal   : error: Unresolved extern function '" + function.name + "'\n");
      return CUDA_ERROR_INVALID_PTX;
    }
    self.modules_.push_back(std::make_unique<Module>(Module{std::move(*parsed)}));
    *out = reinterpret_cast<CUmodule>(self.modules_.back().get());
    return self.relink() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
  }
  static CUresult unload(CUmodule module) {
    ENTER(cuModuleUnload);
    std::erase_if(self.modules_, [&](const auto& m) { return m.get() == reinterpret_cast<Module*>(module); });
    return self.relink() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
  }
  static CUresult get_function(CUfunction* out, CUmodule module, const char* name) {
    ENTER(cuModuleGetFunction);
    auto* owner = reinterpret_cast<Module*>(module);
    const ptx::Function* entry = owner->parsed.find_function(name);
    if (entry == nullptr || !entry->is_entry) return CUDA_ERROR_NOT_FOUND;
    self.functions_.push_back(std::make_unique<Function>(Function{owner, name, 0}));
    *out = reinterpret_cast<CUfunction>(self.functions_.back().get());
    return CUDA_SUCCESS;
  }
  static CUresult load_function(CUfunction handle) {
    ENTER(cuFuncLoad);
    if (self.captured_) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;  // as a driver may do
    return self.is_alive(*reinterpret_cast<Function*>(handle)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  }
  static int registers_of(const Function& function) {
    constexpr int kOfOurs = 32;
    return function.name == ColdCache::kKernel ? kOfOurs : current->registers;
  }
  static int shared_bytes(const Function& function) {
    return static_cast<int>(vgpu::static_shared_bytes(function.module->parsed, *current->entry_of(function)));
  }
  static CUresult function_attribute(int* value, CUfunction_attribute which, CUfunction handle) {
    ENTER(cuFuncGetAttribute);
    const auto& function = *reinterpret_cast<Function*>(handle);
    if (!self.is_alive(function)) return CUDA_ERROR_INVALID_HANDLE;
    *value = 0;
    if (which == CU_FUNC_ATTRIBUTE_NUM_REGS) *value = registers_of(function);
    if (which == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) *value = shared_bytes(function);
    if (which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) {
      *value = std::min(self.machine_.max_threads_per_block,
                        self.machine_.registers_per_sm / registers_of(function) / 32 * 32);
    }
    if (which == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) {
      for (const ptx::Variable& variable : self.entry_of(function)->variables) {
        if (variable.space == ptx::Space::local) *value += static_cast<int>(variable.size_bytes);
      }
    }
    return CUDA_SUCCESS;
  }
  static CUresult set_function_attribute(CUfunction handle, CUfunction_attribute which, int value) {
    ENTER(cuFuncSetAttribute);
    auto& function = *reinterpret_cast<Function*>(handle);
    if (!self.is_alive(function)) return CUDA_ERROR_INVALID_HANDLE;
    if (which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
        value + shared_bytes(function) > self.machine_.max_shared_bytes_per_block) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    function.opted_in_bytes = value;
    return CUDA_SUCCESS;
  }
  static CUresult occupancy(int* blocks, CUfunction handle, int threads, std::size_t dynamic_bytes) {
    ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    const auto& function = *reinterpret_cast<Function*>(handle);
    const auto held =
        vgpu::occupancy_of(self.machine_, {.threads = static_cast<std::uint64_t>(threads),
                                           .registers_per_thread = registers_of(function),
                                           .shared_bytes = static_cast<std::uint32_t>(shared_bytes(function)) +
                                                           static_cast<std::uint32_t>(dynamic_bytes)});
    *blocks = held ? held->blocks_per_sm : 0;
    return CUDA_SUCCESS;
  }
  // Returns the parameter block: passed as a whole, or gathered from pointers to the parameters.
  static std::vector<std::uint8_t> argument_bytes(const ptx::Function& entry, void** pointers, void** extra) {
    const vgpu::ParameterLayout layout = vgpu::parameter_layout(entry);
    std::vector<std::uint8_t> bytes(layout.size_bytes);
    if (extra != nullptr) {
      const auto* block = static_cast<const std::uint8_t*>(extra[1]);
      bytes.assign(block, block + *static_cast<const std::size_t*>(extra[3]));
      return bytes;
    }
    for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
      std::memcpy(bytes.data() + layout.offsets[i], pointers[i], entry.parameters[i].size_bytes);
    }
    return bytes;
  }
  static CUresult launch(CUfunction handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                         unsigned bz, unsigned dynamic_bytes, CUstream, void** pointers, void** extra) {
    ENTER(cuLaunchKernel);
    const auto& function = *reinterpret_cast<Function*>(handle);
    if (!self.is_alive(function)) return CUDA_ERROR_INVALID_HANDLE;
    const int shared = static_cast<int>(dynamic_bytes) + shared_bytes(function);
    if (shared > kPlainSharedBytes && static_cast<int>(dynamic_bytes) > function.opted_in_bytes) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (gx == 0 || gy > 65535 || gz > 65535 || bz > 64) return CUDA_ERROR_INVALID_VALUE;
    self.log.push_back("launch " + function.name);
    if (self.calls_["cuLaunchKernel"] == self.endless_launch_) {
      self.endless_ = true;
      return CUDA_SUCCESS;
    }
    if (self.endless_) return CUDA_SUCCESS;
    const auto bytes = argument_bytes(*self.entry_of(function), pointers, extra);
    const bool is_ours = function.name == ColdCache::kKernel;
    self.run_step(
        [=, &self, name = function.name, registers = registers_of(function)] {
          const auto went_on = self.gpu_.launch({.kernel = name,
                                                 .grid = {gx, gy, gz},
                                                 .block = {bx, by, bz},
                                                 .dynamic_shared_bytes = dynamic_bytes,
                                                 .arguments = bytes,
                                                 .registers_per_thread = registers});
          ROOFWALK_CHECK(went_on.ok());  // the parser accepted the kernel, so the virtual GPU can run it
          return *went_on;
        },
        !is_ours);
    return CUDA_SUCCESS;
  }

  static CUresult begin_capture(CUstream, CUstreamCaptureMode) {
    ENTER(cuStreamBeginCapture);
    if (self.captured_) return CUDA_ERROR_ILLEGAL_STATE;
    self.captured_.emplace();
    return CUDA_SUCCESS;
  }
  static CUresult end_capture(CUstream, CUgraph* out) {
    ENTER(cuStreamEndCapture);
    if (!self.captured_) return CUDA_ERROR_ILLEGAL_STATE;
    self.graphs_.push_back(std::make_unique<Graph>(*std::exchange(self.captured_, std::nullopt)));
    *out = reinterpret_cast<CUgraph>(self.graphs_.back().get());
    return CUDA_SUCCESS;
  }
  static CUresult instantiate(CUgraphExec* out, CUgraph graph, unsigned long long) {
    ENTER(cuGraphInstantiateWithFlags);
    *out = reinterpret_cast<CUgraphExec>(graph);
    return CUDA_SUCCESS;
  }
  static CUresult upload_graph(CUgraphExec, CUstream) {
    ENTER(cuGraphUpload);
    return CUDA_SUCCESS;
  }
  static CUresult launch_graph(CUgraphExec graph, CUstream) {
    ENTER(cuGraphLaunch);
    self.log.push_back("graph");
    for (const auto& step : *reinterpret_cast<Graph*>(graph)) self.run_step(step);
    return CUDA_SUCCESS;
  }
  static CUresult destroy_exec(CUgraphExec) {
    ENTER(cuGraphExecDestroy);
    return CUDA_SUCCESS;
  }
  static CUresult destroy_graph(CUgraph graph) {
    ENTER(cuGraphDestroy);
    std::erase_if(self.graphs_, [&](const auto& g) { return g.get() == reinterpret_cast<Graph*>(graph); });
    return CUDA_SUCCESS;
  }

  static CUresult create_event(CUevent* out, unsigned) {
    ENTER(cuEventCreate);
    self.events_.push_back(std::make_unique<Event>());
    *out = reinterpret_cast<CUevent>(self.events_.back().get());
    return CUDA_SUCCESS;
  }
  static CUresult destroy_event(CUevent event) {
    ENTER(cuEventDestroy);
    std::erase_if(self.events_, [&](const auto& e) { return e.get() == reinterpret_cast<Event*>(event); });
    return CUDA_SUCCESS;
  }
  static CUresult record(CUevent event, CUstream) {
    ENTER(cuEventRecord);
    self.log.push_back("record");
    self.gpu_ns_ = std::max(self.gpu_ns_, self.host_ns_);
    *reinterpret_cast<Event*>(event) = {self.gpu_ns_, self.endless_};
    return CUDA_SUCCESS;
  }
  static CUresult query(CUevent handle) {
    ENTER(cuEventQuery);
    if (const CUresult left = self.surface(); left != CUDA_SUCCESS) return left;
    const auto& event = *reinterpret_cast<Event*>(handle);
    if (event.never) return CUDA_ERROR_NOT_READY;
    if (event.at_ns <= self.host_ns_) return CUDA_SUCCESS;
    self.host_ns_ = event.at_ns;  // the next query succeeds
    return CUDA_ERROR_NOT_READY;
  }
  static CUresult elapsed(float* ms, CUevent from, CUevent to) {
    ENTER(cuEventElapsedTime);
    *ms = static_cast<float>((reinterpret_cast<Event*>(to)->at_ns - reinterpret_cast<Event*>(from)->at_ns) / 1e6);
    return CUDA_SUCCESS;
  }
  static CUresult create_stream(CUstream* out, unsigned flags) {
    ENTER(cuStreamCreate);
    // A stream with other flags would not wait for copies from the host.
    if (flags != CU_STREAM_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
    *out = reinterpret_cast<CUstream>(&self);
    return CUDA_SUCCESS;
  }
  static CUresult synchronize(CUstream) {
    FakeDriver& self = *current;
    std::printf("%s", std::exchange(self.printed_, {}).c_str());
    std::fprintf(stderr, "%s", std::exchange(self.complained_, {}).c_str());
    if (const auto scripted = self.enter("cuStreamSynchronize"); scripted) return *scripted;
    if (const CUresult left = self.surface(); left != CUDA_SUCCESS) return left;
    self.host_ns_ = std::max(self.host_ns_, self.gpu_ns_);
    return CUDA_SUCCESS;
  }
  static CUresult destroy_stream(CUstream) {
    ENTER(cuStreamDestroy);
    return CUDA_SUCCESS;
  }
};

FakeDriver::FakeDriver(Machine machine) : machine_(machine), gpu_(std::move(machine)) {
  ROOFWALK_CHECK(current == nullptr);
  current = this;
  api_.cuInit = Functions::init;
  api_.cuDriverGetVersion = Functions::version;
  api_.cuGetErrorName = Functions::error_name;
  api_.cuGetErrorString = Functions::error_string;
  api_.cuDeviceGetCount = Functions::device_count;
  api_.cuDeviceGet = Functions::device_get;
  api_.cuDeviceGetName = Functions::device_name;
  api_.cuDeviceGetUuid = Functions::device_uuid;
  api_.cuDeviceGetAttribute = Functions::attribute;
  api_.cuDeviceTotalMem = Functions::total_memory;
  api_.cuDevicePrimaryCtxRetain = Functions::retain;
  api_.cuCtxSetCurrent = Functions::set_current;
  api_.cuCtxSetLimit = Functions::set_limit;
  api_.cuCtxResetPersistingL2Cache = Functions::reset_persisting;
  api_.cuMemGetInfo = Functions::memory_info;
  api_.cuMemAlloc = Functions::allocate;
  api_.cuMemFree = Functions::release;
  api_.cuMemcpyHtoD = Functions::write;
  api_.cuMemcpyDtoH = Functions::read;
  api_.cuMemcpyDtoDAsync = Functions::copy;
  api_.cuMemsetD8Async = Functions::set;
  api_.cuModuleLoadDataEx = Functions::load;
  api_.cuModuleUnload = Functions::unload;
  api_.cuModuleGetFunction = Functions::get_function;
  api_.cuFuncLoad = Functions::load_function;
  api_.cuFuncGetAttribute = Functions::function_attribute;
  api_.cuFuncSetAttribute = Functions::set_function_attribute;
  api_.cuOccupancyMaxActiveBlocksPerMultiprocessor = Functions::occupancy;
  api_.cuLaunchKernel = Functions::launch;
  api_.cuEventCreate = Functions::create_event;
  api_.cuEventDestroy = Functions::destroy_event;
  api_.cuEventRecord = Functions::record;
  api_.cuEventQuery = Functions::query;
  api_.cuEventElapsedTime = Functions::elapsed;
  api_.cuStreamCreate = Functions::create_stream;
  api_.cuStreamSynchronize = Functions::synchronize;
  api_.cuStreamBeginCapture = Functions::begin_capture;
  api_.cuStreamEndCapture = Functions::end_capture;
  api_.cuGraphInstantiateWithFlags = Functions::instantiate;
  api_.cuGraphUpload = Functions::upload_graph;
  api_.cuGraphLaunch = Functions::launch_graph;
  api_.cuGraphExecDestroy = Functions::destroy_exec;
  api_.cuGraphDestroy = Functions::destroy_graph;
  api_.cuStreamDestroy = Functions::destroy_stream;
}

FakeDriver::~FakeDriver() { current = nullptr; }

Result<std::vector<RangeValues>> FakeRangeCounters::count(const std::function<Status(Pass&)>& pass) {
  if (++counted == lost_at_count) {
    return Error{.message = "this user may not read the GPU's counters (ERR_NVGPUCTRPERM)",
                 .advice = "ask whoever runs this machine"};
  }
  struct Ranges final : Pass {
    explicit Ranges(FakeDriver& of) : driver(of) {}
    ~Ranges() override {
      if (driver.in_range()) driver.end_range();
    }
    Status begin(const std::string& name) override {
      driver.log.push_back("begin " + name);
      driver.begin_range();
      names.push_back(name);
      return kOk;
    }
    Status end() override {
      counters.push_back(driver.end_range().counters);
      driver.log.push_back("end");
      return kOk;
    }
    FakeDriver& driver;
    std::vector<std::string> names;
    std::vector<Counters> counters;
  };
  std::vector<Counters> first;
  std::vector<std::string> names;
  for (int i = 0; i < passes; ++i) {
    Ranges ranges(driver_);
    ROOFWALK_TRY_STATUS(pass(ranges));
    if (i == 0) {
      first = ranges.counters;
      names = ranges.names;
    } else if (first != ranges.counters) {
      return Error{.message = "the passes did different work"};
    }
  }
  std::vector<RangeValues> values;
  for (std::size_t r = 0; r < first.size(); ++r) {
    RangeValues& range = values.emplace_back();
    range.name = names[r];
    for (std::size_t i = 0; i < kCounterCount; ++i) {
      const auto counter = static_cast<Counter>(i);
      if (!first[r][counter]) continue;
      const bool is_hidden = std::find(not_available.begin(), not_available.end(), counter) != not_available.end();
      range.metrics[std::string(counter_name(counter))] =
          is_hidden ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(*first[r][counter]);
    }
  }
  return values;
}

std::vector<Counter> fake_known_counters() {
  return {Counter::dram_read_bytes,     Counter::dram_write_bytes, Counter::l2_read_sectors,  Counter::l1_read_sectors,
          Counter::flops_f16,           Counter::flops_f32,        Counter::flops_f64,        Counter::flops_tensor,
          Counter::shared_wavefronts,   Counter::sm_cycles,        Counter::sm_active_cycles, Counter::scheduler_cycles,
          Counter::resident_warp_cycles};
}

CounterSource fake_counters(FakeDriver& driver, std::function<void(FakeRangeCounters&)> made) {
  CounterSource source;
  source.open = [&driver, made](CUcontext, CUdevice, int) -> Result<std::unique_ptr<RangeCounters>> {
    auto counters = std::make_unique<FakeRangeCounters>(driver);
    if (made) made(*counters);
    return std::unique_ptr<RangeCounters>(std::move(counters));
  };
  source.known = fake_known_counters();
  source.counters_of = [known = source.known](const RangeValues& range) {
    Counters counters;
    for (const Counter counter : known) {
      const auto value = range.metrics.find(std::string(counter_name(counter)));
      if (value == range.metrics.end() || !(value->second >= 0)) continue;
      counters.set(counter, static_cast<std::uint64_t>(value->second));
    }
    return counters;
  };
  return source;
}

}  // namespace roofwalk::test
