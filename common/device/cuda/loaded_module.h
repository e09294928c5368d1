// A learner's module on the GPU: loads it, reloads it to reset its variables, and looks up its kernels by name.
#pragma once

#include <map>
#include <string>

#include "common/base/result.h"
#include "common/build/artifact.h"
#include "common/device/cuda/driver/driver_api.h"

namespace roofwalk {

class LoadedModule {
 public:
  explicit LoadedModule(const DriverApi& api) : api_(api) {}
  ~LoadedModule() { unload(); }
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  // Loads `image`, which replaces the loaded module. It is a cubin or, for the driver's compiler, PTX with the
  // artifact's lines. Errors: the compiler's, with the learner's line; the driver's own.
  Status load(const Artifact& artifact, std::string image);
  Status reload();  // resets variables; function handles change
  bool is_loaded() const { return module_ != nullptr; }
  CUresult last_code() const { return last_code_; }  // result of the last load or reload

  // Looks up a kernel and makes it ready to launch with that much dynamic shared memory.
  CUresult function(const std::string& mangled, std::uint32_t dynamic_shared_bytes, CUfunction& out);

  // Forgets the module without releasing it, for a lost context.
  void abandon() { module_ = nullptr; }

 private:
  struct Function {
    CUfunction handle = nullptr;
    std::uint32_t opted_in_bytes = 0;
  };

  void unload();

  const DriverApi& api_;
  CUmodule module_ = nullptr;
  CUresult last_code_ = CUDA_SUCCESS;
  std::string image_, source_path_, ptx_;
  std::map<std::string, Function> functions_;
};

}  // namespace roofwalk
