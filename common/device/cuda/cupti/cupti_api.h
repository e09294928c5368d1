// CUPTI as a table of function pointers, filled from libcupti.so.13 at run time, so that one program runs on machines
// with and without it; tests fill it with a fake (tests/support/fake_cupti.h).
#pragma once

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <filesystem>

#include "common/base/result.h"

namespace roofwalk {

static_assert(CUPTI_API_VERSION >= 130000, "the headers of CUPTI 13 or later are needed");

// Calls that work without a GPU, given the name of a chip.
#define ROOFWALK_CUPTI_HOST_CALLS(X)      \
  X(cuptiGetVersion)                      \
  X(cuptiProfilerHostInitialize)          \
  X(cuptiProfilerHostDeinitialize)        \
  X(cuptiProfilerHostGetMetricProperties) \
  X(cuptiProfilerHostConfigAddMetrics)    \
  X(cuptiProfilerHostGetConfigImageSize)  \
  X(cuptiProfilerHostGetConfigImage)      \
  X(cuptiProfilerHostGetNumOfPasses)      \
  X(cuptiProfilerHostEvaluateToGpuValues)

// Calls that need a driver and a context. Without a driver, some of them crash instead of failing.
#define ROOFWALK_CUPTI_TARGET_CALLS(X)            \
  X(cuptiProfilerInitialize)                      \
  X(cuptiProfilerDeInitialize)                    \
  X(cuptiProfilerDeviceSupported)                 \
  X(cuptiDeviceGetChipName)                       \
  X(cuptiRangeProfilerEnable)                     \
  X(cuptiRangeProfilerDisable)                    \
  X(cuptiRangeProfilerGetCounterDataSize)         \
  X(cuptiRangeProfilerCounterDataImageInitialize) \
  X(cuptiRangeProfilerSetConfig)                  \
  X(cuptiRangeProfilerStart)                      \
  X(cuptiRangeProfilerStop)                       \
  X(cuptiRangeProfilerPushRange)                  \
  X(cuptiRangeProfilerPopRange)                   \
  X(cuptiRangeProfilerDecodeData)                 \
  X(cuptiRangeProfilerGetCounterDataInfo)         \
  X(cuptiRangeProfilerCounterDataGetRangeInfo)

#define ROOFWALK_CUPTI_CALLS(X) ROOFWALK_CUPTI_HOST_CALLS(X) ROOFWALK_CUPTI_TARGET_CALLS(X)

struct CuptiApi {
#define ROOFWALK_MEMBER(name) decltype(&::name) name = nullptr;
  ROOFWALK_CUPTI_CALLS(ROOFWALK_MEMBER)
#undef ROOFWALK_MEMBER
};

// Declares CUPTI parameters: all zero except the size, which tells CUPTI which fields the caller knows.
#define ROOFWALK_CUPTI_PARAMS(type, name) \
  type name = {};                         \
  name.structSize = type##_STRUCT_SIZE

// Opens the toolkit's CUPTI or, if there is none, the one that the system's loader finds. An empty path means no
// toolkit. The library stays loaded, because it leaves hooks in the driver. Errors: not found; not CUPTI 13 or later.
Result<CuptiApi> load_cupti_api(const std::filesystem::path& toolkit_root, const char* library = "libcupti.so.13");

}  // namespace roofwalk
