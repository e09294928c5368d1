// The only function of this library that needs the planner. It is in a separate file, so that tests of the rest need
// not link the planner.
#include "common/plan/plan.h"
#include "common/record/run_record.h"
#include "common/verify/workspace_impl.h"

namespace roofwalk {

namespace {

Workspace::Planner planner_of(Device& device, const Artifact& artifact) {
  return [&](std::span<const ArgumentBytes> arguments, const Workspace::AllocateScratch& allocate) -> Result<Plan> {
    if (auto plan = device.plan(arguments, allocate)) return *std::move(plan);
    return make_plan(artifact, arguments, allocate, {}, &device.machine());
  };
}

}  // namespace

Result<RunRecord> Workspace::run(const Artifact& artifact, const RunOptions& options) {
  return run_planned(artifact, planner_of(impl_->device, artifact), options);
}

Result<RunRecord> Workspace::run_loaded(const Artifact& artifact, const RunOptions& options) {
  return run_planned_loaded(planner_of(impl_->device, artifact), options);
}

}  // namespace roofwalk
