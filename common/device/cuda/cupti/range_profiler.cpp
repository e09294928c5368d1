#include "common/device/cuda/cupti/range_profiler.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "common/device/cuda/cupti/cupti_errors.h"

namespace roofwalk {

Status CuptiResults::check(CUptiResult result, std::string_view call) {
  if (result == CUPTI_SUCCESS) return kOk;
  if (first_ == CUPTI_SUCCESS) first_ = result;
  return cupti_error(result, call);
}

std::string CuptiResults::cause() const {
  const CuptiTrouble* row = find_cupti_trouble(first_);
  return row == nullptr ? "other" : std::string(row->id);
}

CuptiProfiler::~CuptiProfiler() {
  if (!started_) return;
  ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_DeInitialize_Params, params);
  api_.cuptiProfilerDeInitialize(&params);
}

Status CuptiProfiler::start(CuptiResults& results) {
  ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
  CUptiResult result = api_.cuptiProfilerInitialize(&params);
  // The call returns UNKNOWN both if there is no driver and if the driver does not answer.
  if (result == CUPTI_ERROR_UNKNOWN) result = CUPTI_ERROR_NOT_INITIALIZED;
  ROOFWALK_TRY_STATUS(results.check(result, "cuptiProfilerInitialize"));
  started_ = true;
  return kOk;
}

CuptiMetricSet::CuptiMetricSet(const CuptiApi& api, std::vector<std::string> names)
    : api_(api), names_(std::move(names)) {
  for (const std::string& name : names_) pointers_.push_back(name.c_str());
}

CuptiMetricSet::~CuptiMetricSet() {
  if (host_ == nullptr) return;
  ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
  params.pHostObject = host_;
  api_.cuptiProfilerHostDeinitialize(&params);
}

Status CuptiMetricSet::make(CuptiResults& results, const std::string& chip) {
  {
    // CUPTI is not told which counters this GPU has (no image of them is passed), so those that it lacks become NaN.
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip.c_str();
    ROOFWALK_CUPTI_TRY(api_, results, cuptiProfilerHostInitialize, params);
    host_ = params.pHostObject;
  }
  // A single unknown name fails the whole set, and CUPTI does not say which name it is, so each is checked.
  for (const std::string& name : names_) {
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, params);
    params.pHostObject = host_;
    params.pMetricName = name.c_str();
    if (auto status = results.check(api_.cuptiProfilerHostGetMetricProperties(&params), "GetMetricProperties");
        !status) {
      Error error = status.error();
      return Error{.message = fmt::format("no counters: CUPTI does not have {} for the {}", name, chip),
                   .advice = std::move(error.advice)};
    }
  }
  {
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, params);
    params.pHostObject = host_;
    params.ppMetricNames = names();
    params.numMetrics = names_.size();
    ROOFWALK_CUPTI_TRY(api_, results, cuptiProfilerHostConfigAddMetrics, params);
  }
  {
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, params);
    params.pHostObject = host_;
    ROOFWALK_CUPTI_TRY(api_, results, cuptiProfilerHostGetConfigImageSize, params);
    config_.resize(params.configImageSize);
  }
  {
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, params);
    params.pHostObject = host_;
    params.configImageSize = config_.size();
    params.pConfigImage = config_.data();
    ROOFWALK_CUPTI_TRY(api_, results, cuptiProfilerHostGetConfigImage, params);
  }
  ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, params);
  params.configImageSize = config_.size();
  params.pConfigImage = config_.data();
  ROOFWALK_CUPTI_TRY(api_, results, cuptiProfilerHostGetNumOfPasses, params);
  passes_ = params.numOfPasses;
  return kOk;
}

Result<std::map<std::string, double>> CuptiMetricSet::evaluate(CuptiResults& results,
                                                               const std::vector<std::uint8_t>& image,
                                                               std::size_t range) const {
  // NaN in case CUPTI does not write a value.
  std::vector<double> values(names_.size(), std::numeric_limits<double>::quiet_NaN());
  ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
  params.pHostObject = host_;
  params.pCounterDataImage = image.data();
  params.counterDataImageSize = image.size();
  params.rangeIndex = range;
  params.ppMetricNames = names();
  params.numMetrics = names_.size();
  params.pMetricValues = values.data();
  ROOFWALK_CUPTI_TRY(api_, results, cuptiProfilerHostEvaluateToGpuValues, params);
  std::map<std::string, double> by_name;
  for (std::size_t i = 0; i < names_.size(); ++i) by_name[names_[i]] = values[i];
  return by_name;
}

RangeSession::~RangeSession() {
  if (object_ != nullptr) (void)disable();
}

Status RangeSession::enable(CUcontext context) {
  ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, params);
  params.ctx = context;
  ROOFWALK_CUPTI_TRY(api_, results_, cuptiRangeProfilerEnable, params);
  object_ = params.pRangeProfilerObject;
  return kOk;
}

Status RangeSession::configure(const CuptiMetricSet& set, std::size_t most_ranges, std::vector<std::uint8_t>& image) {
  {
    ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, params);
    params.pRangeProfilerObject = object_;
    params.pMetricNames = set.names();
    params.numMetrics = set.size();
    params.maxNumOfRanges = most_ranges;
    params.maxNumRangeTreeNodes = static_cast<std::uint32_t>(most_ranges);
    ROOFWALK_CUPTI_TRY(api_, results_, cuptiRangeProfilerGetCounterDataSize, params);
    image.assign(params.counterDataSize, 0);
  }
  {
    ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, params);
    params.pRangeProfilerObject = object_;
    params.counterDataSize = image.size();
    params.pCounterData = image.data();
    ROOFWALK_CUPTI_TRY(api_, results_, cuptiRangeProfilerCounterDataImageInitialize, params);
  }
  ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, params);
  params.pRangeProfilerObject = object_;
  params.configSize = set.config().size();
  params.pConfig = set.config().data();
  params.counterDataImageSize = image.size();
  params.pCounterDataImage = image.data();
  params.range = CUPTI_UserRange;
  params.replayMode = CUPTI_UserReplay;
  params.maxRangesPerPass = most_ranges;
  params.numNestingLevels = 1;
  params.minNestingLevel = 1;
  params.passIndex = 0;
  params.targetNestingLevel = 1;
  ROOFWALK_CUPTI_TRY(api_, results_, cuptiRangeProfilerSetConfig, params);
  return kOk;
}

Status RangeSession::start() {
  ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, params);
  params.pRangeProfilerObject = object_;
  ROOFWALK_CUPTI_TRY(api_, results_, cuptiRangeProfilerStart, params);
  return kOk;
}

Result<bool> RangeSession::stop() {
  ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
  params.pRangeProfilerObject = object_;
  ROOFWALK_CUPTI_TRY(api_, results_, cuptiRangeProfilerStop, params);
  return params.isAllPassSubmitted != 0;
}

Status RangeSession::push(const char* name) {
  ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, params);
  params.pRangeProfilerObject = object_;
  params.pRangeName = name;
  ROOFWALK_CUPTI_TRY(api_, results_, cuptiRangeProfilerPushRange, params);
  return kOk;
}

Status RangeSession::pop() {
  ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, params);
  params.pRangeProfilerObject = object_;
  ROOFWALK_CUPTI_TRY(api_, results_, cuptiRangeProfilerPopRange, params);
  return kOk;
}

Status RangeSession::decode() {
  ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, params);
  params.pRangeProfilerObject = object_;
  ROOFWALK_CUPTI_TRY(api_, results_, cuptiRangeProfilerDecodeData, params);
  if (params.numOfRangeDropped == 0) return kOk;
  return Error{.message = fmt::format("no counters: CUPTI dropped the counts of {} launches", params.numOfRangeDropped),
               .advice = kReportAdvice};
}

Status RangeSession::disable() {
  ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, params);
  params.pRangeProfilerObject = std::exchange(object_, nullptr);
  ROOFWALK_CUPTI_TRY(api_, results_, cuptiRangeProfilerDisable, params);
  return kOk;
}

}  // namespace roofwalk
