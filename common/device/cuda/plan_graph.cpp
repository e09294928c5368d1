#include "common/device/cuda/plan_graph.h"

namespace roofwalk {

PlanGraph::~PlanGraph() {
  if (ready_ != nullptr) api_.cuGraphExecDestroy(ready_);
  if (graph_ != nullptr) api_.cuGraphDestroy(graph_);
}

CUresult PlanGraph::capture(CUstream stream, const std::function<CUresult()>& queue) {
  // Relaxed: loading a kernel that runs for the first time is nothing that the graph holds.
  if (const CUresult code = api_.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED); code != CUDA_SUCCESS) {
    return code;
  }
  const CUresult queued = queue();
  const CUresult ended = api_.cuStreamEndCapture(stream, &graph_);  // in any case, or the stream stays as it is
  if (queued != CUDA_SUCCESS) return queued;
  if (ended != CUDA_SUCCESS) return ended;
  return api_.cuGraphInstantiate(&ready_, graph_, 0);
}

}  // namespace roofwalk
