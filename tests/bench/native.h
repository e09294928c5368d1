// Native references for the virtual GPU's speed: the same work in plain loops on the host, without vectorization.
#pragma once

namespace roofwalk::test {

// Computes c = a b for n x n matrices, with loops in the order i, j, k.
void native_gemm(const float* a, const float* b, float* c, int n);
void native_vector_add(const float* a, const float* b, float* c, int n);

// Do the work of kernels/divergent.cu, gather.cu and histogram.cu.
void native_divergent(const float* a, const float* b, float* c, int n);
void native_gather(const float* a, const float* b, float* c, int n);
void native_histogram(const float* a, float* c, int n);
// Does the work of chapter 5, layernorm.
void native_layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols,
                      float epsilon);

}  // namespace roofwalk::test
