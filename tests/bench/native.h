// What the virtual GPU's speed is set beside: the same arithmetic in plain loops on the host, without vectors.
#pragma once

namespace roofwalk::test {

// c = a b, n x n, i-j-k.
void native_gemm(const float* a, const float* b, float* c, int n);
void native_vector_add(const float* a, const float* b, float* c, int n);

}  // namespace roofwalk::test
