// Bytes that move again and again though all of each sector is used. What kind of reuse is missing tells the causes
// apart.
#pragma once

#include <string>

#include "common/roofline/cause.h"

namespace roofwalk {

enum class MissingReuse { between_kernels, between_blocks, within_block };

// Takes what the levels where this reuse is missing move beyond the compulsory bytes.
void claim_redundant_bytes(Claim& claim, MissingReuse missing);

// Whether warps wait for such bytes: a wait for memory is that, unless the bytes are few or moving them would take far
// less time.
bool is_redundancy_behind_wait(const DiagnosisInput& input, std::string_view wait, MissingReuse missing);

// See Cause.
int evidence_of_redundancy(const DiagnosisInput& input, MissingReuse missing);

// The level where redundant bytes take the most time.
struct RedundantLevel {
  const char* name;
  double bytes, ns;
};
RedundantLevel slowest_level(const DiagnosisInput& input);

// "DRAM moves 106 MB for 12.6 MB of data, each byte 8.46 times": at the slowest level.
std::string redundancy_text(const DiagnosisInput& input);
// "each byte comes from DRAM 8.46 times": for the whole attempt, shown at the line with the most.
std::string redundancy_in_brief(const DiagnosisInput& input);

}  // namespace roofwalk
