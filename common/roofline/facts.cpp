#include "common/roofline/facts.h"

#include <algorithm>

namespace roofwalk {
namespace {

constexpr double kWellPlaced = 1.25;  // 80 % of the roof at the algorithm's AI: well optimized
// Work counts as repeated if it executes at least this multiple of the useful FLOPs. Nearly 2, so that a sum in several
// passes does not count as repeated work.
constexpr double kRepeats = 1.9;
// Stores count as repeated if the stored bytes are at least this multiple of the bytes that reach DRAM, or of the
// compulsory bytes if those are fewer.
constexpr double kStoredAgain = 1.5;

// Returns how many bytes are stored, at least. `scattered`: sectors touched over sectors needed. If each store touches
// one sector, a single thread of the warp may have stored a single word.
double least_stored_bytes(const DiagnosisInput& in, double scattered) {
  constexpr double kSectorBytes = 32, kWordBytes = 4, kHardlyMore = 1.1;
  double requests = 0;
  for (const auto& line : in.lines) requests += line.store_requests;
  const double sectors = in.global_write_bytes / kSectorBytes;
  return sectors <= kHardlyMore * requests ? kWordBytes * sectors : in.global_write_bytes / scattered;
}

}  // namespace

double part_ns(const DiagnosisInput& in, TimePart part) {
  switch (part) {
    case TimePart::dram:
      return in.dram_ns;
    case TimePart::l2:
      return in.l2_ns;
    case TimePart::l1:
      return in.l1_ns;
    case TimePart::shared:
      return in.shared_ns;
    case TimePart::constant:
      return in.constant_ns;
    case TimePart::issue:
      return in.issue_ns;
    case TimePart::flops:
      return in.flops_ns;
    case TimePart::contention:
      return in.contention_ns;
    case TimePart::waiting:
      return in.latency_ns;
    case TimePart::launch:
      return in.launch_ns;
  }
  return 0;
}

double bytes_at(const DiagnosisInput& in, TimePart level) {
  return level == TimePart::dram ? in.dram_bytes : level == TimePart::l2 ? in.l2_bytes : in.l1_bytes;
}

double compulsory_ns(const DiagnosisInput& in, TimePart level) {
  const double bytes = bytes_at(in, level);
  return bytes > 0 ? part_ns(in, level) * std::min(1.0, in.compulsory_bytes / bytes) : 0;
}

double total_gap(const DiagnosisInput& in) {
  if (in.vertical_gap <= 0 || in.observed_ai <= 0 || in.ridge <= 0) return 1;
  const double roof = std::min(in.ridge, in.observed_ai), best = std::min(in.ridge, in.algorithmic_ai);
  return std::max(1.0, in.vertical_gap * std::max(1.0, best / roof));
}

bool has_gap(const DiagnosisInput& in) { return total_gap(in) > kWellPlaced; }

double sector_ratio(const DiagnosisInput& in) {
  double sectors = 0, ideal = 0;
  for (const auto& line : in.lines) {
    sectors += line.l1_sectors;
    ideal += line.ideal_l1_sectors;
  }
  return ideal > 0 ? sectors / ideal : 1;
}

double repeats_of_work(const DiagnosisInput& in) {
  if (in.useful_flops <= 0 || in.executed_flops < kRepeats * in.useful_flops) return 1;
  // Repeated work stores a result each time; a result that is merely recomputed where it is needed is stored once.
  const double once = std::min(in.compulsory_bytes, in.dram_write_bytes);
  return least_stored_bytes(in, sector_ratio(in)) >= kStoredAgain * once && once > 0
             ? in.executed_flops / in.useful_flops
             : 1;
}

double arrival_conflicts(const DiagnosisInput& in) {
  double sum = 0;
  for (const auto& line : in.lines) sum += line.arrival_conflicts;
  return sum;
}

double array_conflicts(const DiagnosisInput& in) {
  return std::max(0.0, in.shared_bank_conflicts - arrival_conflicts(in));
}

double times_stored(const DiagnosisInput& in) {
  if (in.dram_write_bytes <= 0) return 0;
  double sectors = 0, ideal = 0;
  for (const auto& line : in.lines) {
    if (line.store_requests <= 0) continue;
    sectors += line.l1_sectors;
    ideal += line.ideal_l1_sectors;
  }
  const double scattered = ideal > 0 ? sectors / ideal : 1;
  return least_stored_bytes(in, scattered) / in.dram_write_bytes;
}

double arithmetic_share(const DiagnosisInput& in) {
  return in.warp_instructions > 0 ? std::min(1.0, in.executed_flops / kFlopsOfFma / in.warp_instructions) : 1;
}

bool is_mostly_arithmetic(const DiagnosisInput& in) { return 2 * arithmetic_share(in) >= 0.5; }

bool is_memory_wait(std::string_view wait) { return wait == "dram" || wait == "l2" || wait == "l1"; }

double wait_share(const DiagnosisInput& in, std::string_view wait) {
  for (const auto& waiting : in.waiting) {
    if (waiting.id == wait) return waiting.share;
  }
  return 0;
}

double total_wait_share(const DiagnosisInput& in) {
  double all = 0;
  for (const auto& wait : in.waiting) all += wait.id == "tail" ? 0 : wait.share;
  return all;
}

}  // namespace roofwalk
