#include "common/device/cuda/cupti/range_counters.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "common/base/json.h"
#include "common/device/cuda/cupti/range_profiler.h"

namespace roofwalk {
namespace {

// Replays (turns) that are allowed beyond the set's number of passes: a set that needs more would never end.
constexpr std::size_t kSpareTurns = 4;

// Space for ranges before their number is known; each takes memory on the host and the GPU.
constexpr std::size_t kFewRanges = 64;

// One replay. The profiler starts with the first range, so that resets and the L2 sweep before it are not counted. The
// destructor pops and stops what is still open.
class Turn final : public RangeCounters::Pass {
 public:
  // `names`: the names of the ranges; the first turn fills it, and later turns must open the same ranges. `labels`: a
  // unique name for each range, for CUPTI. The first turn runs to its end to find the number of ranges, even if there
  // are more ranges than labels; it counts only as many as there are labels.
  Turn(RangeSession& session, bool is_first, std::vector<std::string>& names, const std::vector<std::string>& labels)
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
    return {.message = "no counters: the launches of this plan are not the same each time", .advice = kReportAdvice};
  }

  RangeSession& session_;
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

  // Starts the profiler and makes the set of metrics for this chip. Errors: nothing can be counted here.
  Status open() {
    ROOFWALK_TRY_STATUS(profiler_.start(results_));
    ROOFWALK_TRY_STATUS(check_supported());
    ROOFWALK_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, params);
    params.deviceIndex = target_.ordinal;
    ROOFWALK_CUPTI_TRY(api_, results_, cuptiDeviceGetChipName, params);
    chip_ = params.pChipName == nullptr ? "" : params.pChipName;
    return expect_tensor(std::nullopt);
  }

  // Returns the cause of the first CUPTI error.
  std::string cause() const { return results_.cause(); }

  std::string_view chip() const override { return chip_; }

  Status expect_tensor(std::optional<TensorType> type) override {
    auto metrics = metrics_of(chip_, type);
    if (metrics.empty()) {
      return Error{.message = fmt::format("no counters: roofwalk does not know which metrics the chip {} has", chip_),
                   .advice = "its row belongs in common/device/cuda/cupti/metrics.def"};
    }
    if (set_ && set_->metrics() == metrics) return kOk;
    auto set = std::make_unique<CuptiMetricSet>(api_, std::move(metrics));
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
    ROOFWALK_CUPTI_TRY(api_, results_, cuptiProfilerDeviceSupported, params);
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
    RangeSession session(api_, results_);
    ROOFWALK_TRY_STATUS(session.enable(target_.context));
    ROOFWALK_TRY_STATUS(session.configure(*set_, labels_.size(), image));
    ROOFWALK_TRY_STATUS(replay(session, pass, names));
    if (!names.empty() && names.size() <= labels_.size()) {
      ROOFWALK_TRY_STATUS(session.decode());
      ROOFWALK_TRY(ranges, read(image, names));
    }
    return session.disable();
  }

  Status replay(RangeSession& session, const std::function<Status(Pass&)>& pass, std::vector<std::string>& names) {
    for (std::size_t turn = 0; turn < set_->passes() + kSpareTurns; ++turn) {
      Turn current(session, turn == 0, names, labels_);
      ROOFWALK_TRY_STATUS(pass(current));
      if (names.empty() || names.size() > labels_.size()) return kOk;  // no range, or more than there are labels
      ROOFWALK_TRY(const bool is_last, current.finish());
      if (is_last) return kOk;
    }
    return Error{.message = fmt::format("no counters: CUPTI asked for {} passes, and for more after {} of them",
                                        set_->passes(), set_->passes() + kSpareTurns),
                 .advice = kReportAdvice};
  }

  Result<std::vector<RangeValues>> read(const std::vector<std::uint8_t>& image, const std::vector<std::string>& names) {
    const auto garbled = [&](std::string_view what) {
      return Error{.message = fmt::format("no counters: of {} launches, CUPTI gives back {}", names.size(), what),
                   .advice = kReportAdvice};
    };
    ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = image.data();
    info.counterDataImageSize = image.size();
    ROOFWALK_CUPTI_TRY(api_, results_, cuptiRangeProfilerGetCounterDataInfo, info);
    if (info.numTotalRanges != names.size()) return garbled(std::to_string(info.numTotalRanges));
    std::vector<RangeValues> ranges(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      ROOFWALK_CUPTI_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, params);
      params.pCounterDataImage = image.data();
      params.counterDataImageSize = image.size();
      params.rangeIndex = i;
      params.rangeDelimiter = "/";
      ROOFWALK_CUPTI_TRY(api_, results_, cuptiRangeProfilerCounterDataGetRangeInfo, params);
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
  CuptiResults results_;
  std::string chip_;
  CuptiProfiler profiler_;
  std::unique_ptr<CuptiMetricSet> set_;
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
    probe.chip = json.at("chip").text();
    probe.cause = json.at("cause").text();
    probe.message = json.at("message").text();
    probe.advice = json.at("advice").text();
  } catch (const JsonError& error) {
    return Error{.message = fmt::format("the probe of the counters is not what it should be: {}", error.what())};
  }
  return probe;
}

}  // namespace roofwalk
