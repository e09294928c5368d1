// Graphs: captured from streams, made of nodes, launched more than once, changed.
#include <cstdint>
#include <vector>

#include "check.h"

__global__ void add(int* x, int n, int what) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += what;
}

__global__ void sum_up(const int* a, const int* b, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

void count(void* calls) { ++*static_cast<int*>(calls); }

const int n = 1000, blocks = 4, threads = 256;

// Two streams that meet at an event; nothing runs before the graph is launched.
void capture(int* a, int* b, int* out) {
  cudaStream_t one, two;
  cudaEvent_t fork, join;
  CHECK_CUDA(cudaStreamCreate(&one));
  CHECK_CUDA(cudaStreamCreate(&two));
  CHECK_CUDA(cudaEventCreate(&fork));
  CHECK_CUDA(cudaEventCreate(&join));
  std::vector<int> host(n, -1);
  CHECK_CUDA(cudaMemset(a, 0, n * sizeof(int)));
  CHECK_CUDA(cudaMemset(b, 0, n * sizeof(int)));
  int calls = 0;
  cudaStreamCaptureStatus status;
  CHECK_ERROR(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  CHECK_CUDA(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  CHECK_ERROR(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  CHECK_CUDA(cudaStreamIsCapturing(one, &status));
  CHECK(status == cudaStreamCaptureStatusActive);
  CHECK_ERROR(cudaStreamSynchronize(one), cudaErrorStreamCaptureUnsupported);
  CHECK_CUDA(cudaEventRecord(fork, one));
  CHECK_CUDA(cudaStreamWaitEvent(two, fork, 0));
  add<<<blocks, threads, 0, one>>>(a, n, 1);
  add<<<blocks, threads, 0, two>>>(b, n, 10);
  CHECK_CUDA(cudaEventRecord(join, two));
  CHECK_CUDA(cudaStreamWaitEvent(one, join, 0));
  sum_up<<<blocks, threads, 0, one>>>(a, b, out, n);
  CHECK_CUDA(cudaMemcpyAsync(host.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost, one));
  CHECK_CUDA(cudaLaunchHostFunc(one, count, &calls));
  cudaGraph_t graph;
  CHECK_ERROR(cudaStreamEndCapture(two, &graph), cudaErrorStreamCaptureUnmatched);
  CHECK_CUDA(cudaStreamEndCapture(one, &graph));
  CHECK_ERROR(cudaStreamEndCapture(one, &graph), cudaErrorIllegalState);
  CHECK(host[0] == -1 && calls == 0);
}

void launch_captured(int* a, int* b, int* out, cudaStream_t stream) {
  std::vector<int> host(n, -1);
  int calls = 0;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  add<<<blocks, threads, 0, stream>>>(a, n, 1);
  sum_up<<<blocks, threads, 0, stream>>>(a, b, out, n);
  CHECK_CUDA(cudaMemcpyAsync(host.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaLaunchHostFunc(stream, count, &calls));
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  std::size_t nodes = 0;
  CHECK_CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 4);
  CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  CHECK_CUDA(cudaGraphDestroy(graph));
  for (int round = 1; round <= 3; ++round) {
    CHECK_CUDA(cudaGraphLaunch(executable, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK(calls == round && host[0] == round && host[n - 1] == round);
  }
  CHECK_CUDA(cudaGraphExecDestroy(executable));
  CHECK_ERROR(cudaGraphLaunch(executable, stream), cudaErrorInvalidValue);
}

void build(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphNode_t take, set, change, back, call;
  CHECK_CUDA(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location = cudaMemLocation{cudaMemLocationTypeDevice, 0};
  memory.bytesize = n * sizeof(int);
  CHECK_CUDA(cudaGraphAddMemAllocNode(&take, graph, nullptr, 0, &memory));
  cudaMemsetParams fill = {};
  fill.dst = memory.dptr;
  fill.elementSize = 4;
  fill.value = 1000;
  fill.width = n;
  fill.height = 1;
  fill.pitch = n * sizeof(int);
  CHECK_CUDA(cudaGraphAddMemsetNode(&set, graph, &take, 1, &fill));
  std::vector<int> host(n);
  // Added in front of the kernel, but behind it in the graph.
  CHECK_CUDA(cudaGraphAddMemcpyNode1D(&back, graph, &set, 1, host.data(), memory.dptr, n * sizeof(int),
                                      cudaMemcpyDeviceToHost));
  int *x = static_cast<int*>(memory.dptr), size = n, what = 7, calls = 0;
  void* arguments[] = {&x, &size, &what};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(add);
  kernel.gridDim = dim3(blocks);
  kernel.blockDim = dim3(threads);
  kernel.kernelParams = arguments;
  CHECK_CUDA(cudaGraphAddKernelNode(&change, graph, &set, 1, &kernel));
  CHECK_CUDA(cudaGraphAddDependencies(graph, &change, &back, nullptr, 1));
  cudaHostNodeParams function = {count, &calls};
  CHECK_CUDA(cudaGraphAddHostNode(&call, graph, &back, 1, &function));
  cudaGraphNodeType type;
  CHECK_CUDA(cudaGraphNodeGetType(change, &type));
  CHECK(type == cudaGraphNodeTypeKernel);
  cudaGraphExec_t executable;
  CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  CHECK_CUDA(cudaGraphLaunch(executable, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK(host[0] == 1007 && host[n - 1] == 1007 && calls == 1);
  what = 9;
  CHECK_CUDA(cudaGraphExecKernelNodeSetParams(executable, change, &kernel));
  CHECK_CUDA(cudaGraphLaunch(executable, stream));
  CHECK(host[0] == 1009 && calls == 2);
  // What the program frees, the next launch allocates again.
  std::uint64_t used_bytes = 0;
  for (int i = 0; i < 2; ++i) {
    CHECK_CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used_bytes));
    CHECK(used_bytes == n * sizeof(int));
    CHECK_CUDA(cudaFreeAsync(x, stream));
    CHECK_ERROR(cudaFree(x), cudaErrorInvalidValue);
    CHECK_CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used_bytes));
    CHECK(used_bytes == 0);
    CHECK_CUDA(cudaGraphLaunch(executable, stream));
    CHECK(host[0] == 1009 && calls == 3 + i);
  }
  cudaGraphExecUpdateResultInfo info;
  CHECK_CUDA(cudaGraphExecUpdate(executable, graph, &info));
  CHECK_CUDA(cudaGraphLaunch(executable, stream));
  CHECK(host[0] == 1007 && info.result == cudaGraphExecUpdateSuccess);
  // A cycle cannot be launched.
  CHECK_CUDA(cudaGraphAddDependencies(graph, &back, &change, nullptr, 1));
  cudaGraphExec_t other;
  CHECK_ERROR(cudaGraphInstantiate(&other, graph, 0), cudaErrorInvalidValue);
  CHECK_CUDA(cudaGraphDestroy(graph));
  CHECK_ERROR(cudaGraphDestroy(graph), cudaErrorInvalidValue);
  CHECK_CUDA(cudaGraphLaunch(executable, stream));
  CHECK(calls == 6);
  CHECK_CUDA(cudaGraphExecDestroy(executable));
}

int main() {
  int *a, *b, *out;
  CHECK_CUDA(cudaMalloc(&a, n * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&b, n * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&out, n * sizeof(int)));
  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreate(&stream));
  capture(a, b, out);
  launch_captured(a, b, out, stream);
  build(stream);
  std::printf("ok\n");
}
