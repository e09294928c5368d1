// Streams and events. All work runs when it is asked for, one piece after the other, so that a stream is always done;
// an event has the modelled time at which it was recorded.
#include <utility>

#include "common/cudart/library/graphs.h"
#include "common/cudart/library/runtime.h"

using namespace roofwalk::cudart;

namespace {

struct HostStream {
  unsigned flags = 0;
  int priority = 0;
};

struct HostEvent {
  unsigned flags = 0;
  bool is_recorded = false;
  double at_ns = 0;
};

constexpr int kLowestPriority = 0, kHighestPriority = -5;  // as on GPUs since compute capability 7.0

// The default streams are small numbers.
bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

// The number of a stream: those of the default streams are small, others are their addresses.
unsigned long long id_of(cudaStream_t stream) { return reinterpret_cast<unsigned long long>(stream); }

HostStream* own(cudaStream_t stream) { return reinterpret_cast<HostStream*>(stream); }
HostEvent* own(cudaEvent_t event) { return reinterpret_cast<HostEvent*>(event); }

cudaError_t ready_with(cudaStream_t stream) {
  const cudaError_t error = ready();
  if (error != cudaSuccess) return error;
  return is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t ready_with(cudaEvent_t event) {
  const cudaError_t error = ready();
  if (error != cudaSuccess) return error;
  return runtime().events.contains(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

// A stream whose work is to be called at once. The callback may not call the runtime, but it may wait for threads that
// do, so nothing is locked while it runs.
cudaError_t ready_to_call(cudaStream_t stream, const void* function) {
  const Lock lock(runtime().mutex);
  const cudaError_t error = ready_with(stream);
  return error == cudaSuccess && function == nullptr ? cudaErrorInvalidValue : error;
}

template <class Function>
bool is_captured(cudaStream_t stream, Function function) {
  const Lock lock(runtime().mutex);
  if (!captures(stream)) return false;
  capture(stream, cudaGraphNodeTypeHost, [function] {
    function();
    return cudaSuccess;
  });
  return true;
}

void record(cudaEvent_t event) {
  if (!runtime().events.contains(event)) return;
  own(event)->is_recorded = true;
  own(event)->at_ns = runtime().now_ns;
}

}  // namespace

namespace roofwalk::cudart {

bool is_stream(cudaStream_t stream) { return is_default(stream) || runtime().streams.contains(stream); }

}  // namespace roofwalk::cudart

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* out, unsigned flags, int priority) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  if (out == nullptr || flags > cudaStreamNonBlocking) return result(cudaErrorInvalidValue);
  auto* const stream = new HostStream{flags, priority};
  runtime().streams.insert(stream);
  *out = reinterpret_cast<cudaStream_t>(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* out) { return cudaStreamCreateWithPriority(out, 0, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) {
  return cudaStreamCreateWithPriority(out, flags, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(stream); error != cudaSuccess) return result(error);
  if (is_default(stream)) return result(cudaErrorInvalidResourceHandle);
  forget_captures(stream);
  runtime().streams.erase(stream);
  delete own(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Lock lock(runtime().mutex);
  const cudaError_t error = ready_with(stream);
  return result(error == cudaSuccess && captures(stream) ? cudaErrorStreamCaptureUnsupported : error);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* out) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(stream); error != cudaSuccess) return result(error);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = is_default(stream) ? 0 : own(stream)->flags;
  return cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* out) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(stream); error != cudaSuccess) return result(error);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = is_default(stream) ? 0 : own(stream)->priority;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(stream); error != cudaSuccess) return result(error);
  if (const cudaError_t error = ready_with(event); error != cudaSuccess) return result(error);
  wait_for_captured(stream, event);
  return cudaSuccess;
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* out) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(stream); error != cudaSuccess) return result(error);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = id_of(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* out) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(stream); error != cudaSuccess) return result(error);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = 0;
  return cudaSuccess;
}
// What caches keep for a stream, and whose work may go first, changes nothing here.
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID, const cudaStreamAttrValue* value) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(stream); error != cudaSuccess) return result(error);
  return result(value == nullptr ? cudaErrorInvalidValue : cudaSuccess);
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, cudaStreamAttrValue* out) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(stream); error != cudaSuccess) return result(error);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = {};
  if (attribute == cudaLaunchAttributePriority && !is_default(stream)) out->priority = own(stream)->priority;
  return cudaSuccess;
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  const Lock lock(runtime().mutex);
  const cudaError_t error = ready_with(to);
  return result(error != cudaSuccess ? error : ready_with(from));
}
// Managed memory is always both sides'.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* address, std::size_t, unsigned) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(stream); error != cudaSuccess) return result(error);
  const Allocation* const found = find_allocation(address);
  return result(found != nullptr && found->kind == MemoryKind::managed ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  static thread_local cudaStreamCaptureMode of_thread = cudaStreamCaptureModeGlobal;
  if (mode == nullptr) return result(cudaErrorInvalidValue);
  std::swap(*mode, of_thread);
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (const cudaError_t error = ready_to_call(stream, reinterpret_cast<const void*>(function)); error != cudaSuccess)
    return result(error);
  if (is_captured(stream, [=] { function(data); })) return cudaSuccess;
  function(data);
  return cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned flags) {
  if (const cudaError_t error = ready_to_call(stream, reinterpret_cast<const void*>(function)); error != cudaSuccess)
    return result(error);
  if (flags != 0) return result(cudaErrorInvalidValue);
  if (is_captured(stream, [=] { function(stream, cudaSuccess, data); })) return cudaSuccess;
  function(stream, cudaSuccess, data);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  if (lowest != nullptr) *lowest = kLowestPriority;
  if (highest != nullptr) *highest = kHighestPriority;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  if ((flags & cudaEventInterprocess) != 0) return not_served("cudaEventCreateWithFlags with cudaEventInterprocess");
  auto* const event = new HostEvent{flags, false, 0};
  runtime().events.insert(event);
  *out = reinterpret_cast<cudaEvent_t>(event);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* out) { return cudaEventCreateWithFlags(out, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(event); error != cudaSuccess) return result(error);
  runtime().events.erase(event);
  delete own(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(event); error != cudaSuccess) return result(error);
  if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  if (captures(stream)) {
    capture_event(stream, event);
    return result(capture(stream, cudaGraphNodeTypeEventRecord, [event] {
      record(event);
      return cudaSuccess;
    }));
  }
  record(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const Lock lock(runtime().mutex);
  return result(ready_with(event));
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return cudaEventQuery(event); }
cudaError_t cudaEventElapsedTime(float* out_ms, cudaEvent_t start, cudaEvent_t end) {
  const Lock lock(runtime().mutex);
  for (const cudaEvent_t event : {start, end}) {
    if (const cudaError_t error = ready_with(event); error != cudaSuccess) return result(error);
    if (!own(event)->is_recorded || (own(event)->flags & cudaEventDisableTiming) != 0)
      return result(cudaErrorInvalidResourceHandle);
  }
  if (out_ms == nullptr) return result(cudaErrorInvalidValue);
  constexpr double kNsOfMs = 1e6;
  *out_ms = static_cast<float>((own(end)->at_ns - own(start)->at_ns) / kNsOfMs);
  return cudaSuccess;
}

ROOFWALK_PER_THREAD(cudaStreamSynchronize, cudaStreamSynchronize_ptsz)
ROOFWALK_PER_THREAD(cudaStreamQuery, cudaStreamQuery_ptsz)
ROOFWALK_PER_THREAD(cudaStreamGetFlags, cudaStreamGetFlags_ptsz)
ROOFWALK_PER_THREAD(cudaStreamGetPriority, cudaStreamGetPriority_ptsz)
ROOFWALK_PER_THREAD(cudaStreamGetId, cudaStreamGetId_ptsz)
ROOFWALK_PER_THREAD(cudaStreamGetDevice, cudaStreamGetDevice_ptsz)
ROOFWALK_PER_THREAD(cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz)
ROOFWALK_PER_THREAD(cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz)
ROOFWALK_PER_THREAD(cudaStreamGetAttribute, cudaStreamGetAttribute_ptsz)
ROOFWALK_PER_THREAD(cudaStreamCopyAttributes, cudaStreamCopyAttributes_ptsz)
ROOFWALK_PER_THREAD(cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz)
ROOFWALK_PER_THREAD(cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz)
ROOFWALK_PER_THREAD(cudaStreamAddCallback, cudaStreamAddCallback_ptsz)
ROOFWALK_PER_THREAD(cudaEventRecord, cudaEventRecord_ptsz)
ROOFWALK_PER_THREAD(cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz)

}  // extern "C"
