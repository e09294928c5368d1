#include "common/device/cuda/plan_graph.h"

namespace roofwalk {

PlanGraph::~PlanGraph() {
  if (ready_ != nullptr) api_.cuGraphExecDestroy(ready_);
  if (graph_ != nullptr) api_.cuGraphDestroy(graph_);
}

CUresult PlanGraph::capture(CUstream stream, const std::function<CUresult()>& queue) {
  // Relaxed mode does not restrict the calls of other threads; no restriction is needed, because only this program
  // queues work.
  if (const CUresult code = api_.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED); code != CUDA_SUCCESS) {
    return code;
  }
  const CUresult queued = queue();
  // Always called, because otherwise the stream would stay in capture mode.
  const CUresult ended = api_.cuStreamEndCapture(stream, &graph_);
  if (queued != CUDA_SUCCESS) return queued;
  if (ended != CUDA_SUCCESS) return ended;
  const CUresult made = api_.cuGraphInstantiateWithFlags(&ready_, graph_, 0);
  // Upload it now; otherwise the first launch would upload it, within the measured time.
  return made == CUDA_SUCCESS ? api_.cuGraphUpload(ready_, stream) : made;
}

}  // namespace roofwalk
