// Is the output right? Buffers are guarded and poisoned before each run, and compared by value and bit pattern after.
// Strict floating point: this library is never built with fast-math. It measures no time.
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

// The poison that an output holds before a run: a quiet NaN with a payload that no arithmetic makes.
inline constexpr std::uint32_t kPoison = 0x7fd0'0f1eu;
inline constexpr std::uint16_t kHalfPoison = 0x7fd0;  // the same in a buffer of halves

// Bytes of guard on each side of a buffer, for a device that does not check bounds itself.
inline constexpr std::uint64_t kGuardBytes = 4096;

enum class Wrong { none, unwritten, nan, infinite, off, input_changed, guard_changed, fault };

struct Correctness {
  bool correct = false;
  Wrong wrong = Wrong::none;
  double worst_error = 0;        // largest |value - expected| among finite values
  std::string buffer;            // where the first trouble is; empty when correct
  std::int64_t index = -1;       // its element
  std::string reason;            // one line: "c[1000002] was never written (3 of 1000003 elements)"
  std::int64_t wrong_count = 0;  // elements of that buffer that are wrong in any way
  bool looks_like_half = false;  // all errors are as half-precision arithmetic would make them
};

// One problem laid out on a device: guarded buffers, the argument bytes of `solve`.
class Workspace {
 public:
  // How a launch plan is made; `make_plan` with everything but the arguments and the scratch allocator bound.
  using AllocateScratch = std::function<Result<std::uint64_t>(std::uint64_t size_bytes)>;
  using Planner = std::function<Result<Plan>(std::span<const ArgumentBytes>, const AllocateScratch&)>;

  // Writes the inputs, poisons the outputs. `device` must outlive the workspace; `problem` is kept.
  // `guard_bytes`, a multiple of 256 up to kGuardBytes, goes on each side of every buffer. 0, for a device that faults
  // on its own at a buffer's exact ends (the virtual GPU): bands would only blur those faults.
  // Errors: the device is out of memory.
  static Result<Workspace> make(Device& device, Problem problem, std::uint64_t guard_bytes = 0);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  // Pointers and scalars in the order of SOLVE's parameters.
  const std::vector<ArgumentBytes>& arguments() const;

  // Inputs as the problem has them, outputs poisoned, guard bands fresh.
  void reset();

  // Loads the artifact afresh (a module's globals carry nothing from run to run), plans (scratch filled with poison),
  // resets and runs once, or once more where the clock lacks blocks (RunRecord::untraced_blocks). Scratch is released
  // afterwards. Refusals of the load and of the plan are Errors; a learner's fault is in the record.
  Result<RunRecord> run(const Artifact& artifact, const RunOptions& options = {});

  // The same with another planner.
  Result<RunRecord> run_planned(const Artifact& artifact, const Planner& plan, const RunOptions& options = {});

  // Where an element of an input or output lies. In bytes.
  struct Place {
    std::uint64_t address = 0, bytes = 0;
  };
  Place place_of(std::string_view buffer, std::int64_t index) const;

  // Compares what the last run left with what is expected. Every OutputBuffer must be among `expected`.
  Correctness check(const std::vector<Expected>& expected) const;

 private:
  struct Impl;
  Result<RunRecord> run_once(const Artifact& artifact, const Planner& plan, const RunOptions& options);
  explicit Workspace(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The comparator alone, for one output. Shapes: values, expected.values and expected.tolerances have the same length.
Correctness compare(std::span<const float> values, const Expected& expected);

}  // namespace roofwalk
