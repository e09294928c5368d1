// A plan's steps as one CUDA graph: handed to the GPU at once, where a host that queues them one by one would be slower
// than the GPU that runs them.
#pragma once

#include <functional>

#include "common/device/cuda/driver_api.h"

namespace roofwalk {

class PlanGraph {
 public:
  explicit PlanGraph(const DriverApi& api) : api_(api) {}
  ~PlanGraph();
  PlanGraph(const PlanGraph&) = delete;
  PlanGraph& operator=(const PlanGraph&) = delete;

  // What `queue` puts into the stream is kept and does not run. `queue` gives the driver's first refusal, if any.
  CUresult capture(CUstream stream, const std::function<CUresult()>& queue);
  CUresult launch(CUstream stream) const { return api_.cuGraphLaunch(ready_, stream); }

 private:
  const DriverApi& api_;
  CUgraph graph_ = nullptr;
  CUgraphExec ready_ = nullptr;
};

}  // namespace roofwalk
