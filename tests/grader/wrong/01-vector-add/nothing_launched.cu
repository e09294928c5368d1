// verdict: incorrect, was never written
// An empty plan is a legal one. It computes nothing.
#include <roofwalk.cuh>

SOLVE(const float* a, const float* b, float* c, int n) {}
