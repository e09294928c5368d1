// A fake CUPTI. Tests define its answers and where it fails. It records the calls, and reports calls in an order or
// with parameters that the real library does not allow. Its functions are plain functions without an object, so only
// one fake can exist at a time.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "common/device/cuda/cupti/cupti_api.h"

namespace roofwalk {

class FakeCupti {
 public:
  FakeCupti();
  ~FakeCupti();
  FakeCupti(const FakeCupti&) = delete;
  FakeCupti& operator=(const FakeCupti&) = delete;

  const CuptiApi& api() const { return api_; }

  // Properties and behaviour of the GPU.
  std::string chip = "GH100";
  std::size_t passes = 2;                 // reported by the host library
  std::size_t passes_run = 2;             // passes that the profiler asks for
  std::string unknown_metric;             // unknown to the host library
  std::string untouched_metric;           // no value is written for this metric
  std::size_t dropped = 0;                // launches lost in decoding
  bool reversed = false;                  // ranges come back in reverse order
  std::vector<std::string> labels_given;  // names of returned ranges; empty: as pushed
  CUpti_Profiler_DeviceSupported_Params supported = {};
  // The value of a metric in the range with that index.
  std::function<double(std::size_t, const std::string&)> value = [](std::size_t, const std::string&) { return 1; };

  // Makes the `calls_from_now`th call (0: the next) fail with `failure` and have no effect.
  void fail_in(std::size_t calls_from_now) { failing_call_ = calls_made_ + calls_from_now; }
  CUptiResult failure = CUPTI_ERROR_UNKNOWN;
  CUptiResult failure_of_disable = CUPTI_SUCCESS;
  // Makes all calls of this name fail, except the next `well` calls.
  void fail_calls(const std::string& name, CUptiResult result, std::size_t well = 0) {
    failing_name_ = name;
    failure = result;
    failing_from_ = well;
    failing_seen_ = 0;
  }

  // Names of the calls, without "cupti" and "Profiler", with the test's notes between them.
  std::vector<std::string> calls;
  void note(const std::string& what) { calls.push_back(what); }
  std::size_t calls_made() const { return calls_made_; }
  // Whether nothing is active, allocated or open.
  bool is_clean() const;
  std::vector<std::string> mistakes;  // mistakes in the caller's use

 private:
  friend struct FakeCuptiCalls;

  CuptiApi api_;
  std::size_t calls_made_ = 0, failing_call_ = std::numeric_limits<std::size_t>::max();
  std::string failing_name_;
  std::size_t failing_from_ = 0, failing_seen_ = 0;
  int profilers_ = 0, hosts_ = 0, sessions_ = 0;
  bool image_ready_ = false, configured_ = false, started_ = false, in_range_ = false, decoded_ = false;
  std::size_t image_bytes_ = 0, config_bytes_ = 0, most_ranges_ = 0, passes_done_ = 0;
  std::vector<std::string> metrics_, labels_;
};

}  // namespace roofwalk
