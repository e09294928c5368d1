// What a bench on a real GPU has beside others: kernels run in worker processes, and times are those of pairs.
#pragma once

#include <functional>
#include <string>

#include "common/device/gpu_queue.h"
#include "common/measure/paired.h"
#include "grader/bench.h"

namespace roofwalk {

// Devices that live in one process, started when the first is asked for: as many as one likes, one after the other.
// `device` is what --device says ("cuda:0"); `program` is this program, which serves as the worker. With
// Isolation::boxed the worker makes the launch plans as well, and its assembler runs in a box; the worker itself does
// not, since it needs the driver.
DeviceFactory devices_in_worker(const std::string& device, const std::filesystem::path& program, Isolation isolation);

// The time that a goal comes to, for the dot's own AI, for a pass and for an ace. Only goals about time, and not those
// whose figure is not known.
struct TimedGoal {
  std::size_t goal = 0;  // its place among those asked
  Grade grade = Grade::pass;
  TimeGoal time;
};
std::vector<TimedGoal> timed_goals(const std::vector<Goal>& goals, const Measurement& measurement);

// The starter and the attempt in pairs, each in a process of its own, each from a cold cache and with its buffers as
// they were at first. What each computes is compared every time. Errors: either is wrong or ends early now, though it
// was right before; the harness's own trouble.
Result<PairedTimes> time_in_pairs(const Bench& bench, const Artifact& starter, const Artifact& attempt,
                                  const Problem& problem, const ExpectedValues& expected,
                                  const std::vector<TimedGoal>& goals);

}  // namespace roofwalk
