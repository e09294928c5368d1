// CUPTI as a table of function pointers: filled from libcupti.so.13 at run time, so that one program starts on machines
// with and without it, or by a test with a CUPTI of its own (tests/support/fake_cupti.h).
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

// The calls that work without a GPU, from the name of a chip alone.
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

// The calls that need a driver and a context. Without a driver some of them do not fail but crash.
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

// CUPTI's parameters: all zero but the size, which says how many fields the caller knows.
#define ROOFWALK_CUPTI_PARAMS(type, name) \
  type name = {};                         \
  name.structSize = type##_STRUCT_SIZE

// Opens the CUPTI that came with the toolkit, else the one that the system's loader finds. The library stays loaded: it
// leaves hooks in the driver. An empty path: no toolkit. Errors: there is none, or it is not CUPTI 13 or later.
Result<CuptiApi> load_cupti_api(const std::filesystem::path& toolkit_root, const char* library = "libcupti.so.13");

}  // namespace roofwalk
