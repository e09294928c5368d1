// Reads hardware counters between two points of a run, with CUPTI's range profiler, which leaves marking the ranges and
// replaying the passes to this code. Only launches inside a range count, so caches and inputs are reset outside ranges.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/base/result.h"
#include "common/device/cuda/cupti/cupti_api.h"
#include "common/device/cuda/cupti/metrics.h"

namespace roofwalk {

class RangeCounters {
 public:
  virtual ~RangeCounters() = default;

  // One replay. Launches between begin(name) and end() are counted; ranges do not nest.
  struct Pass {
    virtual ~Pass() = default;
    virtual Status begin(const std::string& name) = 0;
    virtual Status end() = 0;
  };

  // Runs `pass` once for each pass that the set of metrics needs, and once more if `pass` opens more ranges than
  // there was space for. Each time, `pass` must bring inputs and caches to the same state, synchronize, and open the
  // same ranges in the same order: the whole plan, or one per launch. Names need not be unique. Returns the ranges in
  // that order, or none if there is no range; a metric that could not be counted is NaN, never 0. Errors: those of
  // `pass`; CUPTI's, in plain words; passes that differ; dropped counts; more than kMostRanges ranges. Afterwards the
  // profiler is off, and this object can be used again.
  virtual Result<std::vector<RangeValues>> count(const std::function<Status(Pass&)>& pass) = 0;

  // Returns the chip to pass to counters_of and counters_known; empty if these do not apply to the values.
  virtual std::string_view chip() const { return {}; }

  // Sets the type that the next module uses on tensor cores (tensor_type_of); initially none. Errors: CUPTI's; then
  // the set of metrics is unchanged.
  virtual Status expect_tensor(std::optional<TensorType>) { return kOk; }
};

// The context in which to count. `context` is current in the calling thread and stays current.
struct CounterTarget {
  CUcontext context = nullptr;
  CUdevice device = 0;      // from cuDeviceGet
  std::size_t ordinal = 0;  // the argument of cuDeviceGet
};

// Limit on the ranges of one pass. CUPTI's users report INVALID_OPERATION beyond about two thousand.
inline constexpr std::size_t kMostRanges = 1000;

// Starts CUPTI in this process and makes the set of metrics for the chip. The profiler is on only during count(), so
// that it does not affect times. Only one object per process at a time; `api` must outlive it. Call this only if
// there is a driver and `context` exists, because CUPTI crashes otherwise. Errors: a GPU, configuration or chip
// without counters.
Result<std::unique_ptr<RangeCounters>> open_range_counters(const CuptiApi& api, const CounterTarget& target);

// Whether the counters can be read and work, which only counting a launch can tell.
struct CounterProbe {
  bool available = false;
  std::string chip = {};   // "GH100"; empty if the name is unknown
  std::string cause = {};  // an id of cupti_errors.def, "no_values", "crashed" or "other"; empty if available
  std::string message = {}, advice = {};  // in plain words; empty if available

  bool operator==(const CounterProbe&) const = default;
};

// Counts one call of `launch`, which launches a small kernel. Call this in a process that may crash, because on some
// machines CUPTI crashes instead of reporting an error.
CounterProbe probe_counters(const CuptiApi& api, const CounterTarget& target, const std::function<Status()>& launch);
// Returns the result for a probe process that ended without an answer.
CounterProbe crashed_probe(int signal);

Json to_json(const CounterProbe& probe);
Result<CounterProbe> counter_probe_of(const Json& json);

}  // namespace roofwalk
