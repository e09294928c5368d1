// ptxas: assembles PTX into machine code for one chip.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/build/build.h"

namespace roofwalk {

inline constexpr std::size_t kMaxCubinBytes = 64 << 20;  // larger code is refused

struct ChipCode {
  std::string cubin;           // ready to load
  bool knows_the_chip = true;  // false: this ptxas is older than the chip, and `cubin` is empty
};

// Assembles a whole program, without unresolved externs, for a chip ("sm_90a"). `text` is the PTX of `artifact` or a
// part of it with the same line numbers, so that errors point to the artifact's lines. Errors: ptxas refuses it, or
// exceeds a limit (time, memory, kMaxCubinBytes).
Result<ChipCode> assemble_for(const Toolkit& toolkit, const Artifact& artifact, std::string_view text,
                              const std::string& chip);

}  // namespace roofwalk
