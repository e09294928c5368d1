// Streams that capture: what they are given becomes nodes of a graph, each behind the one before it in its stream and
// behind the events that the stream has waited for.
#include "common/cudart/library/graphs.h"

using namespace roofwalk::cudart;

namespace {

struct Capturing {
  std::shared_ptr<Graph> graph;
  std::vector<const GraphNode*> last;
  cudaStream_t origin = nullptr;  // that began
};

struct Captures {
  std::map<cudaStream_t, Capturing> streams;
  std::map<cudaEvent_t, Capturing> events;
};

Captures& open() {
  static auto* const all = new Captures;
  return *all;
}

cudaError_t begin_capture(cudaStream_t stream) {
  if (const cudaError_t error = ready(); error != cudaSuccess) return error;
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  if (stream == nullptr || stream == cudaStreamLegacy) return cudaErrorStreamCaptureUnsupported;
  if (captures(stream)) return cudaErrorIllegalState;
  open().streams[stream] = {std::make_shared<Graph>(), {}, stream};
  return cudaSuccess;
}

cudaError_t end_capture(cudaStream_t stream, cudaGraph_t* out) {
  if (out == nullptr) return cudaErrorInvalidValue;
  *out = nullptr;
  const auto at = open().streams.find(stream);
  if (at == open().streams.end()) return cudaErrorIllegalState;
  if (at->second.origin != stream) return cudaErrorStreamCaptureUnmatched;
  const std::shared_ptr<Graph> graph = at->second.graph;
  std::erase_if(open().streams, [&](const auto& each) { return each.second.graph == graph; });
  std::erase_if(open().events, [&](const auto& each) { return each.second.graph == graph; });
  auto made = std::make_unique<Graph>();
  made->nodes = std::move(graph->nodes);
  *out = handle_of(std::move(made));
  return cudaSuccess;
}

}  // namespace

namespace roofwalk::cudart {

bool captures(cudaStream_t stream) { return !open().streams.empty() && open().streams.contains(stream); }

cudaError_t capture(cudaStream_t stream, cudaGraphNodeType type, Work work) {
  Capturing& capturing = open().streams.at(stream);
  capturing.last = {add_node(*capturing.graph, type, std::move(work), capturing.last)};
  return cudaSuccess;
}

void capture_event(cudaStream_t stream, cudaEvent_t event) { open().events[event] = open().streams.at(stream); }

bool wait_for_captured(cudaStream_t stream, cudaEvent_t event) {
  const auto at = open().events.find(event);
  if (at == open().events.end()) return false;
  const auto [own, is_new] = open().streams.try_emplace(stream, at->second);
  if (!is_new) own->second.last.insert(own->second.last.end(), at->second.last.begin(), at->second.last.end());
  return true;
}

void forget_captures(cudaStream_t stream) { open().streams.erase(stream); }

}  // namespace roofwalk::cudart

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  const Lock lock(runtime().mutex);
  return result(begin_capture(stream));
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* out) {
  const Lock lock(runtime().mutex);
  return result(end_capture(stream, out));
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* out) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = captures(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

ROOFWALK_PER_THREAD(cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz)
ROOFWALK_PER_THREAD(cudaStreamEndCapture, cudaStreamEndCapture_ptsz)
ROOFWALK_PER_THREAD(cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz)

}  // extern "C"
