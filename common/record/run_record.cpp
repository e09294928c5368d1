#include "common/record/run_record.h"

#include <cmath>
#include <numeric>

#include "common/base/json.h"

namespace roofwalk {
namespace {

constexpr std::string_view kCounterNames[] = {
#define ROOFWALK_NAME(name) #name,
    ROOFWALK_COUNTERS(ROOFWALK_NAME)
#undef ROOFWALK_NAME
};

constexpr std::string_view kWaitNames[] = {
#define ROOFWALK_NAME(name) #name,
    ROOFWALK_WAITS(ROOFWALK_NAME)
#undef ROOFWALK_NAME
};

Json to_json(const Dim3& dim) { return Json::array({dim.x, dim.y, dim.z}); }

}  // namespace

std::string_view counter_name(Counter counter) { return kCounterNames[static_cast<std::size_t>(counter)]; }

std::string_view wait_name(Wait wait) { return kWaitNames[static_cast<std::size_t>(wait)]; }

double WarpCycles::total() const { return std::accumulate(cycles.begin(), cycles.end(), 0.0); }

void WarpCycles::add(const WarpCycles& other, double times) {
  for (std::size_t i = 0; i < kWaitCount; ++i) cycles[i] += times * other.cycles[i];
}

std::string_view counts_from_name(CountsFrom from) { return from == CountsFrom::sass ? "sass" : "ptx"; }

std::string_view fault_name(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds:
      return "out of bounds";
    case FaultKind::read_only:
      return "read only";
    case FaultKind::misaligned:
      return "misaligned";
    case FaultKind::uninitialized:
      return "uninitialized";
    case FaultKind::race:
      return "race";
    case FaultKind::missing_wait:
      return "missing wait";
    case FaultKind::runaway:
      return "runs too long";
    case FaultKind::barrier_deadlock:
      return "barrier deadlock";
    case FaultKind::trap:
      return "trap";
    case FaultKind::assertion:
      return "assertion";
    case FaultKind::stack_overflow:
      return "stack overflow";
    case FaultKind::bad_call:
      return "bad call";
    case FaultKind::unsupported:
      return "unsupported";
    case FaultKind::resource:
      return "too many resources";
  }
  ROOFWALK_CHECK(false);
}

Json to_json(const Counters& counters) {
  Json out = Json::object();
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto value = counters[static_cast<Counter>(i)];
    out[std::string(kCounterNames[i])] = value ? Json(*value) : Json(nullptr);
  }
  return out;
}

Json to_json(const WarpCycles& waits) {
  if (waits.total() == 0) return nullptr;
  Json out = Json::object();
  for (std::size_t i = 0; i < kWaitCount; ++i) out[std::string(kWaitNames[i])] = std::round(waits.cycles[i]);
  return out;
}

Json to_json(const Fault& fault) {
  return {{"kind", fault_name(fault.kind)},
          {"kernel", fault.kernel},
          {"block", to_json(fault.block)},
          {"thread", to_json(fault.thread)},
          {"file", fault.file},
          {"line", fault.line},
          {"buffer", fault.buffer},
          {"index", fault.index ? Json(*fault.index) : Json(nullptr)},
          {"extent", fault.extent},
          {"message", fault.message}};
}

Json to_json(const Printed& printed) { return {{"text", printed.text}, {"more_lines", printed.more_lines}}; }

Json to_json(const std::vector<Fault>& warnings) {
  Json out = Json::array();
  for (const Fault& warning : warnings) out.push_back(to_json(warning));
  return out;
}

}  // namespace roofwalk
