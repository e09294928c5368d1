// The library's dot: what a library reaches at the chapter's task (Chapter::library), measured as a learner's kernel
// is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/json_fwd.h"
#include "grader/attempt/baseline.h"
#include "grader/rig/rig.h"

namespace roofwalk {

struct LibraryDot {
  std::string name;          // "CUB"
  std::string call;          // "DeviceReduce::Sum"
  StarterDot dot;            // as the starter's
  double share_of_roof = 0;  // at DRAM
  double achieved_flops_per_s = 0;
};

// Whether the file is the library's of the chapter, which alone may call the library.
bool is_library_of(const Chapter& chapter, const std::filesystem::path& file);

// Returns the dot that an earlier call measured on this device; nullopt if none did, or the chapter has no library.
std::optional<LibraryDot> kept_library_dot(const Rig& rig, const Chapter& chapter);

// Returns the kept dot. If there is none, measures it and keeps it. Errors: the chapter has no library; the library's
// headers are missing; its kernel is wrong here.
Result<LibraryDot> library_dot(const Rig& rig, const Chapter& chapter);

Json to_json(const LibraryDot& library);

// "CUB's DeviceReduce::Sum: 93 % of the roof"
std::string library_phrase(const LibraryDot& library);

}  // namespace roofwalk
