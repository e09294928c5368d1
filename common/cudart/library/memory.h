// Memory of the device in the library: what several of its files need.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>

#include "common/cudart/library/runtime.h"

namespace roofwalk::cudart {

// What a copy moves, or a memset fills (`to`): rows of one slice after the other. Pitches lead from row to row,
// `..._slice_bytes` from slice to slice.
struct Rows {
  std::size_t to_pitch_bytes = 0, from_pitch_bytes = 0, width_bytes = 0, count = 1;
  std::size_t to_slice_bytes = 0, from_slice_bytes = 0, slices = 1;

  bool is_empty() const { return width_bytes == 0 || count == 0 || slices == 0; }
  // From the first byte to the last; not of empty ones.
  std::size_t extent_bytes(std::size_t pitch_bytes, std::size_t slice_bytes) const {
    return (slices - 1) * slice_bytes + (count - 1) * pitch_bytes + width_bytes;
  }
};

// The pitch of rows of cudaMallocPitch: a multiple of what GPUs align them to.
inline std::size_t whole_pitch(std::size_t width_bytes) {
  constexpr std::size_t kPitchBytes = 512;
  return (width_bytes + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
}

cudaError_t allocate(void** out, std::size_t size_bytes, MemoryKind kind);
cudaError_t release(void* address, bool is_pinned);
void forget_pool_of(const void* address);  // what is freed belongs to none
// Frees memory of a graph, which keeps the address: its next launch allocates it again. nullopt: no graph has it.
std::optional<cudaError_t> free_of_graph(const void* address);
cudaError_t copy_rows(void* to, const void* from, const Rows& rows, cudaMemcpyKind kind);
cudaError_t fill_rows(void* pointer, const Rows& rows, int value);

}  // namespace roofwalk::cudart
