// A learner's mistake that a run found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/record/dim3.h"

namespace roofwalk {

enum class FaultKind {
  out_of_bounds,
  read_only,  // a write to an input
  misaligned,
  uninitialized,
  race,
  missing_wait,
  runaway,
  barrier_deadlock,
  trap,
  assertion,
  stack_overflow,
  bad_call,  // a call through a pointer that does not point to a function
  unsupported,
  resource
};

std::string_view fault_name(FaultKind kind);

// A learner's mistake that a run found. Nothing is measured after it; the device tells whether it can still be used.
struct Fault {
  FaultKind kind = FaultKind::trap;
  std::string kernel;  // as in KernelRecord::name
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  std::string file;                   // the learner's path
  int line = 0;                       // 0 unknown; on a real GPU the launch's, unless an assertion failed
  std::string buffer;                 // "c", "scratch 1"; empty if no buffer is involved
  std::optional<std::int64_t> index;  // in elements of that buffer; may be negative
  std::uint64_t extent = 0;           // number of elements in that buffer
  std::string message;                // one complete line, without file:line
};

Json to_json(const Fault& fault);
Json to_json(const std::vector<Fault>& warnings);

}  // namespace roofwalk
