// Hardware counters of what a GPU runs between two marks, through CUPTI's range profiler: ranges that we push and pop,
// passes that we replay. Only launches inside a range count, so caches and inputs are reset outside of them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/base/result.h"
#include "common/device/cuda/cupti_api.h"
#include "common/device/cuda/metrics.h"

namespace roofwalk {

class RangeCounters {
 public:
  virtual ~RangeCounters() = default;

  // One replay. What is launched between begin(name) and end() is counted; ranges do not nest.
  struct Pass {
    virtual ~Pass() = default;
    virtual Status begin(const std::string& name) = 0;
    virtual Status end() = 0;
  };

  // Runs `pass` once for each pass that the set needs, one after the other, and once more where it opens more ranges
  // than there was room for. Each time it must bring inputs and caches to the same state, synchronise, and open the
  // same ranges in the same order: the whole plan, or one a launch. Names need not differ.
  // Returns the ranges in that order; a metric that could not be counted is NaN, never 0. No range: nothing is
  // returned. Errors: of `pass`; of CUPTI, in plain words; passes that differ; counts that were dropped; more than
  // kMostRanges. The profiler is off again after each of them, and this object stays usable.
  virtual Result<std::vector<RangeValues>> count(const std::function<Status(Pass&)>& pass) = 0;

  // The chip that counters_of and counters_known are to be asked about; empty where values mean something else.
  virtual std::string_view chip() const { return {}; }

  // What the module that is counted from now on multiplies on tensor cores (tensor_type_of); at first nothing. Errors:
  // of CUPTI; the set stays what it was.
  virtual Status expect_tensor(std::optional<TensorType>) { return kOk; }
};

// What to count on. `context` is current in the calling thread, and stays so.
struct CounterTarget {
  CUcontext context = nullptr;
  CUdevice device = 0;      // of cuDeviceGet
  std::size_t ordinal = 0;  // what cuDeviceGet was asked for
};

// In one pass. Above some two thousand, users report INVALID_OPERATION.
inline constexpr std::size_t kMostRanges = 1000;

// Starts CUPTI in this process and makes the set of metrics for the chip. Nothing is switched on yet: that happens in
// count(), and only while it lasts, so that times are taken without a profiler. One at a time in a process; `api` must
// outlive it. Call it only where a driver answers and `context` exists: without, CUPTI crashes.
// Errors: a GPU, set-up or chip that has no counters.
Result<std::unique_ptr<RangeCounters>> open_range_counters(const CuptiApi& api, const CounterTarget& target);

// May the counters be read, and do they count? Found out by counting one launch: nothing else tells beforehand.
struct CounterProbe {
  bool available = false;
  std::string chip = {};   // "GH100"; empty where it came to no name
  std::string cause = {};  // an id of cupti_errors.def, "no_values", "crashed" or "other"; empty where available
  std::string message = {}, advice = {};  // in plain words; empty where available

  bool operator==(const CounterProbe&) const = default;
};

// Counts one call of `launch`, which launches a small kernel. To be called in a process of its own that may die: CUPTI
// crashes on some machines where it should report an error.
CounterProbe probe_counters(const CuptiApi& api, const CounterTarget& target, const std::function<Status()>& launch);
// What to keep where that process ended without an answer.
CounterProbe crashed_probe(int signal);

Json to_json(const CounterProbe& probe);
Result<CounterProbe> counter_probe_of(const Json& json);

}  // namespace roofwalk
