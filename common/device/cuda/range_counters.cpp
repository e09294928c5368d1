#include "common/device/cuda/range_counters.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include "common/base/json.h"
#include "common/device/cuda/cupti_errors.h"

namespace roofwalk {
namespace {

// A set that needs this many more turns than it has passes never ends.
constexpr std::size_t kSpareTurns = 4;

// Room for ranges before their number is known: each takes memory on the host and the GPU.
constexpr std::size_t kFewRanges = 64;

constexpr const char* kReport = "please report it with what `./roofwalk doctor` prints";

// Turns results into errors and keeps the first one for the probe; errors from tearing down come later.
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

// Started and ended with each RangeCounters.
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
    // The result without a driver: this call does not distinguish a missing driver from one that does not answer.
    if (result == CUPTI_ERROR_UNKNOWN) result = CUPTI_ERROR_NOT_INITIALIZED;
    ROOFWALK_TRY_STATUS(results.check(result, "cuptiProfilerInitialize"));
    started_ = true;
    return kOk;
  }

 private:
  const CuptiApi& api_;
  bool started_ = false;
};

// The metrics of one chip, and how they are scheduled in passes.
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
      // No image of the GPU's available counters is passed: counters that it lacks come back as NaN.
      ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
      params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
      params.pChipName = chip.c_str();
      CUPTI_TRY(api_, results, cuptiProfilerHostInitialize, params);
      host_ = params.pHostObject;
    }
    // One unknown name fails the whole set without saying which name it is.
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

  // The values of one range in an image.
  Result<std::map<std::string, double>> evaluate(Results& results, const std::vector<std::uint8_t>& image,
                                                 std::size_t range) const {
    // NaN, in case CUPTI does not write a value.
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
  const std::vector<std::string>& metrics() const { return names_; }
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

// The range profiler on one context: active from enable() to disable() or the destructor.
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

  // Returns whether all passes have run.
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

  // Decodes the counts into the image. Waits for the GPU.
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

// One replay. The profiler starts with the first range, so that resets and the L2 sweep before it are not counted. The
// destructor pops and stops what is still open.
class Turn final : public RangeCounters::Pass {
 public:
  // `names`: the ranges of the first turn, which fills it. `labels`: unique names of the ranges for CUPTI. The first
  // turn runs to its end to find the number of ranges, but counts only as many as there are labels.
  Turn(Session& session, bool is_first, std::vector<std::string>& names, const std::vector<std::string>& labels)
      : session_(session), is_first_(is_first), names_(names), labels_(labels) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() override {
    if (is_pushed_) (void)session_.pop();
    if (is_started_) (void)session_.stop();
  }

  Status begin(const std::string& name) override {
    ROOFWALK_CHECK(!in_range_);
    if (is_first_) {
      names_.push_back(name);
    } else if (ranges_ >= names_.size() || names_[ranges_] != name) {
      return differs();
    }
    in_range_ = true;
    if (++ranges_ > labels_.size()) return kOk;
    if (!is_started_) ROOFWALK_TRY_STATUS(session_.start());
    is_started_ = true;
    ROOFWALK_TRY_STATUS(session_.push(labels_[ranges_ - 1].c_str()));
    is_pushed_ = true;
    return kOk;
  }

  Status end() override {
    ROOFWALK_CHECK(in_range_);
    in_range_ = false;
    return std::exchange(is_pushed_, false) ? session_.pop() : Status(kOk);
  }

  // Returns whether this was the last pass.
  Result<bool> finish() {
    ROOFWALK_CHECK(!in_range_);
    if (ranges_ != names_.size()) return differs();
    is_started_ = false;
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
  bool is_started_ = false, is_pushed_ = false, in_range_ = false;
};

class CuptiRangeCounters final : public RangeCounters {
 public:
  CuptiRangeCounters(const CuptiApi& api, const CounterTarget& target) : api_(api), target_(target), profiler_(api) {
    make_room(kFewRanges);
  }

  // Checks what can be counted.
  Status open() {
    ROOFWALK_TRY_STATUS(profiler_.start(results_));
    ROOFWALK_TRY_STATUS(check_supported());
    ROOFWALK_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, params);
    params.deviceIndex = target_.ordinal;
    CUPTI_TRY(api_, results_, cuptiDeviceGetChipName, params);
    chip_ = params.pChipName == nullptr ? "" : params.pChipName;
    return expect_tensor(std::nullopt);
  }

  // The cause of the first CUPTI error.
  std::string cause() const { return results_.cause(); }

  std::string_view chip() const override { return chip_; }

  Status expect_tensor(std::optional<TensorType> type) override {
    auto metrics = metrics_of(chip_, type);
    if (metrics.empty()) {
      return Error{.message = fmt::format("no counters: nobody has written down which metrics the chip {} has", chip_),
                   .advice = "its row belongs in common/device/cuda/metrics.def"};
    }
    if (set_ && set_->metrics() == metrics) return kOk;
    auto set = std::make_unique<MetricSet>(api_, std::move(metrics));
    ROOFWALK_TRY_STATUS(set->make(results_, chip_));
    set_ = std::move(set);
    return kOk;
  }

  Result<std::vector<RangeValues>> count(const std::function<Status(Pass&)>& pass) override {
    std::vector<std::string> names;
    std::vector<RangeValues> ranges;
    ROOFWALK_TRY_STATUS(count(pass, names, ranges));
    if (names.size() <= labels_.size()) return ranges;
    if (names.size() > kMostRanges) {
      return Error{.message = fmt::format("no counters: {} launches can be counted one by one, and this plan has {}",
                                          kMostRanges, names.size()),
                   .advice = "count the plan as one"};
    }
    make_room(names.size());
    names.clear();
    ROOFWALK_TRY_STATUS(count(pass, names, ranges));
    return ranges;
  }

 private:
  // Refuses configurations for which CUPTI reports in advance that it cannot count.
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

  void make_room(std::size_t ranges) {
    labels_.clear();
    for (std::size_t i = 0; i < ranges; ++i) labels_.push_back(std::to_string(i));
  }

  // Fills `names` with the ranges that `pass` opens, and `ranges` if there is room for all of them.
  Status count(const std::function<Status(Pass&)>& pass, std::vector<std::string>& names,
               std::vector<RangeValues>& ranges) {
    std::vector<std::uint8_t> image;  // written by the session until it ends
    Session session(api_, results_);
    ROOFWALK_TRY_STATUS(session.enable(target_.context));
    ROOFWALK_TRY_STATUS(session.configure(*set_, labels_.size(), image));
    ROOFWALK_TRY_STATUS(replay(session, pass, names));
    if (!names.empty() && names.size() <= labels_.size()) {
      ROOFWALK_TRY_STATUS(session.decode());
      ROOFWALK_TRY(ranges, read(image, names));
    }
    return session.disable();
  }

  Status replay(Session& session, const std::function<Status(Pass&)>& pass, std::vector<std::string>& names) {
    for (std::size_t turn = 0; turn < set_->passes() + kSpareTurns; ++turn) {
      Turn current(session, turn == 0, names, labels_);
      ROOFWALK_TRY_STATUS(pass(current));
      if (names.empty() || names.size() > labels_.size()) return kOk;  // nothing to count, or too much
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
  std::string chip_;
  Profiler profiler_;
  std::unique_ptr<MetricSet> set_;
  std::vector<std::string> labels_;
};

}  // namespace

Result<std::unique_ptr<RangeCounters>> open_range_counters(const CuptiApi& api, const CounterTarget& target) {
  auto counters = std::make_unique<CuptiRangeCounters>(api, target);
  ROOFWALK_TRY_STATUS(counters->open());
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
  const auto opened = counters.open();
  probe.chip = counters.chip();
  if (!opened) return refused(opened.error());
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
