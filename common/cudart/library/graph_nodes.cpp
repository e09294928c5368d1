// The nodes of graphs: what each kind does, and how the work of one is changed.
#include <cstring>

#include "common/cudart/library/graphs.h"
#include "common/cudart/library/memory.h"

using namespace roofwalk::cudart;

namespace {

// Elements of one, two or four bytes, in rows.
cudaError_t set_elements(const cudaMemsetParams& how) {
  const std::size_t width_bytes = how.width * how.elementSize;
  if (how.elementSize == 1)
    return fill_rows(how.dst, {how.pitch, how.pitch, width_bytes, how.height}, static_cast<int>(how.value));
  std::string row(width_bytes, '\0');
  for (std::size_t at = 0; at < width_bytes; at += how.elementSize) std::memcpy(&row[at], &how.value, how.elementSize);
  for (std::size_t y = 0; y < how.height; ++y) {
    const cudaError_t error = copy_rows(static_cast<char*>(how.dst) + y * how.pitch, row.data(),
                                        {width_bytes, width_bytes, width_bytes, 1}, cudaMemcpyHostToDevice);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

template <class Params>
cudaError_t work_of_kernel(const Params& how, Work& work) {
  if (how.extra != nullptr) return not_served("a graph's kernel with `extra`");
  const CallConfiguration configuration{{how.gridDim.x, how.gridDim.y, how.gridDim.z},
                                        {how.blockDim.x, how.blockDim.y, how.blockDim.z},
                                        how.sharedMemBytes,
                                        nullptr,
                                        false};
  return work_of_launch(how.func, configuration, how.kernelParams, work);
}

template <class Params>
cudaError_t work_of_memset(const Params& how, Work& work) {
  if (how.elementSize != 1 && how.elementSize != 2 && how.elementSize != 4) return cudaErrorInvalidValue;
  const cudaMemsetParams copy{how.dst, how.pitch, how.value, how.elementSize, how.width, how.height};
  work = [copy] { return set_elements(copy); };
  return cudaSuccess;
}

template <class Params>
cudaError_t work_of_host(const Params& how, Work& work) {
  if (how.fn == nullptr) return cudaErrorInvalidValue;
  work = [function = how.fn, data = how.userData] {
    function(data);
    return cudaSuccess;
  };
  return cudaSuccess;
}

cudaError_t work_of_copy(const cudaMemcpy3DParms& how, Work& work) {
  work = [how] { return cudaMemcpy3D(&how); };
  return cudaSuccess;
}

cudaError_t work_of_child(cudaGraph_t child, Work& work) {
  const Graph* const graph = graph_of(child);
  if (graph == nullptr) return cudaErrorInvalidValue;
  work = [copy = std::shared_ptr<Graph>(copy_of(*graph))] { return run_graph(*copy); };
  return cudaSuccess;
}

// Adds a node, if its work could be made.
cudaError_t add(cudaGraphNode_t* out, cudaGraph_t handle, const cudaGraphNode_t* behind, std::size_t count,
                cudaGraphNodeType type, cudaError_t made, Work work) {
  Graph* const graph = graph_of(handle);
  if (made != cudaSuccess) return made;
  if (out == nullptr || graph == nullptr || (behind == nullptr && count > 0)) return cudaErrorInvalidValue;
  std::vector<const GraphNode*> before;
  for (std::size_t i = 0; i < count; ++i) before.push_back(node_of(behind[i]));
  *out = reinterpret_cast<cudaGraphNode_t>(add_node(*graph, type, std::move(work), std::move(before)));
  return cudaSuccess;
}

// Changes the work of a node, in its graph or in one that can be launched.
cudaError_t change(cudaGraphNode_t node, cudaError_t made, Work work) {
  if (made != cudaSuccess) return made;
  if (node == nullptr) return cudaErrorInvalidValue;
  node_of(node)->work = std::move(work);
  return cudaSuccess;
}
cudaError_t change(cudaGraphExec_t handle, cudaGraphNode_t node, cudaError_t made, const Work& work) {
  if (made != cudaSuccess) return made;
  const Graph* const graph = graph_of(handle);
  if (graph == nullptr) return cudaErrorInvalidValue;
  for (const auto& each : graph->nodes) {
    if (each->original != node_of(node)) continue;
    each->work = work;
    return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

// Adds or changes a node whose work is made of what the program says of it.
template <class How, class MakeWork>
cudaError_t add(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* behind, std::size_t count,
                cudaGraphNodeType type, How* how, MakeWork make_work) {
  const Lock lock(runtime().mutex);
  if (how == nullptr) return result(cudaErrorInvalidValue);
  Work work;
  const cudaError_t made = make_work(*how, work);
  return result(add(out, graph, behind, count, type, made, std::move(work)));
}
template <class How, class MakeWork, class... Place>
cudaError_t change_to(const How* how, MakeWork make_work, Place... place) {
  const Lock lock(runtime().mutex);
  if (how == nullptr) return result(cudaErrorInvalidValue);
  Work work;
  const cudaError_t made = make_work(*how, work);
  return result(change(place..., made, std::move(work)));
}

template <class Params>
cudaError_t allocate_for(cudaGraph_t handle, Params& how) {
  Graph* const graph = graph_of(handle);
  if (graph == nullptr) return cudaErrorInvalidValue;
  const cudaError_t error = allocate(&how.dptr, how.bytesize, MemoryKind::device);
  if (error == cudaSuccess && how.dptr != nullptr) graph->memory->keep(how.dptr, how.bytesize);
  return error;
}

cudaError_t work_of_any(cudaGraph_t graph, cudaGraphNodeParams& how, Work& work) {
  switch (how.type) {
    case cudaGraphNodeTypeKernel:
      return work_of_kernel(how.kernel, work);
    case cudaGraphNodeTypeMemcpy:
      return work_of_copy(how.memcpy.copyParams, work);
    case cudaGraphNodeTypeMemset:
      return work_of_memset(how.memset, work);
    case cudaGraphNodeTypeHost:
      return work_of_host(how.host, work);
    case cudaGraphNodeTypeGraph:
      return work_of_child(how.graph.graph, work);
    case cudaGraphNodeTypeMemAlloc:
      return allocate_for(graph, how.alloc);
    case cudaGraphNodeTypeMemFree:
    case cudaGraphNodeTypeEmpty:
      return cudaSuccess;
    default:
      return not_served("cudaGraphAddNode for this kind of node");
  }
}

}  // namespace

extern "C" {

cudaError_t cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* behind,
                             const cudaGraphEdgeData*, std::size_t count, cudaGraphNodeParams* how) {
  const cudaGraphNodeType type = how != nullptr ? how->type : cudaGraphNodeTypeEmpty;
  return add(out, graph, behind, count, type, how,
             [graph](cudaGraphNodeParams& any, Work& work) { return work_of_any(graph, any, work); });
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* behind,
                                   std::size_t count, const cudaKernelNodeParams* how) {
  return add(out, graph, behind, count, cudaGraphNodeTypeKernel, how, work_of_kernel<cudaKernelNodeParams>);
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* behind,
                                   std::size_t count, const cudaMemcpy3DParms* how) {
  return add(out, graph, behind, count, cudaGraphNodeTypeMemcpy, how, work_of_copy);
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* behind,
                                     std::size_t count, void* to, const void* from, std::size_t size_bytes,
                                     cudaMemcpyKind kind) {
  const Lock lock(runtime().mutex);
  const Work work = [=] { return cudaMemcpy(to, from, size_bytes, kind); };
  return result(add(out, graph, behind, count, cudaGraphNodeTypeMemcpy, cudaSuccess, work));
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* behind,
                                   std::size_t count, const cudaMemsetParams* how) {
  return add(out, graph, behind, count, cudaGraphNodeTypeMemset, how, work_of_memset<cudaMemsetParams>);
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* behind,
                                 std::size_t count, const cudaHostNodeParams* how) {
  return add(out, graph, behind, count, cudaGraphNodeTypeHost, how, work_of_host<cudaHostNodeParams>);
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* behind,
                                       std::size_t count, cudaGraph_t child) {
  const Lock lock(runtime().mutex);
  Work work;
  const cudaError_t made = work_of_child(child, work);
  return result(add(out, graph, behind, count, cudaGraphNodeTypeGraph, made, work));
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* behind,
                                  std::size_t count) {
  const Lock lock(runtime().mutex);
  return result(add(out, graph, behind, count, cudaGraphNodeTypeEmpty, cudaSuccess, {}));
}
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* behind,
                                     std::size_t count, cudaMemAllocNodeParams* how) {
  return add(out, graph, behind, count, cudaGraphNodeTypeMemAlloc, how,
             [graph](cudaMemAllocNodeParams& any, Work&) { return allocate_for(graph, any); });
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* behind,
                                    std::size_t count, void* pointer) {
  const Lock lock(runtime().mutex);
  const cudaError_t made = find_allocation(pointer) == nullptr ? cudaErrorInvalidValue : cudaSuccess;
  return result(add(out, graph, behind, count, cudaGraphNodeTypeMemFree, made, {}));
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData*, std::size_t count) {
  const Lock lock(runtime().mutex);
  if (graph_of(graph) == nullptr || ((from == nullptr || to == nullptr) && count > 0))
    return result(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) node_of(to[i])->behind.push_back(node_of(from[i]));
  return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* how) {
  return change_to(how, work_of_kernel<cudaKernelNodeParams>, node);
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* how) {
  return change_to(how, work_of_kernel<cudaKernelNodeParams>, graph, node);
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* how) {
  return change_to(how, work_of_copy, graph, node);
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t graph, cudaGraphNode_t node, void* to, const void* from,
                                               std::size_t size_bytes, cudaMemcpyKind kind) {
  const Lock lock(runtime().mutex);
  return result(change(graph, node, cudaSuccess, [=] { return cudaMemcpy(to, from, size_bytes, kind); }));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node, const cudaMemsetParams* how) {
  return change_to(how, work_of_memset<cudaMemsetParams>, graph, node);
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node, const cudaHostNodeParams* how) {
  return change_to(how, work_of_host<cudaHostNodeParams>, graph, node);
}

}  // extern "C"
