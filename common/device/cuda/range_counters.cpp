#include "common/device/cuda/range_counters.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include "common/device/cuda/cupti_errors.h"

namespace roofwalk {
namespace {

// Turns beyond the passes of the set before a replay is one that never ends.
constexpr std::size_t kSpareTurns = 4;

constexpr const char* kReport = "please report it with what `./roofwalk doctor` prints";

// Turns results into errors and keeps the first, for the probe: those of tearing down come after it.
class Results {
 public:
  Status check(CUptiResult result, std::string_view call) {
    if (result == CUPTI_SUCCESS) return kOk;
    if (first_ == CUPTI_SUCCESS) first_ = result;
    return cupti_error(result, call);
  }
  std::string cause() const {
    const CuptiTrouble* row = find_cupti_trouble(first_);
    return row == nullptr ? "other" : std::string(row->id);
  }

 private:
  CUptiResult first_ = CUPTI_SUCCESS;
};

#define CUPTI_TRY(api, results, call, params) ROOFWALK_TRY_STATUS((results).check((api).call(&(params)), #call))

// Started once for each RangeCounters, ended with it.
class Profiler {
 public:
  explicit Profiler(const CuptiApi& api) : api_(api) {}
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  ~Profiler() {
    if (!started_) return;
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_DeInitialize_Params, params);
    api_.cuptiProfilerDeInitialize(&params);
  }
  Status start(Results& results) {
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
    CUptiResult result = api_.cuptiProfilerInitialize(&params);
    // Seen without a driver, which this call cannot tell from one that does not answer.
    if (result == CUPTI_ERROR_UNKNOWN) result = CUPTI_ERROR_NOT_INITIALIZED;
    ROOFWALK_TRY_STATUS(results.check(result, "cuptiProfilerInitialize"));
    started_ = true;
    return kOk;
  }

 private:
  const CuptiApi& api_;
  bool started_ = false;
};

// The metrics of one chip, and how they are spread over passes.
class MetricSet {
 public:
  MetricSet(const CuptiApi& api, std::vector<std::string> names) : api_(api), names_(std::move(names)) {
    for (const std::string& name : names_) pointers_.push_back(name.c_str());
  }
  MetricSet(const MetricSet&) = delete;
  MetricSet& operator=(const MetricSet&) = delete;
  ~MetricSet() {
    if (host_ == nullptr) return;
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
    params.pHostObject = host_;
    api_.cuptiProfilerHostDeinitialize(&params);
  }

  Status make(Results& results, const std::string& chip) {
    {
      // Without an image of what the GPU offers: a counter that it lacks comes back as NaN.
      ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
      params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
      params.pChipName = chip.c_str();
      CUPTI_TRY(api_, results, cuptiProfilerHostInitialize, params);
      host_ = params.pHostObject;
    }
    // One unknown name fails the whole set with an error that does not say which.
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
      CUPTI_TRY(api_, results, cuptiProfilerHostConfigAddMetrics, params);
    }
    {
      ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, params);
      params.pHostObject = host_;
      CUPTI_TRY(api_, results, cuptiProfilerHostGetConfigImageSize, params);
      config_.resize(params.configImageSize);
    }
    {
      ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, params);
      params.pHostObject = host_;
      params.configImageSize = config_.size();
      params.pConfigImage = config_.data();
      CUPTI_TRY(api_, results, cuptiProfilerHostGetConfigImage, params);
    }
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, params);
    params.configImageSize = config_.size();
    params.pConfigImage = config_.data();
    CUPTI_TRY(api_, results, cuptiProfilerHostGetNumOfPasses, params);
    passes_ = params.numOfPasses;
    return kOk;
  }

  // The values of one range of an image.
  Result<std::map<std::string, double>> evaluate(Results& results, const std::vector<std::uint8_t>& image,
                                                 std::size_t range) const {
    // Should CUPTI leave one as it was: not available.
    std::vector<double> values(names_.size(), std::numeric_limits<double>::quiet_NaN());
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
    params.pHostObject = host_;
    params.pCounterDataImage = image.data();
    params.counterDataImageSize = image.size();
    params.rangeIndex = range;
    params.ppMetricNames = names();
    params.numMetrics = names_.size();
    params.pMetricValues = values.data();
    CUPTI_TRY(api_, results, cuptiProfilerHostEvaluateToGpuValues, params);
    std::map<std::string, double> by_name;
    for (std::size_t i = 0; i < names_.size(); ++i) by_name[names_[i]] = values[i];
    return by_name;
  }

  const char** names() const { return const_cast<const char**>(pointers_.data()); }
  std::size_t size() const { return names_.size(); }
  const std::vector<std::uint8_t>& config() const { return config_; }
  std::size_t passes() const { return passes_; }

 private:
  const CuptiApi& api_;
  std::vector<std::string> names_;
  std::vector<const char*> pointers_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<std::uint8_t> config_;
  std::size_t passes_ = 0;
};

// The range profiler on one context: on from enable() to disable(), or to the end of its life.
class Session {
 public:
  Session(const CuptiApi& api, Results& results) : api_(api), results_(results) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (object_ != nullptr) (void)disable();
  }

  Status enable(CUcontext context) {
    ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, params);
    params.ctx = context;
    CUPTI_TRY(api_, results_, cuptiRangeProfilerEnable, params);
    object_ = params.pRangeProfilerObject;
    return kOk;
  }

  Status configure(const MetricSet& set, std::size_t most_ranges, std::vector<std::uint8_t>& image) {
    {
      ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, params);
      params.pRangeProfilerObject = object_;
      params.pMetricNames = set.names();
      params.numMetrics = set.size();
      params.maxNumOfRanges = most_ranges;
      params.maxNumRangeTreeNodes = static_cast<std::uint32_t>(most_ranges);
      CUPTI_TRY(api_, results_, cuptiRangeProfilerGetCounterDataSize, params);
      image.assign(params.counterDataSize, 0);
    }
    {
      ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, params);
      params.pRangeProfilerObject = object_;
      params.counterDataSize = image.size();
      params.pCounterData = image.data();
      CUPTI_TRY(api_, results_, cuptiRangeProfilerCounterDataImageInitialize, params);
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
    CUPTI_TRY(api_, results_, cuptiRangeProfilerSetConfig, params);
    return kOk;
  }

  Status start() {
    ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, params);
    params.pRangeProfilerObject = object_;
    CUPTI_TRY(api_, results_, cuptiRangeProfilerStart, params);
    return kOk;
  }

  // Whether all passes have been run.
  Result<bool> stop() {
    ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
    params.pRangeProfilerObject = object_;
    CUPTI_TRY(api_, results_, cuptiRangeProfilerStop, params);
    return params.isAllPassSubmitted != 0;
  }

  Status push(const char* name) {
    ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, params);
    params.pRangeProfilerObject = object_;
    params.pRangeName = name;
    CUPTI_TRY(api_, results_, cuptiRangeProfilerPushRange, params);
    return kOk;
  }

  Status pop() {
    ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, params);
    params.pRangeProfilerObject = object_;
    CUPTI_TRY(api_, results_, cuptiRangeProfilerPopRange, params);
    return kOk;
  }

  // Brings the counts into the image. Waits for the GPU.
  Status decode() {
    ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, params);
    params.pRangeProfilerObject = object_;
    CUPTI_TRY(api_, results_, cuptiRangeProfilerDecodeData, params);
    if (params.numOfRangeDropped == 0) return kOk;
    return Error{
        .message = fmt::format("no counters: CUPTI dropped the counts of {} launches", params.numOfRangeDropped),
        .advice = kReport};
  }

  Status disable() {
    ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, params);
    params.pRangeProfilerObject = std::exchange(object_, nullptr);
    CUPTI_TRY(api_, results_, cuptiRangeProfilerDisable, params);
    return kOk;
  }

 private:
  const CuptiApi& api_;
  Results& results_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
};

// One replay. The profiler starts with its first range, so that what comes before it, resets and the reading of a clean
// L2, is out of its sight. Left early, it pops and stops what is open.
class Turn final : public RangeCounters::Pass {
 public:
  // `names`: of the first turn, filled by it. `labels`: what CUPTI calls the ranges; it must keep them all apart.
  Turn(Session& session, bool is_first, std::vector<std::string>& names, const std::vector<std::string>& labels)
      : session_(session), is_first_(is_first), names_(names), labels_(labels) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() override {
    if (in_range_) (void)session_.pop();
    if (started_) (void)session_.stop();
  }

  Status begin(const std::string& name) override {
    ROOFWALK_CHECK(!in_range_);
    if (ranges_ == labels_.size()) {
      return Error{.message = fmt::format("no counters: a pass may hold {} launches, and this is one more", ranges_),
                   .advice = kReport};
    }
    if (is_first_) {
      names_.push_back(name);
    } else if (ranges_ >= names_.size() || names_[ranges_] != name) {
      return differs();
    }
    if (!started_) ROOFWALK_TRY_STATUS(session_.start());
    started_ = true;
    ROOFWALK_TRY_STATUS(session_.push(labels_[ranges_].c_str()));
    in_range_ = true;
    ++ranges_;
    return kOk;
  }

  Status end() override {
    ROOFWALK_CHECK(in_range_);
    in_range_ = false;
    return session_.pop();
  }

  bool started() const { return started_; }

  // Whether this was the last pass.
  Result<bool> finish() {
    ROOFWALK_CHECK(!in_range_);
    if (ranges_ != names_.size()) return differs();
    started_ = false;
    return session_.stop();
  }

 private:
  static Error differs() {
    return {.message = "no counters: the launches of this plan are not the same each time", .advice = kReport};
  }

  Session& session_;
  bool is_first_;
  std::vector<std::string>& names_;
  const std::vector<std::string>& labels_;
  std::size_t ranges_ = 0;
  bool started_ = false, in_range_ = false;
};

class CuptiRangeCounters final : public RangeCounters {
 public:
  CuptiRangeCounters(const CuptiApi& api, const CounterTarget& target) : api_(api), target_(target), profiler_(api) {
    ROOFWALK_CHECK(target.most_ranges > 0 && target.most_ranges <= kMostRanges);
    for (std::size_t i = 0; i < target.most_ranges; ++i) labels_.push_back(std::to_string(i));
  }

  // Finds out what there is to count. `chip` is filled as soon as it is known.
  Status open(std::string& chip) {
    ROOFWALK_TRY_STATUS(profiler_.start(results_));
    ROOFWALK_TRY_STATUS(check_supported());
    ROOFWALK_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, params);
    params.deviceIndex = target_.ordinal;
    CUPTI_TRY(api_, results_, cuptiDeviceGetChipName, params);
    chip = params.pChipName == nullptr ? "" : params.pChipName;
    auto names = metrics_of(chip, target_.tensor);
    if (names.empty()) {
      return Error{.message = fmt::format("no counters: nobody has written down which metrics the chip {} has", chip),
                   .advice = "its row belongs in common/device/cuda/metrics.def"};
    }
    set_ = std::make_unique<MetricSet>(api_, std::move(names));
    return set_->make(results_, chip);
  }

  // Of the first error of CUPTI's.
  std::string cause() const { return results_.cause(); }

  Result<std::vector<RangeValues>> count(const std::function<Status(Pass&)>& pass) override {
    std::vector<std::uint8_t> image;  // the session writes into it to its end
    std::vector<std::string> names;
    Session session(api_, results_);
    ROOFWALK_TRY_STATUS(session.enable(target_.context));
    ROOFWALK_TRY_STATUS(session.configure(*set_, target_.most_ranges, image));
    ROOFWALK_TRY_STATUS(replay(session, pass, names));
    std::vector<RangeValues> ranges;
    if (!names.empty()) {
      ROOFWALK_TRY_STATUS(session.decode());
      ROOFWALK_TRY(ranges, read(image, names));
    }
    ROOFWALK_TRY_STATUS(session.disable());
    return ranges;
  }

 private:
  // The set-ups in which CUPTI can tell beforehand that it will not count.
  Status check_supported() {
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, params);
    params.cuDevice = target_.device;
    params.api = CUPTI_PROFILER_RANGE_PROFILING;
    CUPTI_TRY(api_, results_, cuptiProfilerDeviceSupported, params);
    const auto no = [](CUpti_Profiler_Support_Level level) {
      return level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED || level == CUPTI_PROFILER_CONFIGURATION_DISABLED;
    };
    if (!no(params.isSupported)) return kOk;
    CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;
    if (no(params.architecture)) {
      result = CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED;
    } else if (params.vGpu == CUPTI_PROFILER_CONFIGURATION_DISABLED) {
      result = CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES;
    } else if (no(params.vGpu)) {
      result = CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED;
    } else if (no(params.wsl)) {
      result = CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED;
    } else if (no(params.confidentialCompute)) {
      result = CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED;
    } else if (no(params.cmp)) {
      result = CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED;
    } else if (no(params.sli)) {
      result = CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED;
    }
    return results_.check(result, "cuptiProfilerDeviceSupported");
  }

  Status replay(Session& session, const std::function<Status(Pass&)>& pass, std::vector<std::string>& names) {
    for (std::size_t turn = 0; turn < set_->passes() + kSpareTurns; ++turn) {
      Turn current(session, turn == 0, names, labels_);
      ROOFWALK_TRY_STATUS(pass(current));
      if (turn == 0 && !current.started()) return kOk;  // nothing to count
      ROOFWALK_TRY(const bool is_last, current.finish());
      if (is_last) return kOk;
    }
    return Error{.message = fmt::format("no counters: CUPTI asked for {} passes, and for more after {} of them",
                                        set_->passes(), set_->passes() + kSpareTurns),
                 .advice = kReport};
  }

  Result<std::vector<RangeValues>> read(const std::vector<std::uint8_t>& image, const std::vector<std::string>& names) {
    const auto garbled = [&](std::string_view what) {
      return Error{.message = fmt::format("no counters: of {} launches, CUPTI gives back {}", names.size(), what),
                   .advice = kReport};
    };
    ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = image.data();
    info.counterDataImageSize = image.size();
    CUPTI_TRY(api_, results_, cuptiRangeProfilerGetCounterDataInfo, info);
    if (info.numTotalRanges != names.size()) return garbled(std::to_string(info.numTotalRanges));
    std::vector<RangeValues> ranges(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, params);
      params.pCounterDataImage = image.data();
      params.counterDataImageSize = image.size();
      params.rangeIndex = i;
      params.rangeDelimiter = "/";
      CUPTI_TRY(api_, results_, cuptiRangeProfilerCounterDataGetRangeInfo, params);
      const std::string_view label = params.rangeName == nullptr ? "" : params.rangeName;
      std::size_t at = 0;
      const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), at);
      if (error != std::errc{} || end != label.data() + label.size() || at >= names.size() ||
          !ranges[at].metrics.empty()) {
        return garbled(fmt::format("one that it calls `{}`", label));
      }
      ranges[at].name = names[at];
      ROOFWALK_TRY(ranges[at].metrics, set_->evaluate(results_, image, i));
    }
    return ranges;
  }

  const CuptiApi& api_;
  const CounterTarget target_;
  Results results_;
  Profiler profiler_;
  std::unique_ptr<MetricSet> set_;
  std::vector<std::string> labels_;
};

}  // namespace

Result<std::unique_ptr<RangeCounters>> open_range_counters(const CuptiApi& api, const CounterTarget& target) {
  auto counters = std::make_unique<CuptiRangeCounters>(api, target);
  std::string chip;
  ROOFWALK_TRY_STATUS(counters->open(chip));
  return std::unique_ptr<RangeCounters>(std::move(counters));
}

CounterProbe probe_counters(const CuptiApi& api, const CounterTarget& target, const std::function<Status()>& launch) {
  CounterProbe probe;
  CuptiRangeCounters counters(api, target);
  const auto refused = [&](const Error& error) {
    probe.cause = counters.cause();
    probe.message = error.message;
    probe.advice = error.advice;
    return probe;
  };
  if (auto opened = counters.open(probe.chip); !opened) return refused(opened.error());
  const auto ranges = counters.count([&](RangeCounters::Pass& pass) -> Status {
    ROOFWALK_TRY_STATUS(pass.begin("probe"));
    ROOFWALK_TRY_STATUS(launch());
    return pass.end();
  });
  if (!ranges) return refused(ranges.error());
  if (counters_of(probe.chip, ranges->front()) == Counters{}) {
    probe.cause = "no_values";
    probe.message = "no counters: CUPTI counts, but has no value for any of them";
    probe.advice = "on a slice of a GPU (MIG), ask for one whose compute instance is as large as its GPU instance";
    return probe;
  }
  probe.available = true;
  return probe;
}

CounterProbe crashed_probe(int signal) {
  return {.cause = "crashed",
          .message = fmt::format("no counters: CUPTI crashed when it was asked for them (signal {})", signal),
          .advice = "the driver may be too old for CUDA 13: `./roofwalk doctor` compares them"};
}

Json to_json(const CounterProbe& probe) {
  return {{"available", probe.available},
          {"chip", probe.chip},
          {"cause", probe.cause},
          {"message", probe.message},
          {"advice", probe.advice}};
}

Result<CounterProbe> counter_probe_of(const Json& json) {
  CounterProbe probe;
  try {
    probe.available = json.at("available").get<bool>();
    json.at("chip").get_to(probe.chip);
    json.at("cause").get_to(probe.cause);
    json.at("message").get_to(probe.message);
    json.at("advice").get_to(probe.advice);
  } catch (const Json::exception& error) {
    return Error{.message = fmt::format("the probe of the counters is not what it should be: {}", error.what())};
  }
  return probe;
}

}  // namespace roofwalk
