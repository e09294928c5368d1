// Latency: too few bytes in flight to keep memory busy.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"

namespace roofwalk {
namespace {

Explanation explain_latency(const DiagnosisInput& in) {
  const auto* wait = wait_for_memory(in);
  return {fmt::format("too few bytes are in flight{}. Let each thread ask for more before it waits: several "
                      "independent loads, or 128-bit ones (float4).",
                      wait && in.latency_ns > 0 ? fmt::format(", and warps wait for {} {} of their time{}", wait->what,
                                                              percent_text(wait->share), place_text(wait->line))
                                                : ""),
          wait ? wait->line : 0, "too few bytes in flight"};
}

}  // namespace

const Cause cause::latency = {
    .id = "latency",
    .order = 210,
    .is_behind_wait = [](const DiagnosisInput&, std::string_view wait, bool) { return is_memory_wait(wait); },
    .evidence = [](const DiagnosisInput& in) { return in.observed_ai < in.ridge ? 10 : 0; },
    .explain = explain_latency,
    .hints = {"How many bytes has one thread asked for before it first waits?",
              "Bandwidth times latency is what must be on its way at any moment. With less, the memory is idle in "
              "between.",
              "Load float4 instead of float, and start several independent loads before the first use of any of "
              "them."}};

}  // namespace roofwalk
