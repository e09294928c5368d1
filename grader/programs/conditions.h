// Conditions on the figures of a program's kernels, under which a step of a CI fails: "dram_bytes > +2%".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/base/result.h"
#include "grader/programs/kernel_names.h"

namespace roofwalk {

// "NAME: FIGURE > VALUE". NAME is that of a KernelFilter and may be left out; FIGURE is one of figures.h. VALUE with a
// sign is a change over an earlier run, in percent or in the figure's unit: "+2%", "-1000"; without one, the figure
// itself.
struct Condition {
  enum class Order { less, at_most, at_least, greater };
  enum class Than { value, earlier_and_value, earlier_and_percent };

  std::string typed;
  std::optional<KernelFilter> kernels;
  std::string figure;
  Order order = Order::greater;
  Than than = Than::value;
  double value = 0;

  bool is_relative() const { return than != Than::value; }
  bool holds(double now, double earlier) const;
};

// Error: one line that says what is wrong, or which figures have a similar name.
Result<Condition> read_condition(const std::string& typed);

// A condition, judged for one kernel.
struct Judged {
  enum class Outcome { passed, failed, not_judged };

  std::string kernel;  // as in the JSON; empty: of no kernel in particular
  std::string condition;
  Outcome outcome = Outcome::passed;
  std::string what;  // "dram_bytes 12,902,400, was 12,582,912 (+2.5 %)", or why it is not judged
};

// `now`, `earlier`: "roofwalk.program/1"; nullptr: there is no earlier run. A condition that could be judged for no
// kernel at all has failed, so that a gate does not open because of a typing mistake or a renamed kernel.
std::vector<Judged> judge(const std::vector<Condition>& conditions, const Json& now, const Json* earlier);

// The kernel of `run` with the same name, and file if several have that name; nullptr: there is none.
const Json* same_kernel(const Json& kernel, const Json& run);

// "+2.5 %", "x12" for a change of more than tenfold, "as before".
std::string change_text(double earlier, double now);

}  // namespace roofwalk
