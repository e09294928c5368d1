// A running sum in memory, which every step loads and stores.
#include <fmt/format.h>

#include <algorithm>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

constexpr double kManyStores = 4;  // stores of each sector that reaches DRAM
// With more loads for each store, steps are added up before they are stored.
constexpr double kMostLoadsOfAStep = 32;

// Whether a sum is stored to memory at every step.
bool sums_in_memory(const DiagnosisInput& in) {
  double loads = 0, stores = 0;
  for (const auto& line : in.lines) loads += line.load_requests, stores += line.store_requests;
  return repeats_of_work(in) == 1 && times_stored(in) >= kManyStores && loads <= kMostLoadsOfAStep * stores;
}

// Returns the bytes of the stores that a register would save, and of the loads that read them back.
double sum_bytes(const DiagnosisInput& in) {
  double stores = 0, loads = 0;
  for (const auto& line : in.lines) {
    if (line.store_requests <= 0) continue;
    stores += line.store_requests;
    loads += std::min(line.load_requests, line.store_requests);
  }
  const double per_store = stores > 0 ? 1 + loads / stores : 1;
  return in.global_write_bytes * (1 - 1 / times_stored(in)) * per_store;
}

void claim_sum_in_memory(Claim& claim) {
  const DiagnosisInput& in = claim.input();
  if (!sums_in_memory(in)) return;
  for (const TimePart level : {TimePart::l2, TimePart::l1}) {
    const double bytes = bytes_at(in, level);
    if (bytes > 0) claim.take(level, part_ns(in, level) * std::min(1.0, sum_bytes(in) / bytes));
  }
}

Explanation explain_sum_in_memory(const DiagnosisInput& in) {
  const auto* line = worst_line(in.lines, [](const auto& l) { return l.store_requests; });
  const std::string times = number_text(times_stored(in));
  return {fmt::format("each result is written to memory {} times{}, and every step waits for what the one before it "
                      "left there. Keep the sum in a register (float sum) and store it once, after the loop.",
                      times, place_text(number_of(line))),
          number_of(line), fmt::format("each result is written {} times", times)};
}

}  // namespace

const Cause cause::sum_in_memory = {
    .id = "sum_in_memory",
    .order = 80,
    .claim = claim_sum_in_memory,
    .is_behind_wait = [](const DiagnosisInput& in, std::string_view wait,
                         bool) { return is_memory_wait(wait) && sums_in_memory(in); },
    .evidence = [](const DiagnosisInput& in) { return sums_in_memory(in) ? 100 : 0; },
    .explain = explain_sum_in_memory,
    .hints =
        {"How often does the loop write to memory, and how often would be enough?",
         "What is stored has to travel to L2, and what reads it back travels again: hundreds of cycles for each step "
         "of "
         "a sum. A register has its value at once.",
         "Declare a variable before the loop (float sum = 0.0f), add to it inside, and store it once after the loop."}};

}  // namespace roofwalk
