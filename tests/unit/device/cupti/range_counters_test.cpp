// The call sequence of the range profiler, against a fake CUPTI that enforces it and fails on request.
#include "common/device/cuda/cupti/range_counters.h"
#include "common/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "common/device/cuda/cupti/cupti_errors.h"
#include "tests/support/fake_cupti.h"

namespace roofwalk {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CountRanges : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_TRUE(cupti_.is_clean()) << "something is left switched on";
    EXPECT_THAT(cupti_.mistakes, IsEmpty());
  }

  CounterTarget target() const { return {.context = reinterpret_cast<CUcontext>(0xc7)}; }

  Result<std::unique_ptr<RangeCounters>> open() { return open_range_counters(cupti_.api(), target()); }

  // Returns a pass that launches kernels with these names.
  std::function<Status(RangeCounters::Pass&)> launches(std::vector<std::string> names) {
    return [this, names](RangeCounters::Pass& pass) -> Status {
      cupti_.note("reset");
      for (const std::string& name : names) {
        ROOFWALK_TRY_STATUS(pass.begin(name));
        cupti_.note("launch " + name);
        ROOFWALK_TRY_STATUS(pass.end());
      }
      return kOk;
    };
  }

  // Opens the counters, counts two launches, and closes the counters again.
  Result<std::vector<RangeValues>> count_two() {
    ROOFWALK_TRY(const auto counters, open());
    return counters->count(launches({"add", "scale"}));
  }

  // Returns the number of calls of this name.
  long times(const std::string& name) const { return std::count(cupti_.calls.begin(), cupti_.calls.end(), name); }

  FakeCupti cupti_;
};

TEST_F(CountRanges, CallsCuptiInItsOrder) {
  const auto ranges = count_two();
  ASSERT_TRUE(ranges.ok()) << ranges.error().text();
  std::vector<std::string> calls;
  for (const std::string& call : cupti_.calls) {
    if (calls.empty() || call != "HostGetMetricProperties" || calls.back() != call) calls.push_back(call);
  }
  const std::vector<std::string> turn = {"reset",     "Start",        "PushRange", "launch add", "PopRange",
                                         "PushRange", "launch scale", "PopRange",  "Stop"};
  std::vector<std::string> wanted = {"Initialize",
                                     "DeviceSupported",
                                     "GetChipName",
                                     "HostInitialize",
                                     "HostGetMetricProperties",
                                     "HostConfigAddMetrics",
                                     "HostGetConfigImageSize",
                                     "HostGetConfigImage",
                                     "HostGetNumOfPasses",
                                     "Enable",
                                     "GetCounterDataSize",
                                     "CounterDataImageInitialize",
                                     "SetConfig"};
  for (int pass = 0; pass < 2; ++pass) wanted.insert(wanted.end(), turn.begin(), turn.end());
  wanted.insert(wanted.end(),
                {"DecodeData", "GetCounterDataInfo", "CounterDataGetRangeInfo", "HostEvaluateToGpuValues",
                 "CounterDataGetRangeInfo", "HostEvaluateToGpuValues", "Disable", "HostDeinitialize", "DeInitialize"});
  EXPECT_EQ(calls, wanted);
}

TEST_F(CountRanges, NamesAndValuesBelongTogetherInWhateverOrderTheyComeBack) {
  cupti_.value = [](std::size_t range, const std::string& metric) {
    return metric == "dram__bytes_read.sum" ? 100.0 * static_cast<double>(range + 1) : 1.0;
  };
  for (const bool reversed : {false, true}) {
    cupti_.reversed = reversed;
    const auto counters = open();
    ASSERT_TRUE(counters.ok()) << counters.error().text();
    const auto ranges = (*counters)->count(launches({"add", "add", "void scale<128>"}));
    ASSERT_TRUE(ranges.ok()) << ranges.error().text();
    ASSERT_EQ(ranges->size(), 3u);
    EXPECT_EQ(ranges->at(1).name, "add");
    EXPECT_EQ(ranges->at(2).name, "void scale<128>");
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(counters_of("GH100", ranges->at(i))[Counter::dram_read_bytes], 100u * (i + 1));
    }
  }
}

TEST_F(CountRanges, CountsAgainAndAgain) {
  const auto counters = open();
  ASSERT_TRUE(counters.ok());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE((*counters)->count(launches({"add"})).ok());
  EXPECT_EQ(times("Enable"), 3);
  EXPECT_EQ(times("Disable"), 3);
  EXPECT_EQ(times("HostGetConfigImage"), 1);
}

TEST_F(CountRanges, WhatCouldNotBeCountedStaysNan) {
  cupti_.value = [](std::size_t, const std::string& metric) {
    return metric.starts_with("dram__") ? std::numeric_limits<double>::quiet_NaN() : 2.0;
  };
  cupti_.untouched_metric = "gpu__time_duration.sum";
  const auto ranges = count_two();
  ASSERT_TRUE(ranges.ok());
  EXPECT_TRUE(std::isnan(ranges->front().metrics.at("dram__bytes_read.sum")));
  EXPECT_TRUE(std::isnan(ranges->front().metrics.at("gpu__time_duration.sum")));
  const Counters counters = counters_of("GH100", ranges->front());
  EXPECT_FALSE(counters[Counter::dram_read_bytes].has_value());
  EXPECT_EQ(counters[Counter::l2_read_sectors], 2u);
}

TEST_F(CountRanges, NothingLaunchedIsNothingCounted) {
  const auto counters = open();
  ASSERT_TRUE(counters.ok());
  const auto ranges = (*counters)->count(launches({}));
  ASSERT_TRUE(ranges.ok());
  EXPECT_THAT(*ranges, IsEmpty());
  EXPECT_EQ(times("Start"), 0);
}

// If any call fails, the failure is reported, and everything that was enabled is disabled.
TEST_F(CountRanges, AFailureOfAnyCallIsToldAndLeavesNothingOn) {
  ASSERT_TRUE(count_two().ok());
  constexpr std::size_t kClosing = 2;  // HostDeinitialize, DeInitialize: their failure cannot be handled
  const std::size_t calls = cupti_.calls_made() - kClosing;
  ASSERT_GT(calls, 40u);
  cupti_.failure = CUPTI_ERROR_HARDWARE;
  for (std::size_t i = 0; i < calls; ++i) {
    cupti_.fail_in(i);
    const auto ranges = count_two();
    ASSERT_FALSE(ranges.ok()) << "call " << i;
    EXPECT_FALSE(ranges.error().advice.empty());
    EXPECT_TRUE(cupti_.is_clean()) << "after call " << i << ": " << ranges.error().text();
  }
}

TEST_F(CountRanges, EveryErrorOfTheTableIsTold) {
  for (const CuptiTrouble& row : cupti_troubles()) {
    cupti_.fail_calls("Enable", row.number);
    const auto ranges = count_two();
    ASSERT_FALSE(ranges.ok()) << row.name;
    EXPECT_THAT(ranges.error().message, HasSubstr(std::string(row.cause)));
    EXPECT_THAT(ranges.error().message, HasSubstr("cuptiRangeProfilerEnable: " + std::string(row.name)));
    EXPECT_EQ(ranges.error().advice, row.advice);
  }
}

TEST_F(CountRanges, WithoutADriverCuptiSaysNothingAndWeDo) {
  cupti_.fail_calls("Initialize", CUPTI_ERROR_UNKNOWN);
  const auto counters = open();
  ASSERT_FALSE(counters.ok());
  EXPECT_THAT(counters.error().message, HasSubstr("cannot reach the NVIDIA driver"));
}

TEST_F(CountRanges, ASetUpThatHasNoCountersIsToldBeforehand) {
  constexpr auto kNo = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
  using Supported = CUpti_Profiler_DeviceSupported_Params;
  const std::vector<std::pair<CUpti_Profiler_Support_Level Supported::*, CUptiResult>> flags = {
      {&Supported::architecture, CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED},
      {&Supported::sli, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED},
      {&Supported::vGpu, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED},
      {&Supported::confidentialCompute, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED},
      {&Supported::cmp, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED},
      {&Supported::wsl, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED},
      {&Supported::isSupported, CUPTI_ERROR_NOT_SUPPORTED}};
  const Supported good = cupti_.supported;
  const auto refused_for = [&](CUptiResult result) {
    const auto counters = open();
    ASSERT_FALSE(counters.ok()) << result;
    EXPECT_THAT(counters.error().message, HasSubstr(std::string(find_cupti_trouble(result)->cause)));
  };
  for (const auto& [flag, result] : flags) {
    cupti_.supported = good;
    cupti_.supported.isSupported = kNo;
    cupti_.supported.*flag = kNo;
    refused_for(result);
  }
  cupti_.supported = good;
  cupti_.supported.isSupported = kNo;
  cupti_.supported.vGpu = CUPTI_PROFILER_CONFIGURATION_DISABLED;
  refused_for(CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(times("Enable"), 0);
  // Values that CUPTI calls unknown do not forbid counting.
  cupti_.supported = good;
  cupti_.supported.isSupported = CUPTI_PROFILER_CONFIGURATION_UNKNOWN;
  EXPECT_TRUE(open().ok());
}

TEST_F(CountRanges, AnUnknownMetricIsNamedWithTheChip) {
  cupti_.unknown_metric = "dram__bytes_write.sum";
  const auto counters = open();
  ASSERT_FALSE(counters.ok());
  EXPECT_THAT(counters.error().message, HasSubstr("dram__bytes_write.sum for the GH100"));
}

TEST_F(CountRanges, AChipOfNoRowIsNamed) {
  cupti_.chip = "GX999";
  const auto counters = open();
  ASSERT_FALSE(counters.ok());
  EXPECT_THAT(counters.error().message, HasSubstr("GX999"));
}

TEST_F(CountRanges, DroppedLaunchesAreAnError) {
  cupti_.dropped = 1;
  const auto ranges = count_two();
  ASSERT_FALSE(ranges.ok());
  EXPECT_THAT(ranges.error().message, HasSubstr("dropped the counts of 1"));
}

TEST_F(CountRanges, AReplayThatNeverEndsIsEnded) {
  cupti_.passes_run = 1000;
  const auto ranges = count_two();
  ASSERT_FALSE(ranges.ok());
  EXPECT_THAT(ranges.error().message, HasSubstr("asked for 2 passes, and for more after 6"));
  EXPECT_EQ(times("reset"), 6);
}

TEST_F(CountRanges, OnePassMoreThanWasSaidIsRun) {
  cupti_.passes_run = 3;
  EXPECT_TRUE(count_two().ok());
  EXPECT_EQ(times("reset"), 3);
}

TEST_F(CountRanges, PermissionThatIsLostInTheMiddleIsToldAsSuch) {
  for (const char* call : {"Start", "PushRange", "PopRange", "Stop"}) {
    cupti_.calls.clear();
    cupti_.fail_calls(call, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, 1);  // the first call succeeds
    const auto ranges = count_two();
    ASSERT_FALSE(ranges.ok()) << call;
    EXPECT_THAT(ranges.error().message, HasSubstr("you may not read this GPU's counters")) << call;
    EXPECT_TRUE(cupti_.is_clean()) << call;
  }
}

TEST_F(CountRanges, WhatThePassReportsIsHandedOnAndTheProfilerIsOff) {
  const auto counters = open();
  ASSERT_TRUE(counters.ok());
  const auto ranges = (*counters)->count([](RangeCounters::Pass& pass) -> Status {
    ROOFWALK_TRY_STATUS(pass.begin("add"));
    return Error{.message = "the kernel hangs"};  // fails in the middle of its range
  });
  ASSERT_FALSE(ranges.ok());
  EXPECT_EQ(ranges.error().message, "the kernel hangs");
  EXPECT_THAT(std::vector(cupti_.calls.end() - 3, cupti_.calls.end()), ElementsAre("PopRange", "Stop", "Disable"));
  EXPECT_TRUE((*counters)->count(launches({"add"})).ok()) << "it stays usable";
}

TEST_F(CountRanges, PassesThatDifferAreAnError) {
  const std::vector<std::vector<std::string>> others = {{"add"}, {"add", "scale", "more"}, {"scale", "add"}, {}};
  for (const auto& other : others) {
    const auto counters = open();
    ASSERT_TRUE(counters.ok());
    bool first = true;
    const auto ranges = (*counters)->count([&](RangeCounters::Pass& pass) {
      return launches(std::exchange(first, false) ? std::vector<std::string>{"add", "scale"} : other)(pass);
    });
    ASSERT_FALSE(ranges.ok()) << other.size();
    EXPECT_THAT(ranges.error().message, HasSubstr("not the same each time"));
  }
}

std::vector<std::string> many(std::size_t launches) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < launches; ++i) names.push_back("step " + std::to_string(i % 3));
  return names;
}

TEST_F(CountRanges, RoomForManyLaunchesIsMadeWhenTheyAreSeen) {
  cupti_.value = [](std::size_t range, const std::string&) { return static_cast<double>(range); };
  const auto counters = open();
  ASSERT_TRUE(counters.ok());
  for (const int turns : {3, 2}) {  // the first count needs one turn more, in which it sees how many launches there are
    cupti_.calls.clear();
    const auto ranges = (*counters)->count(launches(many(100)));
    ASSERT_TRUE(ranges.ok()) << ranges.error().text();
    ASSERT_EQ(ranges->size(), 100u);
    EXPECT_EQ(ranges->back().name, "step 0");
    EXPECT_EQ(counters_of("GH100", ranges->back())[Counter::dram_read_bytes], 99u);
    EXPECT_EQ(times("reset"), turns);
    EXPECT_EQ(times("DecodeData"), 1);
  }
}

TEST_F(CountRanges, TooManyLaunchesAreAnError) {
  const auto counters = open();
  ASSERT_TRUE(counters.ok());
  EXPECT_TRUE((*counters)->count(launches(many(kMostRanges))).ok());
  const auto ranges = (*counters)->count(launches(many(kMostRanges + 1)));
  ASSERT_FALSE(ranges.ok());
  EXPECT_THAT(ranges.error().message, HasSubstr("1000 launches can be counted one by one, and this plan has 1001"));
}

TEST_F(CountRanges, ATypeOfTensorOperationsChangesTheSet) {
  const auto counters = open();
  ASSERT_TRUE(counters.ok());
  EXPECT_EQ((*counters)->chip(), "GH100");
  const std::string flops = "sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32.sum";
  const auto counts_it = [&] {
    const auto ranges = (*counters)->count(launches({"gemm"}));
    return ranges.ok() && ranges->front().metrics.contains(flops);
  };
  EXPECT_FALSE(counts_it());
  ASSERT_TRUE((*counters)->expect_tensor(TensorType::bf16_f32).ok());
  EXPECT_TRUE(counts_it());
  const long made = times("HostGetConfigImage");
  ASSERT_TRUE((*counters)->expect_tensor(TensorType::bf16_f32).ok());
  EXPECT_EQ(times("HostGetConfigImage"), made) << "it is the same set";
  cupti_.unknown_metric = "sm__ops_path_tensor_src_fp64.sum";
  EXPECT_FALSE((*counters)->expect_tensor(TensorType::f64).ok());
  EXPECT_TRUE(counts_it()) << "the set stays what it was";
}

TEST_F(CountRanges, RangesThatNobodyOpenedAreAnError) {
  for (const std::vector<std::string>& labels :
       {std::vector<std::string>{"0"}, {"0", "0"}, {"0", "2"}, {"0", "one"}, {"0", "1x"}, {"0", ""}}) {
    cupti_.labels_given = labels;
    const auto ranges = count_two();
    ASSERT_FALSE(ranges.ok()) << labels.size();
    EXPECT_THAT(ranges.error().message, HasSubstr("of 2 launches, CUPTI gives back"));
  }
}

class ProbeCounters : public CountRanges {
 protected:
  CounterProbe probe() {
    return probe_counters(cupti_.api(), target(), [this]() -> Status {
      cupti_.note("launch");
      return launch_;
    });
  }
  Status launch_ = kOk;
};

TEST_F(ProbeCounters, CountsOneLaunch) {
  EXPECT_EQ(probe(), (CounterProbe{.available = true, .chip = "GH100"}));
  EXPECT_EQ(times("launch"), 2) << "once a pass";
}

TEST_F(ProbeCounters, SaysTheCauseForProgramsAndForPeople) {
  for (const CuptiTrouble& row : cupti_troubles()) {
    cupti_.fail_calls("Enable", row.number);
    const CounterProbe refused = probe();
    EXPECT_FALSE(refused.available);
    EXPECT_EQ(refused.chip, "GH100");
    EXPECT_EQ(refused.cause, row.id);
    EXPECT_THAT(refused.message, HasSubstr(std::string(row.cause)));
    EXPECT_EQ(refused.advice, row.advice);
  }
}

TEST_F(ProbeCounters, TheFirstErrorIsTheCause) {
  cupti_.fail_calls("Start", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  cupti_.failure_of_disable = CUPTI_ERROR_INVALID_OPERATION;
  const CounterProbe refused = probe();
  EXPECT_EQ(refused.cause, "permission");
  EXPECT_THAT(refused.message, HasSubstr("you may not read"));
}

TEST_F(ProbeCounters, CountersWithoutValuesAreNone) {
  cupti_.value = [](std::size_t, const std::string&) { return std::numeric_limits<double>::quiet_NaN(); };
  const CounterProbe refused = probe();
  EXPECT_FALSE(refused.available);
  EXPECT_EQ(refused.cause, "no_values");
  EXPECT_THAT(refused.advice, HasSubstr("MIG"));
}

TEST_F(ProbeCounters, ALaunchThatFailsIsNoFaultOfCuptis) {
  launch_ = Error{.message = "the GPU is gone", .advice = "run it again"};
  const CounterProbe refused = probe();
  EXPECT_EQ(refused.cause, "other");
  EXPECT_EQ(refused.message, "the GPU is gone");
}

TEST_F(ProbeCounters, GoesThroughJsonUnchanged) {
  std::vector<CounterProbe> probes = {probe(), crashed_probe(11)};
  cupti_.fail_calls("Enable", CUPTI_ERROR_HARDWARE_BUSY);
  probes.push_back(probe());
  for (const CounterProbe& before : probes) {
    const auto after = counter_probe_of(parse_json(json_line(to_json(before))));
    ASSERT_TRUE(after.ok());
    EXPECT_EQ(*after, before);
  }
  EXPECT_THAT(probes[1].message, HasSubstr("signal 11"));
  EXPECT_FALSE(counter_probe_of(Json::object()).ok());
  EXPECT_FALSE(counter_probe_of(Json::array({1})).ok());
}

}  // namespace
}  // namespace roofwalk
