#include "common/device/cuda/cupti/cupti_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kOldestVersion = 130000;  // xxyyzz since CUDA 13.0 (cupti_version.h)

// Returns where toolkits keep the library: NVIDIA's installer and packages in extras/CUPTI or targets, wheels in lib.
std::vector<fs::path> places(const fs::path& toolkit_root, const char* library) {
  std::vector<fs::path> found;
  if (!toolkit_root.empty()) {
    for (const char* folder :
         {"extras/CUPTI/lib64", "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"}) {
      std::error_code error;
      if (fs::path file = toolkit_root / folder / library; fs::exists(file, error)) found.push_back(std::move(file));
    }
  }
  found.emplace_back(library);
  return found;
}

// Loads CUPTI's helper libraries from its folder. CUPTI itself would open them by name, and the system's loader finds
// them only if a toolkit is installed system-wide; but CUPTI uses those that are already loaded. If one is missing,
// CUPTI's own calls report it.
void load_helpers(const fs::path& folder) {
  if (folder.empty()) return;
  for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"})
    ::dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

Result<CuptiApi> load_cupti_api(const fs::path& toolkit_root, const char* library) {
  constexpr const char* kAdvice =
      "run ./roofwalk once, which installs the CUDA toolkit with CUPTI; without it bytes are modelled";
  void* handle = nullptr;
  std::string why;
  for (const fs::path& place : places(toolkit_root, library)) {
    handle = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) {
      load_helpers(place.parent_path());
      break;
    }
    if (why.empty()) why = ::dlerror();
  }
  if (handle == nullptr) return Error{.message = fmt::format("CUPTI was not found: {}", why), .advice = kAdvice};
  CuptiApi api;
  const char* missing = nullptr;
#define ROOFWALK_RESOLVE(name) \
  if (api.name = reinterpret_cast<decltype(api.name)>(::dlsym(handle, #name)); api.name == nullptr) missing = #name;
  ROOFWALK_CUPTI_CALLS(ROOFWALK_RESOLVE)
#undef ROOFWALK_RESOLVE
  if (missing != nullptr) {
    return Error{.message = fmt::format("{} lacks {}: it is not CUPTI 13", library, missing), .advice = kAdvice};
  }
  std::uint32_t version = 0;
  if (api.cuptiGetVersion(&version) != CUPTI_SUCCESS || version < kOldestVersion) {
    return Error{
        .message = fmt::format("{} says it is version {}; {} or later is needed", library, version, kOldestVersion),
        .advice = kAdvice};
  }
  return api;
}

}  // namespace roofwalk
