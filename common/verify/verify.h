// Checks the output. Buffers are guarded and poisoned before each run, and compared by value and bit pattern
// afterwards. This library is never built with fast-math. It does not measure time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/device/device.h"
#include "common/exercise/exercise.h"

namespace roofwalk {

// Poison for outputs before a run: a quiet NaN with a payload that arithmetic does not produce.
inline constexpr std::uint32_t kPoison = 0x7fd0'0f1eu;
inline constexpr std::uint16_t kHalfPoison = 0x7fd0;  // poison for outputs of halves

// Guard bytes on each side of a buffer, for devices that do not check bounds.
inline constexpr std::uint64_t kGuardBytes = 4096;

enum class Wrong { none, unwritten, nan, infinite, off, input_changed, guard_changed, fault };

struct Correctness {
  bool correct = false;
  Wrong wrong = Wrong::none;
  double worst_error = 0;        // largest |value - expected| of finite values
  std::string buffer;            // the first wrong buffer; empty if correct
  std::int64_t index = -1;       // index of its first wrong element
  std::string reason;            // one line: "c[1000002] was never written (3 of 1000003 elements)"
  std::int64_t wrong_count = 0;  // number of wrong elements in that buffer, of any kind
  bool looks_like_half = false;  // all errors look like those of half-precision arithmetic
};

// One problem in device memory: guarded buffers and the argument bytes of `solve`.
class Workspace {
 public:
  // Makes a launch plan, like `make_plan` with all other arguments bound.
  using AllocateScratch = std::function<Result<std::uint64_t>(std::uint64_t size_bytes)>;
  using Planner = std::function<Result<Plan>(std::span<const ArgumentBytes>, const AllocateScratch&)>;

  // Writes the inputs and poisons the outputs. `device` must outlive the workspace, which stores `problem`.
  // `guard_bytes`, a multiple of 256 up to kGuardBytes, is added on each side of every buffer. Use 0 for a device
  // that faults exactly at a buffer's ends (the virtual GPU), because guards would make those faults less exact.
  // Errors: the device is out of memory.
  static Result<Workspace> make(Device& device, Problem problem, std::uint64_t guard_bytes = 0);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  // Returns the pointers and scalars in the order of SOLVE's parameters.
  const std::vector<ArgumentBytes>& arguments() const;

  // Resets inputs to the problem's, and poisons outputs and guards.
  void reset();

  // Reloads the artifact (which resets the module's globals), resets, makes the plan (whose scratch is poisoned), runs
  // it and releases the scratch. Does all of this twice if the timing model needs more blocks
  // (RunRecord::untraced_blocks). Refusals by loading and planning are Errors; a learner's fault is in the record.
  Result<RunRecord> run(const Artifact& artifact, const RunOptions& options = {});

  // Like run(), with another planner.
  Result<RunRecord> run_planned(const Artifact& artifact, const Planner& plan, const RunOptions& options = {});

  // Like these, but with the module that an earlier run has loaded, whose globals are as that run left them. The timing
  // model gets no second run.
  Result<RunRecord> run_loaded(const Artifact& artifact, const RunOptions& options = {});
  Result<RunRecord> run_planned_loaded(const Planner& plan, const RunOptions& options = {});

  // Address and size of an element of an input or output, in bytes.
  struct Place {
    std::uint64_t address = 0, bytes = 0;
  };
  Place place_of(std::string_view buffer, std::int64_t index) const;

  // Compares the results of the last run with the expected values. `expected` must contain every OutputBuffer.
  Correctness check(const std::vector<Expected>& expected) const;

 private:
  struct Impl;
  Result<RunRecord> run_once(const Artifact& artifact, const Planner& plan, const RunOptions& options);
  explicit Workspace(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Compares one output. `values`, expected.values and expected.tolerances must have the same length. What integers are
// expected to be is less than kPoison.
Correctness compare(std::span<const float> values, const Expected& expected);
Correctness compare(std::span<const std::int32_t> values, const Expected& expected);

}  // namespace roofwalk
