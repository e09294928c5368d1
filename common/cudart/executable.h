// Recognises how a program was built, so that one that cannot run on the virtual GPU is told what to do.
#pragma once

#include <filesystem>

namespace roofwalk::cudart {

struct Executable {
  bool is_elf = false;              // false: a script, or for another machine
  bool has_device_code = false;     // a fat binary is in it
  bool has_shared_runtime = false;  // it asks the loader for libcudart.so
};

Executable look_at_executable(const std::filesystem::path& path);

}  // namespace roofwalk::cudart
