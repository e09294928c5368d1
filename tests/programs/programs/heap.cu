// Memory that kernels take with malloc() and new, and hand to later kernels. With an argument, what free() refuses.
#include "check.h"

struct Node {
  int value;
  Node* next;
};

// Each thread makes a list of its own, of its number and one more element.
__global__ void make(Node** heads, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Node* head = nullptr;
  for (int k = 0; k <= i % 5; ++k) head = new Node{i * 10 + k, head};
  heads[i] = head;
}

__global__ void add_up_and_free(Node** heads, int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (Node* node = heads[i]; node != nullptr;) {
    Node* const next = node->next;
    sum += node->value;
    delete node;
    node = next;
  }
  sums[i] = sum;
}

__global__ void take(void** out, std::size_t size) { *out = malloc(size); }
__global__ void give(void** pointer, int offset) { free(static_cast<char*>(*pointer) + offset); }

int main(int argc, char**) {
  const int n = 300;
  Node** heads;
  void **pointer, *seen = nullptr;
  int *sums, host[n];
  CHECK_CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
  CHECK_CUDA(cudaMalloc(&heads, n * sizeof(Node*)));
  CHECK_CUDA(cudaMalloc(&sums, sizeof host));
  CHECK_CUDA(cudaMalloc(&pointer, sizeof *pointer));
  for (int round = 0; round < 3; ++round) {
    make<<<3, 128>>>(heads, n);
    add_up_and_free<<<3, 128>>>(heads, sums, n);
    CHECK_CUDA(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) {
      const int count = i % 5 + 1;
      CHECK(host[i] == count * i * 10 + count * (count - 1) / 2);
    }
  }
  // All of the heap is free again; more there is not.
  for (const std::size_t size : {(std::size_t{1} << 20) + 1, std::size_t{1} << 20}) {
    take<<<1, 1>>>(pointer, size);
    CHECK_CUDA(cudaMemcpy(&seen, pointer, sizeof seen, cudaMemcpyDeviceToHost));
    CHECK((seen == nullptr) == (size > 1 << 20));
  }
  if (argc > 1) {
    give<<<1, 1>>>(pointer, 16);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 5;
  }
  give<<<1, 1>>>(pointer, 0);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf("ok\n");
}
