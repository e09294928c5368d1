// Graphs as a whole: making, copying, launching and looking at them.
#include "common/cudart/library/graphs.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "common/cudart/library/memory.h"
#include "common/cudart/library/runtime.h"

using namespace roofwalk::cudart;

namespace {

struct Graphs {
  std::set<Graph*> all, executable;
  struct Memory {
    std::size_t size_bytes = 0;
    bool is_free = false;
  };
  std::map<const void*, Memory> memory;  // of nodes
};

Graphs& graphs() {
  static auto* const all = new Graphs;
  return *all;
}

cudaGraphNode_t handle_of_node(const GraphNode* node) {
  return reinterpret_cast<cudaGraphNode_t>(const_cast<GraphNode*>(node));
}

// The nodes in an order in which each stands behind those that it depends on; fewer than all if there is a cycle.
std::vector<const GraphNode*> in_order(const Graph& graph) {
  std::vector<const GraphNode*> order;
  std::set<const GraphNode*> done;
  for (bool has_more = true; has_more;) {
    has_more = false;
    for (const auto& node : graph.nodes) {
      const bool is_ready = std::all_of(node->behind.begin(), node->behind.end(),
                                        [&](const GraphNode* before) { return done.contains(before); });
      if (!is_ready || !done.insert(node.get()).second) continue;
      order.push_back(node.get());
      has_more = true;
    }
  }
  return order;
}

// Answers with handles, as many as there is room for, and with their number.
cudaError_t answer(const std::vector<const GraphNode*>& found, cudaGraphNode_t* out, std::size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  for (std::size_t i = 0; out != nullptr && i < *count; ++i)
    out[i] = i < found.size() ? handle_of_node(found[i]) : nullptr;
  *count = out == nullptr ? found.size() : std::min(*count, found.size());
  return cudaSuccess;
}

cudaError_t instantiate(cudaGraphExec_t* out, cudaGraph_t handle) {
  if (const cudaError_t error = ready(); error != cudaSuccess) return error;
  const Graph* const graph = graph_of(handle);
  if (out == nullptr || graph == nullptr || in_order(*graph).size() != graph->nodes.size())
    return cudaErrorInvalidValue;
  Graph* const made = copy_of(*graph).release();
  graphs().executable.insert(made);
  *out = reinterpret_cast<cudaGraphExec_t>(made);
  return cudaSuccess;
}

}  // namespace

namespace roofwalk::cudart {

GraphMemory::~GraphMemory() {
  const Lock lock(runtime().mutex);
  for (void* const pointer : pointers_) {
    graphs().memory.erase(pointer);
    release(pointer, /*is_pinned=*/false);
  }
}

void GraphMemory::keep(void* pointer, std::size_t size_bytes) {
  pointers_.push_back(pointer);
  graphs().memory[pointer] = {size_bytes};
}

void GraphMemory::allocate_again() {
  for (void* const pointer : pointers_) graphs().memory[pointer].is_free = false;
}

std::optional<cudaError_t> free_of_graph(const void* address) {
  const auto at = graphs().memory.find(address);
  if (at == graphs().memory.end()) return std::nullopt;
  return std::exchange(at->second.is_free, true) ? cudaErrorInvalidValue : cudaSuccess;
}

Graph* graph_of(cudaGraph_t graph) {
  auto* const found = reinterpret_cast<Graph*>(graph);
  return graphs().all.contains(found) ? found : nullptr;
}

Graph* graph_of(cudaGraphExec_t graph) {
  auto* const found = reinterpret_cast<Graph*>(graph);
  return graphs().executable.contains(found) ? found : nullptr;
}

cudaGraph_t handle_of(std::unique_ptr<Graph> graph) {
  graphs().all.insert(graph.get());
  return reinterpret_cast<cudaGraph_t>(graph.release());
}

GraphNode* add_node(Graph& graph, cudaGraphNodeType type, Work work, std::vector<const GraphNode*> behind) {
  auto node = std::make_unique<GraphNode>();
  node->type = type;
  node->work = std::move(work);
  node->behind = std::move(behind);
  graph.nodes.push_back(std::move(node));
  return graph.nodes.back().get();
}

std::unique_ptr<Graph> copy_of(const Graph& graph) {
  auto copy = std::make_unique<Graph>();
  copy->memory = graph.memory;
  std::map<const GraphNode*, const GraphNode*> copies;
  for (const auto& node : graph.nodes) {
    copy->nodes.push_back(std::make_unique<GraphNode>(*node));
    copy->nodes.back()->original = node.get();
    copies[node.get()] = copy->nodes.back().get();
  }
  for (const auto& node : copy->nodes) {
    for (const GraphNode*& before : node->behind) before = copies.at(before);
  }
  return copy;
}

cudaError_t run_graph(const Graph& graph) {
  {
    const Lock lock(runtime().mutex);
    graph.memory->allocate_again();
  }
  for (const GraphNode* const node : in_order(graph)) {
    if (!node->is_enabled || !node->work) continue;
    if (node->type == cudaGraphNodeTypeHost || node->type == cudaGraphNodeTypeGraph) {
      if (const cudaError_t error = node->work(); error != cudaSuccess) return error;
      continue;
    }
    const Lock lock(runtime().mutex);
    if (const cudaError_t error = ready(); error != cudaSuccess) return error;
    if (const cudaError_t error = node->work(); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace roofwalk::cudart

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* out, unsigned flags) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  if (out == nullptr || flags != 0) return result(cudaErrorInvalidValue);
  *out = handle_of(std::make_unique<Graph>());
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  const Lock lock(runtime().mutex);
  Graph* const graph = graph_of(handle);
  if (graph == nullptr) return result(cudaErrorInvalidValue);
  graphs().all.erase(graph);
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphClone(cudaGraph_t* out, cudaGraph_t handle) {
  const Lock lock(runtime().mutex);
  const Graph* const graph = graph_of(handle);
  if (out == nullptr || graph == nullptr) return result(cudaErrorInvalidValue);
  *out = handle_of(copy_of(*graph));
  return cudaSuccess;
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* out, cudaGraphNode_t original, cudaGraph_t clone) {
  const Lock lock(runtime().mutex);
  const Graph* const graph = graph_of(clone);
  if (out == nullptr || graph == nullptr) return result(cudaErrorInvalidValue);
  for (const auto& node : graph->nodes) {
    if (node->original != node_of(original)) continue;
    *out = handle_of_node(node.get());
    return cudaSuccess;
  }
  return result(cudaErrorInvalidValue);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long) {
  const Lock lock(runtime().mutex);
  return result(instantiate(out, graph));
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(out, graph, flags);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  const Lock lock(runtime().mutex);
  Graph* const graph = graph_of(handle);
  if (graph == nullptr) return result(cudaErrorInvalidValue);
  graphs().executable.erase(graph);
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t stream) {
  const Lock lock(runtime().mutex);
  return result(graph_of(handle) != nullptr && is_stream(stream) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream) {
  std::shared_ptr<Graph> graph;
  {
    const Lock lock(runtime().mutex);
    if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
    if (graph_of(handle) == nullptr) return result(cudaErrorInvalidValue);
    if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    graph = copy_of(*graph_of(handle));
    if (captures(stream)) return result(capture(stream, cudaGraphNodeTypeGraph, [graph] { return run_graph(*graph); }));
  }
  return result(run_graph(*graph));
}

// Takes the work of a graph whose nodes and dependencies are the same.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t from, cudaGraphExecUpdateResultInfo* info) {
  const Lock lock(runtime().mutex);
  Graph* const graph = graph_of(handle);
  const Graph* const wanted = graph_of(from);
  if (graph == nullptr || wanted == nullptr || info == nullptr) return result(cudaErrorInvalidValue);
  *info = {};
  const auto same_place = [](const Graph& a, const Graph& b) {
    return a.nodes.size() == b.nodes.size() &&
           std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(),
                      [](const auto& left, const auto& right) { return left->behind.size() == right->behind.size(); });
  };
  if (!same_place(*graph, *wanted)) {
    info->result = cudaGraphExecUpdateErrorTopologyChanged;
    return result(cudaErrorGraphExecUpdateFailure);
  }
  for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
    if (graph->nodes[i]->type == wanted->nodes[i]->type) continue;
    info->result = cudaGraphExecUpdateErrorNodeTypeChanged;
    return result(cudaErrorGraphExecUpdateFailure);
  }
  for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
    graph->nodes[i]->work = wanted->nodes[i]->work;
    graph->nodes[i]->original = wanted->nodes[i].get();
  }
  info->result = cudaGraphExecUpdateSuccess;
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* out, std::size_t* count) {
  const Lock lock(runtime().mutex);
  const Graph* const graph = graph_of(handle);
  if (graph == nullptr) return result(cudaErrorInvalidValue);
  std::vector<const GraphNode*> found;
  for (const auto& node : graph->nodes) found.push_back(node.get());
  return result(answer(found, out, count));
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* out, std::size_t* count) {
  const Lock lock(runtime().mutex);
  const Graph* const graph = graph_of(handle);
  if (graph == nullptr) return result(cudaErrorInvalidValue);
  std::vector<const GraphNode*> found;
  for (const auto& node : graph->nodes) {
    if (node->behind.empty()) found.push_back(node.get());
  }
  return result(answer(found, out, count));
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* out) {
  if (node == nullptr || out == nullptr) return result(cudaErrorInvalidValue);
  *out = node_of(node)->type;
  return cudaSuccess;
}
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t handle, cudaGraphNode_t node, unsigned is_enabled) {
  const Lock lock(runtime().mutex);
  Graph* const graph = graph_of(handle);
  if (graph == nullptr) return result(cudaErrorInvalidValue);
  for (const auto& each : graph->nodes) {
    if (each->original != node_of(node)) continue;
    each->is_enabled = is_enabled != 0;
    return cudaSuccess;
  }
  return result(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGraphMemTrim(int device) { return cudaSetDevice(device); }
cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType, void* out) {
  const Lock lock(runtime().mutex);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  std::uint64_t used_bytes = 0;
  for (const auto& [pointer, memory] : graphs().memory) used_bytes += memory.is_free ? 0 : memory.size_bytes;
  std::memcpy(out, &used_bytes, sizeof used_bytes);
  return cudaSetDevice(device);
}
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType, void*) {
  return cudaSetDevice(device);
}

ROOFWALK_PER_THREAD(cudaGraphLaunch, cudaGraphLaunch_ptsz)
ROOFWALK_PER_THREAD(cudaGraphUpload, cudaGraphUpload_ptsz)

}  // extern "C"
