// Dependency: each instruction waits for the result of the one before it.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"

namespace roofwalk {
namespace {

Explanation explain_dependency(const DiagnosisInput& in) {
  const auto* wait = wait_of(in, "dependency");
  const int line = wait ? wait->line : 0;
  return {fmt::format("warps spend {} of their time waiting for the result of the instruction before{}, with too few "
                      "others to step in. Break the chain: several independent results a thread.",
                      percent_text(wait ? wait->share : 0), place_text(line)),
          line, "each instruction waits for the one before it"};
}

}  // namespace

const Cause cause::dependency = {
    .id = "dependency",
    .order = 220,
    .is_behind_wait = [](const DiagnosisInput&, std::string_view wait,
                         bool) { return wait == "dependency" || wait == "constant"; },
    .explain = explain_dependency,
    .hints = {"Which value does each instruction of the inner loop need from the one before?",
              "An addition takes several cycles. A single running sum can use one result every few cycles, whatever "
              "the machine has to offer.",
              "Keep several independent sums and add them up at the end, or let a thread compute several results at "
              "once."}};

}  // namespace roofwalk
