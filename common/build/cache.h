// Compiled artifacts on disk, keyed by content. Losing them costs only time; a damaged entry counts as absent.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/build/artifact.h"

namespace roofwalk {

// The output of a compilation; the source is known from the key.
struct Compiled {
  std::string ptx;
  std::vector<KernelResources> kernels;
};

std::optional<Compiled> load_compiled(const std::filesystem::path& cache, const std::string& key);

// Published by one rename: readers see a complete entry or none. A folder that cannot be written is left unchanged.
void save_compiled(const std::filesystem::path& cache, const std::string& key, const Compiled& compiled);

}  // namespace roofwalk
