// Where a kernel's time went: the cycles of its warps by what they waited for, and the parts of its modelled time.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "common/base/json_fwd.h"

namespace roofwalk {

// Where the cycles of resident warps went. `issued`: an instruction was issued. The others are waits: `issue`: ready,
// but the scheduler issued another warp; `dependency`: for an arithmetic result; `pipe`: for a pipe or a place in the
// memory path; `l1`, `l2`, `dram`, `shared`, `constant`: for data, by the farthest level that was accessed (constant
// memory's caches count as one level); `bank_conflict`: the part of the wait for shared memory that conflicts added;
// `barrier`; `start`: empty warp slots whose next block had been sent to the SM and had not begun; `tail`: other empty
// warp slots while the launch was still running.
#define ROOFWALK_WAITS(X) \
  X(issued)               \
  X(issue)                \
  X(dependency)           \
  X(pipe)                 \
  X(l1)                   \
  X(l2)                   \
  X(dram)                 \
  X(shared)               \
  X(bank_conflict)        \
  X(constant)             \
  X(barrier)              \
  X(start)                \
  X(tail)

enum class Wait {
#define ROOFWALK_ENUM(name) name,
  ROOFWALK_WAITS(ROOFWALK_ENUM)
#undef ROOFWALK_ENUM
};
#define ROOFWALK_ONE(name) +1
inline constexpr std::size_t kWaitCount = 0 ROOFWALK_WAITS(ROOFWALK_ONE);
#undef ROOFWALK_ONE

std::string_view wait_name(Wait wait);

// Warp cycles by cause.
struct WarpCycles {
  std::array<double, kWaitCount> cycles{};

  double& operator[](Wait wait) { return cycles[static_cast<std::size_t>(wait)]; }
  double operator[](Wait wait) const { return cycles[static_cast<std::size_t>(wait)]; }
  double total() const;
  void add(const WarpCycles& other, double times = 1);
};

Json to_json(const WarpCycles& waits);  // null if unknown

// The parts of a kernel's modelled time, in ns. dram_ns to flops_ns and constant_ns: the least time that each part of
// the machine needs on its own. contention_ns: the time of the atomics on the most contended word or sector of global
// memory, which take turns. latency_ns: what the timing model adds to the slowest of these, because warps wait.
// launch_ns: the launch.
struct TimeParts {
  double dram_ns = 0, l2_ns = 0, l1_ns = 0, shared_ns = 0, issue_ns = 0, flops_ns = 0, latency_ns = 0, launch_ns = 0;
  double constant_ns = 0, contention_ns = 0;
};

}  // namespace roofwalk
