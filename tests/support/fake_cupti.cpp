#include "tests/support/fake_cupti.h"

#include <algorithm>
#include <cstring>

#include "common/base/check.h"

namespace roofwalk {
namespace {

FakeCupti* g_fake = nullptr;

constexpr std::size_t kConfigBytes = 48, kBytesOfRange = 16;

CUpti_Profiler_Host_Object* host_object() { return reinterpret_cast<CUpti_Profiler_Host_Object*>(0x1057); }
CUpti_RangeProfiler_Object* session_object() { return reinterpret_cast<CUpti_RangeProfiler_Object*>(0x5e55); }

}  // namespace

// The functions of the table. Each records its name, checks its parameters and does its work.
struct FakeCuptiCalls {
  static void want(bool holds, const std::string& what) {
    if (!holds) g_fake->mistakes.push_back(g_fake->calls.back() + ": " + what);
  }

  // Records the call; returns an error if this call must fail.
  template <class Params>
  static CUptiResult enter(const std::string& name, const Params& params, std::size_t size) {
    FakeCupti& fake = *g_fake;
    fake.calls.push_back(name);
    want(params.structSize == size, "the size of the parameters");
    want(params.pPriv == nullptr, "pPriv is set");
    if (fake.calls_made_++ == fake.failing_call_) return fake.failure;
    if (name == "Disable" && fake.failure_of_disable != CUPTI_SUCCESS) return fake.failure_of_disable;
    if (name == fake.failing_name_ && fake.failing_seen_++ >= fake.failing_from_) return fake.failure;
    return CUPTI_SUCCESS;
  }

#define FAKE_CALL(function, type, name)                                                 \
  static CUptiResult function(type* p) {                                                \
    const CUptiResult result = enter(name, *p, type##_STRUCT_SIZE);                     \
    const bool accepts = do_##function(*p, *g_fake, result == CUPTI_SUCCESS);           \
    return accepts || result != CUPTI_SUCCESS ? result : CUPTI_ERROR_INVALID_PARAMETER; \
  }                                                                                     \
  static bool do_##function(type& p, FakeCupti& fake, bool works)

  FAKE_CALL(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params, "Initialize") {
    (void)p;
    fake.profilers_ += works ? 1 : 0;
    return true;
  }
  FAKE_CALL(cuptiProfilerDeInitialize, CUpti_Profiler_DeInitialize_Params, "DeInitialize") {
    (void)p, (void)works;
    want(fake.profilers_-- == 1, "it was not started");
    want(fake.sessions_ == 0, "the range profiler is on");
    return true;
  }
  FAKE_CALL(cuptiProfilerDeviceSupported, CUpti_Profiler_DeviceSupported_Params, "DeviceSupported") {
    (void)works;
    want(p.api == CUPTI_PROFILER_RANGE_PROFILING, "another API is asked about");
    want(fake.profilers_ == 1, "it was not started");
    p.isSupported = fake.supported.isSupported;
    p.architecture = fake.supported.architecture;
    p.sli = fake.supported.sli;
    p.vGpu = fake.supported.vGpu;
    p.confidentialCompute = fake.supported.confidentialCompute;
    p.cmp = fake.supported.cmp;
    p.wsl = fake.supported.wsl;
    return true;
  }
  FAKE_CALL(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params, "GetChipName") {
    if (works) p.pChipName = fake.chip.c_str();
    return true;
  }

  FAKE_CALL(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize_Params, "HostInitialize") {
    want(p.profilerType == CUPTI_PROFILER_TYPE_RANGE_PROFILER, "another profiler is meant");
    want(p.pChipName != nullptr && p.pChipName == fake.chip, "another chip");
    want(p.pCounterAvailabilityImage == nullptr, "an availability image");
    if (!works) return true;
    ++fake.hosts_;
    p.pHostObject = host_object();
    return true;
  }
  FAKE_CALL(cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params, "HostDeinitialize") {
    (void)works;
    want(p.pHostObject == host_object() && fake.hosts_-- >= 1, "no host object");
    return true;
  }
  FAKE_CALL(cuptiProfilerHostGetMetricProperties, CUpti_Profiler_Host_GetMetricProperties_Params,
            "HostGetMetricProperties") {
    (void)works;
    want(p.pHostObject == host_object(), "no host object");
    return fake.unknown_metric != p.pMetricName;
  }
  FAKE_CALL(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, "HostConfigAddMetrics") {
    (void)works;
    want(p.pHostObject == host_object(), "no host object");
    fake.metrics_.assign(p.ppMetricNames, p.ppMetricNames + p.numMetrics);
    return std::find(fake.metrics_.begin(), fake.metrics_.end(), fake.unknown_metric) == fake.metrics_.end();
  }
  FAKE_CALL(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params,
            "HostGetConfigImageSize") {
    (void)fake;
    want(p.pHostObject == host_object(), "no host object");
    if (works) p.configImageSize = kConfigBytes;
    return true;
  }
  FAKE_CALL(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params, "HostGetConfigImage") {
    want(p.pHostObject == host_object() && p.configImageSize == kConfigBytes, "the image's size");
    if (!works) return true;
    std::memset(p.pConfigImage, 0xc0, p.configImageSize);
    fake.config_bytes_ = p.configImageSize;
    return true;
  }
  FAKE_CALL(cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params, "HostGetNumOfPasses") {
    want(p.configImageSize == fake.config_bytes_ && p.pConfigImage[0] == 0xc0, "no config image");
    if (works) p.numOfPasses = fake.passes;
    return true;
  }
  FAKE_CALL(cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
            "HostEvaluateToGpuValues") {
    want(p.pHostObject == host_object() && fake.decoded_, "nothing was decoded");
    want(p.counterDataImageSize == fake.image_bytes_ && p.rangeIndex < fake.labels_.size(), "no such range");
    want(p.numMetrics == fake.metrics_.size(), "other metrics than those counted");
    if (!works) return true;
    const std::size_t range = fake.reversed ? fake.labels_.size() - 1 - p.rangeIndex : p.rangeIndex;
    for (std::size_t i = 0; i < p.numMetrics; ++i) {
      if (fake.untouched_metric != p.ppMetricNames[i]) p.pMetricValues[i] = fake.value(range, p.ppMetricNames[i]);
    }
    return true;
  }

  FAKE_CALL(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable_Params, "Enable") {
    want(p.ctx != nullptr, "no context");
    want(fake.profilers_ == 1 && fake.sessions_ == 0, "it is on, or was not started");
    if (!works) return true;
    ++fake.sessions_;
    fake.image_ready_ = fake.configured_ = fake.decoded_ = false;
    fake.passes_done_ = 0;
    p.pRangeProfilerObject = session_object();
    return true;
  }
  FAKE_CALL(cuptiRangeProfilerDisable, CUpti_RangeProfiler_Disable_Params, "Disable") {
    (void)works;
    want(p.pRangeProfilerObject == session_object() && fake.sessions_-- == 1, "it is not on");
    want(!fake.started_ && !fake.in_range_, "a pass is running");
    return true;
  }
  FAKE_CALL(cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params, "GetCounterDataSize") {
    want(p.pRangeProfilerObject == session_object(), "it is not on");
    want(p.numMetrics == fake.metrics_.size(), "other metrics than those of the config");
    want(p.maxNumRangeTreeNodes >= p.maxNumOfRanges, "fewer nodes than ranges");
    if (!works) return true;
    fake.most_ranges_ = p.maxNumOfRanges;
    p.counterDataSize = fake.image_bytes_ = kBytesOfRange * p.maxNumOfRanges;
    return true;
  }
  FAKE_CALL(cuptiRangeProfilerCounterDataImageInitialize, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
            "CounterDataImageInitialize") {
    want(p.pRangeProfilerObject == session_object(), "it is not on");
    want(p.counterDataSize == fake.image_bytes_ && p.pCounterData != nullptr, "the image's size");
    fake.image_ready_ = works;
    return true;
  }
  FAKE_CALL(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig_Params, "SetConfig") {
    want(p.pRangeProfilerObject == session_object() && fake.image_ready_, "no counter data image");
    want(p.configSize == fake.config_bytes_ && p.pConfig[0] == 0xc0, "no config image");
    want(p.counterDataImageSize == fake.image_bytes_ && p.pCounterDataImage != nullptr, "the image's size");
    want(p.range == CUPTI_UserRange && p.replayMode == CUPTI_UserReplay, "not user range and user replay");
    want(p.maxRangesPerPass == fake.most_ranges_, "other ranges than the image holds");
    want(p.numNestingLevels == 1 && p.minNestingLevel == 1 && p.targetNestingLevel == 1 && p.passIndex == 0,
         "nesting or pass");
    fake.configured_ = works;
    return true;
  }
  FAKE_CALL(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start_Params, "Start") {
    want(p.pRangeProfilerObject == session_object() && fake.configured_ && !fake.started_,
         "not configured, or running");
    if (!works) return true;
    fake.started_ = true;
    fake.labels_.clear();
    return true;
  }
  FAKE_CALL(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop_Params, "Stop") {
    want(p.pRangeProfilerObject == session_object() && fake.started_ && !fake.in_range_, "not running, or in a range");
    fake.started_ = false;
    if (works) p.isAllPassSubmitted = ++fake.passes_done_ >= fake.passes_run ? 1 : 0;
    return true;
  }
  FAKE_CALL(cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange_Params, "PushRange") {
    want(p.pRangeProfilerObject == session_object() && fake.started_ && !fake.in_range_, "not running, or in a range");
    want(fake.labels_.size() < fake.most_ranges_, "more ranges than were said");
    want(std::find(fake.labels_.begin(), fake.labels_.end(), p.pRangeName) == fake.labels_.end(),
         "the same name twice");
    if (!works) return true;
    fake.in_range_ = true;
    fake.labels_.emplace_back(p.pRangeName);
    return true;
  }
  FAKE_CALL(cuptiRangeProfilerPopRange, CUpti_RangeProfiler_PopRange_Params, "PopRange") {
    (void)works;
    want(p.pRangeProfilerObject == session_object() && fake.in_range_, "no range is open");
    fake.in_range_ = false;
    return true;
  }
  FAKE_CALL(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData_Params, "DecodeData") {
    want(p.pRangeProfilerObject == session_object() && !fake.started_, "it is running");
    want(fake.passes_done_ >= fake.passes_run, "passes are left");
    fake.decoded_ = works;
    p.numOfRangeDropped = fake.dropped;
    return true;
  }
  FAKE_CALL(cuptiRangeProfilerGetCounterDataInfo, CUpti_RangeProfiler_GetCounterDataInfo_Params, "GetCounterDataInfo") {
    want(fake.decoded_ && p.counterDataImageSize == fake.image_bytes_, "nothing was decoded");
    if (works) p.numTotalRanges = fake.labels_given.empty() ? fake.labels_.size() : fake.labels_given.size();
    return true;
  }
  FAKE_CALL(cuptiRangeProfilerCounterDataGetRangeInfo, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params,
            "CounterDataGetRangeInfo") {
    want(fake.decoded_ && p.counterDataImageSize == fake.image_bytes_, "nothing was decoded");
    want(std::string("/") == p.rangeDelimiter, "no delimiter");
    const auto& labels = fake.labels_given.empty() ? fake.labels_ : fake.labels_given;
    if (works) p.rangeName = labels[fake.reversed ? labels.size() - 1 - p.rangeIndex : p.rangeIndex].c_str();
    return true;
  }
#undef FAKE_CALL

  static CUptiResult cuptiGetVersion(std::uint32_t* version) {
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
  }
};

FakeCupti::FakeCupti() {
  ROOFWALK_CHECK(g_fake == nullptr);
  g_fake = this;
  supported.isSupported = supported.architecture = supported.sli = supported.vGpu = supported.confidentialCompute =
      supported.cmp = supported.wsl = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
#define ROOFWALK_FAKE(name) api_.name = FakeCuptiCalls::name;
  ROOFWALK_CUPTI_CALLS(ROOFWALK_FAKE)
#undef ROOFWALK_FAKE
}

FakeCupti::~FakeCupti() { g_fake = nullptr; }

bool FakeCupti::is_clean() const { return profilers_ == 0 && hosts_ == 0 && sessions_ == 0 && !started_ && !in_range_; }

}  // namespace roofwalk
