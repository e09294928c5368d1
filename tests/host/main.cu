// The smallest program around a kernel file; the compiler is told its path as KERNEL.
#include KERNEL

int main() { return solve == nullptr ? 1 : 0; }
