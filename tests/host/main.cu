// The smallest program around a kernel file, whose path is in the macro KERNEL.
#include KERNEL

int main() { return solve == nullptr ? 1 : 0; }
