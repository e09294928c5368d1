// Bytes that move repeatedly although all of each sector is used. The kind of reuse that is missing decides which
// cause gets their time.
#pragma once

#include <string>

#include "common/roofline/cause.h"

namespace roofwalk {

enum class MissingReuse { between_kernels, between_blocks, within_block };

// Claims the time that redundant bytes (those beyond the compulsory ones) cost, at each memory level that lacks this
// kind of reuse.
void claim_redundant_bytes(Claim& claim, MissingReuse missing);

// Whether `wait` is due to redundant bytes: it is a wait for memory, and the slowest memory level lacks this reuse,
// moves many times the compulsory bytes, and needs at least half of latency_ns to do so.
bool is_redundancy_behind_wait(const DiagnosisInput& input, std::string_view wait, MissingReuse missing);

// Returns the evidence for this missing reuse; see Cause::evidence.
int evidence_of_redundancy(const DiagnosisInput& input, MissingReuse missing);

// The level where redundant bytes take the most time.
struct RedundantLevel {
  const char* name;
  double bytes, ns;
};
RedundantLevel slowest_level(const DiagnosisInput& input);

// Returns "DRAM moves 106 MB for 12.6 MB of data, each byte 8.46 times", for the slowest level.
std::string redundancy_text(const DiagnosisInput& input);
// Returns "each byte comes from DRAM 8.46 times": counts the whole attempt, and is shown at the line with the most
// redundant bytes.
std::string redundancy_in_brief(const DiagnosisInput& input);

}  // namespace roofwalk
