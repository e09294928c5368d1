// The only function of this library that needs the planner. It is in a separate file, so that tests of the rest need
// not link the planner.
#include "common/plan/plan.h"
#include "common/verify/workspace_impl.h"

namespace roofwalk {

Result<RunRecord> Workspace::run(const Artifact& artifact, const RunOptions& options) {
  return run_planned(
      artifact,
      [&](std::span<const ArgumentBytes> arguments, const AllocateScratch& allocate_scratch) {
        if (auto plan = impl_->device.plan(arguments, allocate_scratch)) return *std::move(plan);
        return make_plan(artifact, arguments, allocate_scratch, {}, &impl_->device.machine());
      },
      options);
}

}  // namespace roofwalk
