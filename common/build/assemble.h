// ptxas: from PTX to the code of one chip.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/build/build.h"

namespace roofwalk {

inline constexpr std::size_t kMaxCubinBytes = 64 << 20;  // more than that is no code of a kernel

struct ChipCode {
  std::string cubin;           // ready to be loaded
  bool knows_the_chip = true;  // false: this ptxas is older than the chip, and `cubin` is empty
};

// Assembles a whole program, without open externs, for a chip ("sm_90a"). Lines in errors are those of `artifact`,
// whose PTX `text` is, or is a part of, in the same lines. Errors: ptxas refuses it, or takes longer than a minute.
Result<ChipCode> assemble_for(const Toolkit& toolkit, const Artifact& artifact, std::string_view text,
                              const std::string& chip);

}  // namespace roofwalk
