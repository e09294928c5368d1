#include "common/record/times.h"

#include <cmath>
#include <numeric>

#include "common/base/json.h"

namespace roofwalk {
namespace {

constexpr std::string_view kWaitNames[] = {
#define ROOFWALK_NAME(name) #name,
    ROOFWALK_WAITS(ROOFWALK_NAME)
#undef ROOFWALK_NAME
};

}  // namespace

std::string_view wait_name(Wait wait) { return kWaitNames[static_cast<std::size_t>(wait)]; }

double WarpCycles::total() const { return std::accumulate(cycles.begin(), cycles.end(), 0.0); }

void WarpCycles::add(const WarpCycles& other, double times) {
  for (std::size_t i = 0; i < kWaitCount; ++i) cycles[i] += times * other.cycles[i];
}

Json to_json(const WarpCycles& waits) {
  if (waits.total() == 0) return nullptr;
  Json out = Json::object();
  for (std::size_t i = 0; i < kWaitCount; ++i) out[std::string(kWaitNames[i])] = std::round(waits.cycles[i]);
  return out;
}

}  // namespace roofwalk
