#include "common/record/fault.h"

#include "common/base/check.h"
#include "common/base/json.h"

namespace roofwalk {
namespace {

Json to_json(const Dim3& dim) { return Json::array({dim.x, dim.y, dim.z}); }

}  // namespace

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

Json to_json(const std::vector<Fault>& warnings) {
  Json out = Json::array();
  for (const Fault& warning : warnings) out.push_back(to_json(warning));
  return out;
}

}  // namespace roofwalk
