// CUPTI's range profiler, as one object for each resource that must be released: the profiler of this process, the
// set of metrics of a chip, a session on a context.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/device/cuda/cupti/cupti_api.h"

namespace roofwalk {

inline constexpr const char* kReportAdvice = "please report it with what `./roofwalk doctor` prints";

// Turns CUPTI's results into errors. Keeps the first failure as the cause that a probe reports, because later ones come
// from tearing down.
class CuptiResults {
 public:
  Status check(CUptiResult result, std::string_view call);
  // Returns an id of cupti_errors.def, or "other".
  std::string cause() const;

 private:
  CUptiResult first_ = CUPTI_SUCCESS;
};

#define ROOFWALK_CUPTI_TRY(api, results, call, params) \
  ROOFWALK_TRY_STATUS((results).check((api).call(&(params)), #call))

// The profiler of this process, started and ended with each RangeCounters.
class CuptiProfiler {
 public:
  explicit CuptiProfiler(const CuptiApi& api) : api_(api) {}
  CuptiProfiler(const CuptiProfiler&) = delete;
  CuptiProfiler& operator=(const CuptiProfiler&) = delete;
  ~CuptiProfiler();
  Status start(CuptiResults& results);

 private:
  const CuptiApi& api_;
  bool started_ = false;
};

// The metrics of one chip, and how they are scheduled in passes.
class CuptiMetricSet {
 public:
  CuptiMetricSet(const CuptiApi& api, std::vector<std::string> names);
  CuptiMetricSet(const CuptiMetricSet&) = delete;
  CuptiMetricSet& operator=(const CuptiMetricSet&) = delete;
  ~CuptiMetricSet();

  Status make(CuptiResults& results, const std::string& chip);

  // Returns the values of one range in an image.
  Result<std::map<std::string, double>> evaluate(CuptiResults& results, const std::vector<std::uint8_t>& image,
                                                 std::size_t range) const;

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
class RangeSession {
 public:
  RangeSession(const CuptiApi& api, CuptiResults& results) : api_(api), results_(results) {}
  RangeSession(const RangeSession&) = delete;
  RangeSession& operator=(const RangeSession&) = delete;
  ~RangeSession();

  Status enable(CUcontext context);
  Status configure(const CuptiMetricSet& set, std::size_t most_ranges, std::vector<std::uint8_t>& image);
  Status start();
  // Returns whether all passes have run.
  Result<bool> stop();
  Status push(const char* name);
  Status pop();
  // Decodes the counts into the image. Waits for the GPU.
  Status decode();
  Status disable();

 private:
  const CuptiApi& api_;
  CuptiResults& results_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
};

}  // namespace roofwalk
