// Shared-memory bandwidth takes the time, without bank conflicts.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

Explanation explain_shared_traffic(const DiagnosisInput& in) {
  const auto* line = worst_line(in.lines, [](const auto& l) { return l.shared_wavefronts; });
  return {fmt::format("shared memory takes {} of the {}{}, without many conflicts. Keep operands in registers: a "
                      "thread with a square of r x s outputs reads 1/r + 1/s values for each multiply-add.",
                      time_text(in.shared_ns), time_text(in.elapsed_ns), most_at_text(line)),
          number_of(line), "shared memory takes the time, without conflicts"};
}

}  // namespace

const Cause cause::shared_traffic = {
    .id = "shared_traffic",
    .order = 150,
    .claim = [](Claim& claim) { claim.take_rest(TimePart::shared); },
    .is_behind_wait = [](const DiagnosisInput&, std::string_view wait, bool) { return wait == "shared"; },
    .explain = explain_shared_traffic,
    .figure = "shared",
    .hints = {"How many values does the inner loop read from shared memory for each multiply-add?",
              "Shared memory is fast, yet a register is faster: what a thread holds can serve several multiply-adds.",
              "Let a thread compute a small block of results, such as 4 x 4: 8 reads then serve 16 multiply-adds."}};

}  // namespace roofwalk
