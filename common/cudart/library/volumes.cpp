// Copies and memsets in three dimensions, of memory with pitches. Arrays of textures are not served.
#include "common/cudart/library/graphs.h"
#include "common/cudart/library/memory.h"

using namespace roofwalk::cudart;

namespace {

// Where a copy begins in memory with pitches. Positions and widths count bytes, heights rows.
char* begin_of(const cudaPitchedPtr& memory, const cudaPos& position) {
  return static_cast<char*>(memory.ptr) + (position.z * memory.ysize + position.y) * memory.pitch + position.x;
}

// Whether the rows of the extent lie in the memory, from the position on.
bool is_inside(const cudaPitchedPtr& memory, const cudaPos& position, const cudaExtent& extent) {
  return position.x + extent.width <= memory.pitch && (extent.depth <= 1 || extent.height <= memory.ysize);
}

cudaError_t copy_volume(const cudaMemcpy3DParms* how) {
  if (how == nullptr) return cudaErrorInvalidValue;
  if (how->srcArray != nullptr || how->dstArray != nullptr) return not_served("cudaMemcpy3D with arrays");
  const cudaExtent& extent = how->extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
  if (how->srcPtr.ptr == nullptr || how->dstPtr.ptr == nullptr) return cudaErrorInvalidValue;
  if (!is_inside(how->srcPtr, how->srcPos, extent) || !is_inside(how->dstPtr, how->dstPos, extent))
    return cudaErrorInvalidValue;
  const Rows rows{.to_pitch_bytes = how->dstPtr.pitch,
                  .from_pitch_bytes = how->srcPtr.pitch,
                  .width_bytes = extent.width,
                  .count = extent.height,
                  .to_slice_bytes = how->dstPtr.pitch * how->dstPtr.ysize,
                  .from_slice_bytes = how->srcPtr.pitch * how->srcPtr.ysize,
                  .slices = extent.depth};
  return copy_rows(begin_of(how->dstPtr, how->dstPos), begin_of(how->srcPtr, how->srcPos), rows, how->kind);
}

}  // namespace

extern "C" {

// Of arrays and textures, only this is there, as it has no error to return.
cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) {
  if (out == nullptr) return result(cudaErrorInvalidValue);
  const std::size_t pitch_bytes = whole_pitch(extent.width);
  *out = {nullptr, pitch_bytes, extent.width, extent.height};
  return result(allocate(&out->ptr, pitch_bytes * extent.height * extent.depth, MemoryKind::device));
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* how) { return result(copy_volume(how)); }
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* how, cudaStream_t stream) {
  if (how == nullptr) return result(cudaErrorInvalidValue);
  return result(in_stream(stream, cudaGraphNodeTypeMemcpy, [kept = *how] { return cudaMemcpy3D(&kept); }));
}

cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
  if (!is_inside(memory, {}, extent)) return result(cudaErrorInvalidValue);
  const Rows rows{.to_pitch_bytes = memory.pitch,
                  .from_pitch_bytes = memory.pitch,
                  .width_bytes = extent.width,
                  .count = extent.height,
                  .to_slice_bytes = memory.pitch * memory.ysize,
                  .from_slice_bytes = 0,
                  .slices = extent.depth};
  return result(fill_rows(memory.ptr, rows, value));
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent, cudaStream_t stream) {
  return result(in_stream(stream, cudaGraphNodeTypeMemset, [=] { return cudaMemset3D(memory, value, extent); }));
}

ROOFWALK_PER_THREAD(cudaMemcpy3D, cudaMemcpy3D_ptds)
ROOFWALK_PER_THREAD(cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz)
ROOFWALK_PER_THREAD(cudaMemset3D, cudaMemset3D_ptds)
ROOFWALK_PER_THREAD(cudaMemset3DAsync, cudaMemset3DAsync_ptsz)

}  // extern "C"
