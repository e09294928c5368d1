// A plan's steps as one CUDA graph, launched with one call, because queueing many short steps one by one may take
// longer than running them.
#pragma once

#include <functional>

#include "common/device/cuda/driver/driver_api.h"

namespace roofwalk {

class PlanGraph {
 public:
  explicit PlanGraph(const DriverApi& api) : api_(api) {}
  ~PlanGraph();
  PlanGraph(const PlanGraph&) = delete;
  PlanGraph& operator=(const PlanGraph&) = delete;

  // Captures the work that `queue` puts into the stream, without running it. `queue` returns the driver's first
  // refusal, if any.
  CUresult capture(CUstream stream, const std::function<CUresult()>& queue);
  CUresult launch(CUstream stream) const { return api_.cuGraphLaunch(ready_, stream); }

 private:
  const DriverApi& api_;
  CUgraph graph_ = nullptr;
  CUgraphExec ready_ = nullptr;
};

}  // namespace roofwalk
