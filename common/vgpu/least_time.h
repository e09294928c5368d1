// How long a launch takes at least, by what its exact counts ask of each part of the machine. The clock says how long
// it takes; it is never below these.
#pragma once

#include "common/record/run_record.h"
#include "common/specs/machine.h"
#include "common/vgpu/schedule.h"
#include "common/vgpu/timing.h"

namespace roofwalk::vgpu {

// Fills all parts but latency_ns and launch_ns. Issue slots and pipes are those of the schedule, on the busiest SM.
TimeParts least_time(const Machine& machine, const ProgramSchedule& schedule, const LaunchTotals& totals);

// The largest of the parts that are throughputs, in ns.
double busiest_ns(const TimeParts& parts);

}  // namespace roofwalk::vgpu
