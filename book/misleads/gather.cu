// Shows where the roofline misleads: adds elements in a shuffled order. Every byte is needed, but every sector is
// fetched eight times.
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n, unsigned mask) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned e = i * 2654435761u & mask;  // an odd factor only shuffles 0 ... mask
  if (i <= mask && e < static_cast<unsigned>(n)) c[e] = a[e] + b[e];
}

SOLVE(const float* a, const float* b, float* c, int n) {
  unsigned power = 1;
  while (power < static_cast<unsigned>(n)) power *= 2;
  add<<<ceil_div(static_cast<int>(power), 256), 256>>>(a, b, c, n, power - 1);
}
