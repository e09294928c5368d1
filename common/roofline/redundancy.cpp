#include "common/roofline/redundancy.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/roofline/si.h"

namespace roofwalk {
namespace {

constexpr double kRedundant = 1.25;  // bytes at a level over compulsory bytes
// From this ratio of bytes at a level to compulsory bytes on, redundant bytes also count as why warps wait.
constexpr double kVeryRedundant = 8;
// Bytes at L1 over bytes at L2. Above this ratio, L1 serves the same bytes to a block repeatedly, so the reuse is
// missing within the block. Up to it, blocks fetch what other blocks also fetch.
constexpr double kReuseInL1 = 2;

MissingReuse missing_reuse(const DiagnosisInput& in, TimePart level) {
  if (in.streaming_kernels > 1 || (level == TimePart::dram && in.chained_kernels > 1)) {
    return MissingReuse::between_kernels;
  }
  return in.l1_bytes <= kReuseInL1 * in.l2_bytes ? MissingReuse::between_blocks : MissingReuse::within_block;
}

// Whether warps wait because the slowest memory level moves many redundant bytes, and `missing` is the reuse that would
// avoid these.
bool is_waited_for(const DiagnosisInput& in, MissingReuse missing) {
  const double slowest_ns = std::max({in.dram_ns, in.l2_ns, in.l1_ns});
  for (const TimePart level : kMemoryLevels) {
    const double ns = part_ns(in, level);
    if (ns == slowest_ns && ns >= in.latency_ns / 2 && bytes_at(in, level) >= kVeryRedundant * in.compulsory_bytes) {
      return missing_reuse(in, level) == missing;
    }
  }
  return false;
}

}  // namespace

void claim_redundant_bytes(Claim& claim, MissingReuse missing) {
  const DiagnosisInput& in = claim.input();
  for (const TimePart level : kMemoryLevels) {
    if (bytes_at(in, level) < kRedundant * in.compulsory_bytes || missing_reuse(in, level) != missing) continue;
    claim.take(level, claim.left_ns(level) - compulsory_ns(in, level));
  }
}

bool is_redundancy_behind_wait(const DiagnosisInput& in, std::string_view wait, MissingReuse missing) {
  return is_memory_wait(wait) && is_waited_for(in, missing);
}

int evidence_of_redundancy(const DiagnosisInput& in, MissingReuse missing) {
  const bool is_much =
      in.dram_bytes >= kRedundant * in.compulsory_bytes || in.l1_bytes >= kVeryRedundant * in.compulsory_bytes;
  if (is_much) return missing_reuse(in, TimePart::dram) == missing ? 50 : 0;
  return in.observed_ai < in.ridge && is_waited_for(in, missing) ? 30 : 0;
}

RedundantLevel slowest_level(const DiagnosisInput& in) {
  RedundantLevel slowest{"L1", in.l1_bytes, in.l1_ns};
  for (const RedundantLevel& level :
       {RedundantLevel{"L2", in.l2_bytes, in.l2_ns}, RedundantLevel{"DRAM", in.dram_bytes, in.dram_ns}}) {
    if (level.ns > slowest.ns) slowest = level;
  }
  return slowest;
}

std::string redundancy_text(const DiagnosisInput& in) {
  const RedundantLevel level = slowest_level(in);
  return fmt::format("{} moves {} for {} of data, each byte {} times", level.name, si_text(level.bytes, "B"),
                     si_text(in.compulsory_bytes, "B"), number_text(level.bytes / in.compulsory_bytes));
}

std::string redundancy_in_brief(const DiagnosisInput& in) {
  const RedundantLevel level = slowest_level(in);
  return fmt::format("each byte comes from {} {} times", level.name, number_text(level.bytes / in.compulsory_bytes));
}

}  // namespace roofwalk
