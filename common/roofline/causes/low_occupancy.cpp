// Low occupancy: too few resident warps to hide latency.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"

namespace roofwalk {
namespace {

constexpr double kLowOccupancy = 0.5;

bool has_low_occupancy(const DiagnosisInput& in) { return in.occupancy > 0 && in.occupancy < kLowOccupancy; }

Explanation explain_low_occupancy(const DiagnosisInput& in) {
  const auto* wait = wait_for_memory(in);
  return {fmt::format("only {} of the warps that an SM can hold are there to hide the waiting for memory{}. Use fewer "
                      "registers or less shared memory a block, or have more loads in flight a thread.",
                      percent_text(in.occupancy), place_text(wait ? wait->line : 0)),
          in.launch_line, fmt::format("only {} of the warps that an SM can hold", percent_text(in.occupancy))};
}

}  // namespace

const Cause cause::low_occupancy = {
    .id = "low_occupancy",
    .order = 200,
    .is_behind_wait = [](const DiagnosisInput& in, std::string_view wait,
                         bool) { return is_memory_wait(wait) && has_low_occupancy(in); },
    .evidence = [](const DiagnosisInput& in) { return in.observed_ai < in.ridge && has_low_occupancy(in) ? 20 : 0; },
    .explain = explain_low_occupancy,
    .hints = {"Look at registers and shared memory on the card. Which of them decides how many blocks an SM can hold?",
              "Warps that wait cost nothing while others can run. With few warps on an SM, nobody fills the gaps.",
              "Use less shared memory or fewer registers a block, smaller blocks, or several independent loads a "
              "thread."}};

}  // namespace roofwalk
