// Over-fetch: accesses use only a small part of the sectors that they fetch.
#include <fmt/format.h>

#include <algorithm>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

constexpr double kOverFetch = 1.5;   // sectors over sectors needed; misalignment alone costs 1.25
constexpr double kMostlyBusy = 0.9;  // of the time
constexpr double kBytesOfSector = 32;
// Sectors for each 128-byte line that is touched. From this number on, the threads' words lie at most 64 bytes apart.
constexpr double kSideBySide = 2;

bool over_fetches(const DiagnosisInput& in) { return sector_ratio(in) >= kOverFetch; }

// Returns the share of the bytes at DRAM that no access has used, at least. Where scattered accesses take one part of a
// sector after the other, as those of whole structs do, L1 or L2 moves it several times, and DRAM once.
double unused_at_dram(const DiagnosisInput& in) {
  double used = 0;
  for (const auto& line : in.lines) used += kBytesOfSector * line.ideal_l1_sectors;
  return in.dram_bytes > 0 ? std::max(0.0, 1 - used / in.dram_bytes) : 0;
}

void claim_over_fetch(Claim& claim) {
  const DiagnosisInput& in = claim.input();
  if (!over_fetches(in)) return;
  for (const TimePart level : kMemoryLevels) {
    const double ns = part_ns(in, level), floor_ns = level == TimePart::l1 ? 0 : compulsory_ns(in, level);
    double share = 1 - 1 / sector_ratio(in);
    if (level == TimePart::dram) share = std::min(share, unused_at_dram(in));
    claim.take(level, std::min(ns * share, ns - floor_ns));
  }
}

// Whether the line that waits most for memory has scattered loads. Scattered stores of other lines do not matter: no
// warp waits for stores.
bool waits_for_scattered(const DiagnosisInput& in) {
  for (const auto& wait : in.waiting) {
    if (!is_memory_wait(wait.id)) continue;
    for (const auto& line : in.lines) {
      if (line.line == wait.line) return line.l1_sectors >= kOverFetch * line.ideal_l1_sectors;
    }
  }
  return true;
}

Explanation explain_over_fetch(const DiagnosisInput& in) {
  const auto* line = worst_line(in.lines, [](const auto& l) { return l.l1_sectors - l.ideal_l1_sectors; });
  if (!line) return {"more sectors are fetched than needed."};
  const double requests = line->load_requests + line->store_requests;
  const char* access = line->store_requests == 0 ? "a load" : line->load_requests == 0 ? "a store" : "an access";
  const std::string sectors = number_text(line->l1_sectors / requests);
  const std::string ideal = number_text(line->ideal_l1_sectors / requests);
  // L1 serves one cache line at a time: with many lines per request, it is busy long before its bandwidth is used up.
  const bool l1_is_busy = in.l1_ns >= kMostlyBusy * in.elapsed_ns && line->l1_lines > requests;
  const std::string busy =
      l1_is_busy ? fmt::format(" L1 is busy {} of the time, answering {} lines {}.",
                               percent_text(in.l1_ns / in.elapsed_ns), number_text(line->l1_lines / requests), access)
                 : std::string();
  const bool is_side_by_side = line->l1_lines > 0 && line->l1_sectors >= kSideBySide * line->l1_lines;
  const char* const why =
      is_side_by_side ? "since the words of neighbouring threads lie some words apart, as a field of structs does"
                      : "since the threads of a warp touch addresses far apart";
  const char* const lever =
      is_side_by_side ? "Put fields that are used together into an array each; or, without structs, let neighbouring "
                        "threads touch neighbouring elements."
                      : "Let neighbouring threads (threadIdx.x) touch neighbouring elements.";
  return {fmt::format("line {} asks for {} sectors {} on average where {} would do, {}.{} {}", line->line, sectors,
                      access, ideal, why, busy, lever),
          line->line, fmt::format("{} sectors {} where {} would do", sectors, access, ideal)};
}

}  // namespace

const Cause cause::over_fetch = {
    .id = "over_fetch",
    .order = 90,
    .claim = claim_over_fetch,
    .is_behind_wait = [](const DiagnosisInput& in, std::string_view wait,
                         bool) { return is_memory_wait(wait) && over_fetches(in) && waits_for_scattered(in); },
    .evidence = [](const DiagnosisInput& in) { return over_fetches(in) ? 110 : 0; },
    .explain = explain_over_fetch,
    .figure = "sectors",
    .moves_right = true,
    .hints =
        {"Take the line on the card and write down the addresses that threads 0, 1 and 2 of a warp touch. How many "
         "bytes lie between them?",
         "Memory comes in sectors of 32 bytes. Eight neighbouring floats that a warp wants together cost one sector; "
         "eight scattered ones cost eight.",
         "Let threadIdx.x count the index that is consecutive in memory, or fetch the tile row by row into shared "
         "memory and read it from there in any order."}};

}  // namespace roofwalk
