// Eight threads with a stream each, then a forked process, which has no GPU; then the end without freeing, by signal.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <vector>

#include "check.h"

__global__ void count(int* x) { atomicAdd(x, 1); }

void work(int* sum) {
  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreate(&stream));
  int* own;
  CHECK_CUDA(cudaMalloc(&own, sizeof(int)));
  CHECK_CUDA(cudaMemsetAsync(own, 0, sizeof(int), stream));
  for (int i = 0; i < 10; ++i) count<<<2, 32, 0, stream>>>(own);
  count<<<1, 1, 0, stream>>>(sum);
  int host = 0;
  CHECK_CUDA(cudaMemcpyAsync(&host, own, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK(host == 10 * 64);
  CHECK_CUDA(cudaFree(own));
}

int main() {
  int *sum, host = 0;
  CHECK_CUDA(cudaMalloc(&sum, sizeof(int)));
  CHECK_CUDA(cudaMemset(sum, 0, sizeof(int)));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(work, sum);
  for (std::thread& each : threads) each.join();
  CHECK_CUDA(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host == 8);
  const pid_t child = fork();
  if (child == 0) _exit(cudaDeviceSynchronize() == cudaErrorInitializationError ? 5 : 6);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf("ok\n");
  std::fflush(stdout);
  std::raise(SIGKILL);
}
