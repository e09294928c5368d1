#include "common/device/cuda/loaded_module.h"

#include <algorithm>
#include <array>

#include "common/base/subprocess.h"
#include "common/build/diagnostics.h"
#include "common/device/cuda/cuda_errors.h"

namespace roofwalk {

void LoadedModule::unload() {
  if (module_ != nullptr) api_.cuModuleUnload(module_);
  module_ = nullptr;
  functions_.clear();
}

Status LoadedModule::load(const Artifact& artifact, std::string image) {
  image_ = std::move(image);
  source_path_ = artifact.source_path;
  ptx_ = artifact.ptx;
  return reload();
}

Status LoadedModule::reload() {
  unload();
  std::array<char, 8192> log{};
  std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size() - 1)};
  last_code_ = api_.cuModuleLoadDataEx(&module_, image_.c_str(), options.size(), options.data(), values.data());
  if (last_code_ == CUDA_SUCCESS) return kOk;
  module_ = nullptr;
  const std::string_view text = log.data();
  if (text.find("error") != std::string_view::npos) {  // the driver's compiler uses ptxas's message format
    return explain_ptxas({.exit_code = 1, .output = std::string(text)}, source_path_, ptx_, 0);
  }
  Error error = cuda_error(api_, last_code_, "load this kernel");
  error.file = source_path_;
  return error;
}

CUresult LoadedModule::function(const std::string& mangled, std::uint32_t dynamic_shared_bytes, CUfunction& out) {
  const auto [at, is_new] = functions_.try_emplace(mangled);
  Function& function = at->second;
  CUresult code = CUDA_SUCCESS;
  if (is_new) {
    code = api_.cuModuleGetFunction(&function.handle, module_, mangled.c_str());
    // Load it now; otherwise the first launch would load it, within the measured time.
    if (code == CUDA_SUCCESS) code = api_.cuFuncLoad(function.handle);
  }
  if (code == CUDA_SUCCESS && dynamic_shared_bytes > function.opted_in_bytes) {
    // Kernels need an opt-in for more than 48 KiB. The learner's own opt-in, cudaFuncSetAttribute, does nothing in a
    // plan.
    code = api_.cuFuncSetAttribute(function.handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                   static_cast<int>(dynamic_shared_bytes));
    if (code == CUDA_SUCCESS) function.opted_in_bytes = dynamic_shared_bytes;
  }
  if (code != CUDA_SUCCESS && is_new) functions_.erase(at);
  out = code == CUDA_SUCCESS ? function.handle : nullptr;
  return code;
}

}  // namespace roofwalk
