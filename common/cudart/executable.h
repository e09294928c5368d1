// Recognises how a program was built, so that one that cannot run on the virtual GPU is told what to do.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roofwalk::cudart {

struct Executable {
  bool is_elf = false;              // false: a script, or for another machine
  bool has_device_code = false;     // a fat binary is in it
  bool has_shared_runtime = false;  // it asks the loader for libcudart.so
  bool needs_driver = false;        // ... and for libcuda.so
  // NVIDIA's libraries that it asks for. They have a CUDA runtime of their own, which needs a GPU's driver.
  std::vector<std::string> libraries;
};

Executable look_at_executable(const std::filesystem::path& path);

}  // namespace roofwalk::cudart
