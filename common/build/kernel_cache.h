// Compiled artifacts on disk, keyed by content. Deleting them costs only time; a damaged entry counts as absent.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/build/artifact.h"

namespace roofwalk {

// The output of a compilation. The source is not stored, because the key identifies it.
struct Compiled {
  std::string ptx;
  std::vector<KernelResources> kernels;
};

std::optional<Compiled> load_compiled(const std::filesystem::path& cache, const std::string& key);

// Publishes the entry by one rename, so readers see a complete entry or none. If the folder cannot be written, nothing
// changes.
void save_compiled(const std::filesystem::path& cache, const std::string& key, const Compiled& compiled);

}  // namespace roofwalk
