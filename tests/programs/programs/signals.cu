// Signals that come into the middle of calls: their handler calls the runtime, too. Then one of two threads forks, and
// the new process gets an error at once.
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "check.h"

__global__ void spin(int* x) {
  for (int i = 0; i < 20000; ++i) atomicAdd(x, 1);
}

volatile std::sig_atomic_t signals = 0, wrong = 0;

int* other;  // memory of the handler's own

void handle(int) {
  signals = signals + 1;
  const cudaError_t error = cudaMemset(other, 0, sizeof *other);  // refused, or done between two calls
  if (error != cudaSuccess && error != cudaErrorNotPermitted) wrong = 1;
}

int main() {
  int *x, host = 0;
  CHECK_CUDA(cudaMalloc(&x, sizeof *x));
  CHECK_CUDA(cudaMemset(x, 0, sizeof *x));
  CHECK_CUDA(cudaMalloc(&other, sizeof *other));
  std::signal(SIGALRM, handle);
  itimerval every = {};
  every.it_interval.tv_usec = every.it_value.tv_usec = 2000;
  setitimer(ITIMER_REAL, &every, nullptr);
  const int launches = 40;
  for (int i = 0; i < launches; ++i) spin<<<1, 32>>>(x);
  CHECK_CUDA(cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost));
  setitimer(ITIMER_REAL, nullptr, nullptr);
  CHECK(host == launches * 32 * 20000);
  CHECK(signals > 0 && wrong == 0);

  std::atomic<bool> ends = false;
  std::thread busy([&] {
    while (!ends) spin<<<1, 32>>>(x);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(cudaDeviceSynchronize() == cudaErrorInitializationError ? 5 : 6);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5);
  }
  ends = true;
  busy.join();
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf("ok\n");
}
