// Artifacts on disk by content. Losing them loses only time; a damaged entry counts as absent.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/build/artifact.h"

namespace roofwalk {

// What a compilation makes, without the source that its key stands for.
struct Compiled {
  std::string ptx;
  std::vector<KernelResources> kernels;
};

std::optional<Compiled> load_compiled(const std::filesystem::path& cache, const std::string& key);

// Published by one rename: readers see a whole entry or none. A folder that cannot be written is left as it is.
void save_compiled(const std::filesystem::path& cache, const std::string& key, const Compiled& compiled);

}  // namespace roofwalk
