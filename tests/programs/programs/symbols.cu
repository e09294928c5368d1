// Variables of the module, in constant and in global memory, with and without initial values.
#include "check.h"

__constant__ float factors[4] = {1, 2, 3, 4};
__constant__ double offset;
__device__ int counter = 40;
__device__ float table[1000];

__global__ void use(float* out) {
  out[threadIdx.x] = factors[threadIdx.x] * static_cast<float>(offset) + table[999];
  atomicAdd(&counter, 1);
}

int main() {
  float *out, host[4];
  CHECK_CUDA(cudaMalloc(&out, sizeof host));
  const double five = 5;
  const float seven = 7, nine = 9;
  CHECK_CUDA(cudaMemcpyToSymbol(offset, &five, sizeof five));
  CHECK_CUDA(cudaMemcpyToSymbol(table, &seven, sizeof seven, 999 * sizeof(float)));
  use<<<1, 4>>>(out);
  CHECK_CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4; ++i) CHECK(host[i] == 5.0f * (i + 1) + 7);
  int count = 0;
  CHECK_CUDA(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  CHECK(count == 44);

  CHECK_CUDA(cudaMemcpyToSymbolAsync(factors, &nine, sizeof nine, 3 * sizeof(float), cudaMemcpyHostToDevice, 0));
  use<<<1, 4>>>(out);
  CHECK_CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host[3] == 9.0f * 5 + 7 && host[2] == 3.0f * 5 + 7);

  void* address = nullptr;
  std::size_t bytes = 0;
  CHECK_CUDA(cudaGetSymbolAddress(&address, table));
  CHECK_CUDA(cudaGetSymbolSize(&bytes, table));
  CHECK(bytes == sizeof table);
  CHECK_CUDA(cudaMemset(address, 0, bytes));
  use<<<1, 4>>>(out);
  CHECK_CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host[0] == 5);
  CHECK_ERROR(cudaMemcpyToSymbol(offset, &five, sizeof five, 1), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpyToSymbol(&host, &five, sizeof five), cudaErrorInvalidSymbol);
  CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidSymbol);
  CHECK_CUDA(cudaGetLastError());
  std::printf("ok\n");
}
