// A learner's module on the GPU: loaded, loaded again with its variables as they were written, its kernels by name.
#pragma once

#include <map>
#include <string>

#include "common/base/result.h"
#include "common/build/artifact.h"
#include "common/device/cuda/driver_api.h"

namespace roofwalk {

class LoadedModule {
 public:
  explicit LoadedModule(const DriverApi& api) : api_(api) {}
  ~LoadedModule() { unload(); }
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  // `image` is a cubin or, for the driver's compiler, PTX with the lines of the artifact. Replaces what was loaded.
  // Errors: the compiler's, at the learner's line; the driver's own.
  Status load(const Artifact& artifact, std::string image);
  Status reload();  // variables start anew; function handles change
  bool is_loaded() const { return module_ != nullptr; }
  CUresult last_code() const { return last_code_; }  // of the driver's last answer to load or reload

  // The kernel, ready to be launched with that much dynamic shared memory.
  CUresult function(const std::string& mangled, std::uint32_t dynamic_shared_bytes, CUfunction& out);

  // The context is gone: nothing is given back.
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
