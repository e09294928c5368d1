// Graphs of work. The work of a node is kept as a function; a launch runs all, one after the other, each behind those
// that it depends on. A stream that captures adds what it is given to its graph in place of running it.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <vector>

#include "common/cudart/library/runtime.h"

namespace roofwalk::cudart {

using Work = std::function<cudaError_t()>;

struct GraphNode {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  Work work;                             // empty: nothing to do
  std::vector<const GraphNode*> behind;  // nodes of the same graph that it depends on
  const GraphNode* original = nullptr;   // of a copy, as in a graph that can be launched
  bool is_enabled = true;
};

// What a graph's nodes allocate: there from the beginning, and as long as a copy of the graph is. What the program
// frees is there again from the next launch on.
class GraphMemory {
 public:
  GraphMemory() = default;
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  void keep(void* pointer, std::size_t size_bytes);
  void allocate_again();

 private:
  std::vector<void*> pointers_;
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;  // in the order in which they were added
  std::shared_ptr<GraphMemory> memory = std::make_shared<GraphMemory>();
};

// nullptr: there is no such graph.
Graph* graph_of(cudaGraph_t graph);
Graph* graph_of(cudaGraphExec_t graph);
inline GraphNode* node_of(cudaGraphNode_t node) { return reinterpret_cast<GraphNode*>(node); }
GraphNode* add_node(Graph& graph, cudaGraphNodeType type, Work work, std::vector<const GraphNode*> behind);
// The same nodes, which know their originals.
std::unique_ptr<Graph> copy_of(const Graph& graph);
// Runs the nodes. The caller has not locked the runtime, as functions of the host run without it.
cudaError_t run_graph(const Graph& graph);
// A graph of the program, from now on.
cudaGraph_t handle_of(std::unique_ptr<Graph> graph);

// Whether a stream captures; then what it is given is captured by `capture`. Both with the runtime locked.
bool captures(cudaStream_t stream);
cudaError_t capture(cudaStream_t stream, cudaGraphNodeType type, Work work);
// An event that is recorded in a stream that captures, and a stream that waits for such an event.
void capture_event(cudaStream_t stream, cudaEvent_t event);
bool wait_for_captured(cudaStream_t stream, cudaEvent_t event);
void forget_captures(cudaStream_t stream);

// Does what a stream is given, or captures it.
template <class Do>
cudaError_t in_stream(cudaStream_t stream, cudaGraphNodeType type, Do work) {
  const Lock lock(runtime().mutex);
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  return captures(stream) ? capture(stream, type, work) : work();
}

// The work of a launch (launches.cpp).
cudaError_t work_of_launch(const void* stub, const CallConfiguration& how, void** arguments, Work& work);

}  // namespace roofwalk::cudart
