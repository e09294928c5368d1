// Bound by launches: there are many, or the only one has very little work.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

constexpr double kLaunchShare = 0.25;  // of the time: if launches take more, the kernels are so short that waits at
                                       // their start and end count as launch time

void claim_launch_bound(Claim& claim) {
  const DiagnosisInput& in = claim.input();
  claim.take(TimePart::launch, in.launches > 1 ? in.launch_ns * (1 - 1 / in.launches) : in.launch_ns);
  if (in.launch_ns >= kLaunchShare * in.elapsed_ns) claim.take_rest(TimePart::waiting);
}

Explanation explain_launch_bound(const DiagnosisInput& in) {
  if (in.launches > 1) {
    return {fmt::format("{:.0f} launches take {} of the {}. Put the work into one launch, or a few.", in.launches,
                        time_text(in.launch_ns), time_text(in.elapsed_ns)),
            in.launch_line, fmt::format("{:.0f} launches take {}", in.launches, time_text(in.launch_ns))};
  }
  return {fmt::format("the launch alone takes {} of the {}, more than the work does. Give one launch more to do.",
                      time_text(in.launch_ns), time_text(in.elapsed_ns)),
          in.launch_line, "the launch takes longer than its work"};
}

}  // namespace

const Cause cause::launch_bound = {
    .id = "launch_bound",
    .order = 30,
    .claim = claim_launch_bound,
    .explain = explain_launch_bound,
    .hints = {
        "How many launches does SOLVE make, and how much work has each of them?",
        "A launch costs microseconds before its first thread runs. Work that takes less than that waits for launches.",
        "Do in one kernel what several do now: widen the grid, or let each thread do the next step too."}};

}  // namespace roofwalk
