// For the programs of this folder: a check that fails says where, and ends the program with 1.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (false)

#define CHECK_CUDA(call) CHECK_ERROR(call, cudaSuccess)

#define CHECK_ERROR(call, wanted)                                                          \
  do {                                                                                     \
    const cudaError_t error_ = (call);                                                     \
    if (error_ != (wanted)) {                                                              \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(error_)); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (false)
