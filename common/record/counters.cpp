#include "common/record/counters.h"

#include "common/base/json.h"

namespace roofwalk {
namespace {

constexpr std::string_view kCounterNames[] = {
#define ROOFWALK_NAME(name) #name,
    ROOFWALK_COUNTERS(ROOFWALK_NAME)
#undef ROOFWALK_NAME
};

}  // namespace

std::string_view counter_name(Counter counter) { return kCounterNames[static_cast<std::size_t>(counter)]; }

Json to_json(const Counters& counters) {
  Json out = Json::object();
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto value = counters[static_cast<Counter>(i)];
    out[std::string(kCounterNames[i])] = value ? Json(*value) : Json(nullptr);
  }
  return out;
}

}  // namespace roofwalk
