#include "common/device/cuda/cuda_device.h"

#include <fmt/format.h>

#include "common/base/hash.h"
#include "common/build/ptx_cut.h"
#include "common/device/cuda/cuda_errors.h"
#include "common/device/cuda/tensor_type.h"
#include "common/ptx/module.h"

namespace roofwalk {
namespace {

// Returns "sm_90a" for a GPU of compute capability 9.0 and PTX for compute_90a; otherwise the GPU's chip without a
// letter, such as "sm_90".
std::string chip_of(const GpuProperties& gpu, const std::string& arch) {
  const std::string plain = std::to_string(gpu.compute_capability);
  const std::string wanted = arch.substr(arch.find('_') + 1);
  const bool has_more = wanted.starts_with(plain) && wanted.size() == plain.size() + 1;  // a letter at the end
  return "sm_" + (has_more ? wanted : plain);
}

}  // namespace

Result<std::unique_ptr<CudaDevice>> CudaDevice::open(const DriverApi& api, CudaOptions options) {
  std::unique_ptr<CudaDevice> device(new CudaDevice(api, std::move(options)));
  ROOFWALK_TRY_STATUS(device->start());
  return device;
}

CudaDevice::~CudaDevice() {
  counters_.reset();
  if (lost_) {  // any call would fail, or wait for an endless kernel; the end of the process releases everything
    module_.abandon();
    cold_.abandon();
    return;
  }
  for (const auto& [id, buffer] : buffers_) api_.cuMemFree(buffer.address);
  if (stream_ != nullptr) api_.cuStreamDestroy(stream_);
}

Status CudaDevice::start() {
  ROOFWALK_TRY(gpu_, query_gpu(api_, options_.ordinal));
  machine_ = machine_of(gpu_);
  ROOFWALK_TRY_STATUS(check(api_.cuDeviceGet(&device_, options_.ordinal), "find the GPU"));
  ROOFWALK_TRY_STATUS(check(api_.cuDevicePrimaryCtxRetain(&context_, device_), "start a context on the GPU"));
  ROOFWALK_TRY_STATUS(check(api_.cuCtxSetCurrent(context_), "use the GPU's context"));
  // This stream synchronizes with the null stream, so that copies from the host finish before a kernel starts.
  ROOFWALK_TRY_STATUS(check(api_.cuStreamCreate(&stream_, CU_STREAM_DEFAULT), "make a stream"));
  ROOFWALK_TRY_STATUS(cold_.open(api_, gpu_));
  ROOFWALK_TRY_STATUS(calibrate());
  if (!options_.counters) return kOk;
  auto opened = options_.counters->open(context_, device_, options_.ordinal);
  if (!opened) {
    why_no_counters_ = without_counters(opened.error());
    return kOk;
  }
  counters_ = std::move(*opened);
  for (const Counter counter : options_.counters->known) supported_[static_cast<std::size_t>(counter)] = true;
  return kOk;
}

Status CudaDevice::check(CUresult code, std::string_view what) const {
  if (code == CUDA_SUCCESS) return kOk;
  Error error = cuda_error(api_, code, what);
  if (is_sticky(code)) lose(error);
  return error;
}

void CudaDevice::lose(Error error) const {
  if (!lost_) lost_ = std::move(error);
}

double CudaDevice::host_ns() const {
  if (options_.host_ns) return options_.host_ns();
  return std::chrono::duration<double, std::nano>(Clock::now().time_since_epoch()).count();
}

Result<DeviceBuffer> CudaDevice::do_allocate(std::string_view name, std::uint64_t size_bytes, std::uint32_t) {
  if (lost_) return *lost_;
  CUdeviceptr address = 0;
  const CUresult code = api_.cuMemAlloc(&address, size_bytes);
  if (code == CUDA_ERROR_OUT_OF_MEMORY) {
    std::size_t free_bytes = 0, total_bytes = 0;
    ROOFWALK_TRY_STATUS(check(api_.cuMemGetInfo(&free_bytes, &total_bytes), "ask for the free memory"));
    return Error{.message = fmt::format("out of memory: {} asks for {} bytes, and {} of the {} bytes of {} are free",
                                        name, size_bytes, free_bytes, total_bytes, gpu_.name),
                 .advice = std::string(find_cuda_error(code)->advice)};
  }
  ROOFWALK_TRY_STATUS(check(code, fmt::format("allocate {} bytes for {}", size_bytes, name)));
  const int id = next_id_++;
  buffers_[id] = {std::string(name), address, size_bytes};
  return DeviceBuffer{id, address, size_bytes};
}

void CudaDevice::do_release(const DeviceBuffer& buffer) {
  if (buffers_.erase(buffer.id) == 0 || lost_) return;
  if (auto done = check(api_.cuMemFree(buffer.address), "give memory back"); !done) lose(done.error());
}

// Copies cannot report errors: a failed copy marks the device as lost, and the next call returns the error.
void CudaDevice::do_write(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<const std::uint8_t> data) {
  if (lost_ || data.empty()) return;
  auto done = check(api_.cuMemcpyHtoD(buffer.address + offset_bytes, data.data(), data.size()), "copy to the GPU");
  if (!done) lose(done.error());
}

void CudaDevice::do_read(const DeviceBuffer& buffer, std::uint64_t offset_bytes, std::span<std::uint8_t> data) const {
  std::fill(data.begin(), data.end(), std::uint8_t{0});
  if (lost_ || data.empty()) return;
  auto done = check(api_.cuMemcpyDtoH(data.data(), buffer.address + offset_bytes, data.size()), "copy from the GPU");
  if (!done) lose(done.error());
}

Result<std::string> CudaDevice::image_of(const Artifact& artifact) {
  ROOFWALK_TRY(std::string text, cut_plan(artifact));
  if (!options_.assemble) return text;
  const std::string chip = chip_of(gpu_, artifact.arch);
  const std::string key = sha256_hex(chip + "\n" + text);
  if (const auto known = images_.find(key); known != images_.end()) return known->second;
  ROOFWALK_TRY(ChipCode code, options_.assemble(artifact, text, chip));
  if (!code.knows_the_chip) return text;
  constexpr std::size_t kMostImages = 32;  // enough for a starter, an attempt and a few roofs
  if (images_.size() >= kMostImages) images_.clear();
  images_[key] = code.cubin;
  return std::move(code.cubin);
}

Status CudaDevice::do_load(const Artifact& artifact) {
  if (lost_) return *lost_;
  ROOFWALK_TRY(std::string image, image_of(artifact));
  source_path_ = artifact.source_path;
  has_run_ = false;
  has_variables_ = true;
  prints_ = artifact.ptx.find("vprintf") != std::string::npos || artifact.ptx.find("__assertfail") != std::string::npos;
  own_local_bytes_.clear();
  if (const auto module = ptx::parse(artifact.ptx, artifact.source_name)) {
    has_variables_ = false;
    if (counters_) ROOFWALK_TRY_STATUS(counters_->expect_tensor(tensor_type_of(*module)));
    for (const ptx::Variable& variable : module->variables) has_variables_ |= variable.space == ptx::Space::global;
    for (const ptx::Function& function : module->functions) {
      std::uint64_t& bytes = own_local_bytes_[function.name];
      for (const ptx::Variable& variable : function.variables) {
        if (variable.space == ptx::Space::local) bytes += variable.size_bytes;
      }
    }
  }
  auto loaded = module_.load(artifact, std::move(image));
  if (!loaded && is_sticky(module_.last_code())) lose(loaded.error());
  return loaded;
}

}  // namespace roofwalk
