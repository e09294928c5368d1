#include "common/device/cuda/cold_cache.h"

#include <algorithm>

#include "common/device/cuda/cuda_errors.h"

namespace roofwalk {
namespace {

constexpr unsigned kBlockThreads = 512;
constexpr std::uint64_t kVectorBytes = 16;

// A grid-stride loop over 16-byte loads; .cg bypasses L1. The result is stored only if it is not zero. That never
// happens, because the buffer contains zeros, so no cache line becomes dirty; but the compiler cannot drop the loads.
constexpr std::string_view kPtx = R"(.version 7.0
.target sm_75
.address_size 64

.visible .entry read_all_of_l2(
	.param .u64 buffer,
	.param .u64 vectors,
	.param .u32 rounds
)
{
	.reg .pred %p<4>;
	.reg .b32 %r<16>;
	.reg .b64 %rd<8>;

	ld.param.u64 %rd1, [buffer];
	ld.param.u64 %rd2, [vectors];
	ld.param.u32 %r1, [rounds];
	cvta.to.global.u64 %rd1, %rd1;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mov.u32 %r5, %nctaid.x;
	mul.wide.u32 %rd3, %r2, %r3;
	cvt.u64.u32 %rd4, %r4;
	add.s64 %rd3, %rd3, %rd4;
	mul.wide.u32 %rd4, %r5, %r3;
	mov.u32 %r6, 0;
ROUND:
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra DONE;
	mov.u64 %rd5, %rd3;
VECTOR:
	setp.ge.u64 %p2, %rd5, %rd2;
	@%p2 bra NEXT;
	shl.b64 %rd6, %rd5, 4;
	add.s64 %rd6, %rd1, %rd6;
	ld.global.cg.v4.u32 {%r7, %r8, %r9, %r10}, [%rd6];
	or.b32 %r7, %r7, %r8;
	or.b32 %r9, %r9, %r10;
	or.b32 %r7, %r7, %r9;
	or.b32 %r6, %r6, %r7;
	add.s64 %rd5, %rd5, %rd4;
	bra VECTOR;
NEXT:
	sub.u32 %r1, %r1, 1;
	bra ROUND;
DONE:
	setp.eq.u32 %p3, %r6, 0;
	@%p3 bra END;
	st.global.u32 [%rd1], %r6;
END:
	ret;
}
)";

}  // namespace

std::string_view ColdCache::ptx() { return kPtx; }

ColdCache::~ColdCache() {
  if (buffer_ != 0) api_->cuMemFree(buffer_);
  if (module_ != nullptr) api_->cuModuleUnload(module_);
}

Status ColdCache::open(const DriverApi& api, const GpuProperties& gpu) {
  api_ = &api;
  may_persist_ = gpu.persisting_l2_bytes > 0;
  constexpr std::uint64_t kLeast = 1 << 20;  // used if the driver does not report the size of L2
  constexpr std::uint64_t kTimesL2 = 8;
  bytes_ =
      std::max<std::uint64_t>(kTimesL2 * static_cast<std::uint64_t>(std::max<std::int64_t>(gpu.l2_bytes, 0)), kLeast);
  blocks_ =
      static_cast<unsigned>(gpu.sms) * std::max(1u, static_cast<unsigned>(gpu.max_threads_per_sm) / kBlockThreads);
  CUresult code = give_back();
  // On a slice of a GPU or under MPS, nothing can be set aside in L2, so there is nothing to release.
  if (code == CUDA_ERROR_UNSUPPORTED_LIMIT || code == CUDA_ERROR_NOT_SUPPORTED || code == CUDA_ERROR_NOT_PERMITTED) {
    may_persist_ = false;
    code = CUDA_SUCCESS;
  }
  if (code != CUDA_SUCCESS) return cuda_error(api, code, "give back the part of L2 that is set aside");
  code = api.cuModuleLoadDataEx(&module_, kPtx.data(), 0, nullptr, nullptr);
  if (code != CUDA_SUCCESS) return cuda_error(api, code, "load the kernel that empties L2");
  code = api.cuModuleGetFunction(&kernel_, module_, kKernel);
  if (code == CUDA_SUCCESS) code = api.cuMemAlloc(&buffer_, bytes_);
  if (code == CUDA_SUCCESS) code = api.cuMemsetD8Async(buffer_, 0, bytes_, nullptr);
  if (code != CUDA_SUCCESS) return cuda_error(api, code, "set aside the memory that empties L2");
  return kOk;
}

CUresult ColdCache::give_back() const {
  if (!may_persist_) return CUDA_SUCCESS;
  const CUresult code = api_->cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
  return code == CUDA_SUCCESS ? api_->cuCtxResetPersistingL2Cache() : code;
}

CUresult ColdCache::sweep(CUstream stream, std::uint32_t rounds) const {
  if (const CUresult code = give_back(); code != CUDA_SUCCESS) return code;
  CUdeviceptr buffer = buffer_;
  std::uint64_t vectors = bytes_ / kVectorBytes;
  void* parameters[] = {&buffer, &vectors, &rounds};
  return api_->cuLaunchKernel(kernel_, blocks_, 1, 1, kBlockThreads, 1, 1, 0, stream, parameters, nullptr);
}

}  // namespace roofwalk
