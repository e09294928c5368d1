// Proves the figures that a lesson shows. A figure is followed by an HTML comment, which pages do not display:
//   1.90 ms<!-- starter elapsed_ns -->   16.1<!-- step1/starter achieved_flops_per_s -->
// KERNEL is starter, stepN, or a wrong solution's file stem; A/B is a ratio; KEY is a key of the attempt's JSON, with
// dots between levels ("ai_by_level.l1", "goals.0.reached"). The number and unit shown must be the value, rounded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/json.h"
#include "common/base/result.h"
#include "grader/author/chapter_check.h"

namespace roofwalk {

struct Figure {
  int line = 0;        // in the lesson, where the comment begins
  std::string shown;   // "12,582,912"
  std::string unit;    // "ms"; empty if the number stands alone
  std::string kernel;  // "starter"
  std::string over;    // the kernel whose value divides it; empty: none
  std::string key;     // "elapsed_ns"

  std::string text() const;  // "1.90 ms (starter elapsed_ns)"
};

// The figures of a lesson, in order. A comment that is not a mark, or has no number before it, gives an Error with its
// line: lessons have no other comments.
std::vector<Result<Figure>> parse_figures(const std::string& lesson);

using AttemptJsons = std::map<std::string, Json>;  // by kernel: "starter", "step1", "contiguous_chunk"

// What must be shown instead of `figure.shown`, with as many decimals and the same grouping. Errors: no such kernel or
// key, a key without a number, a unit that does not fit the key.
Result<std::string> true_figure(const Figure& figure, const AttemptJsons& attempts);

// One line per figure, and one that says that no placeholder is left. A lesson without figures fails. The quick scope
// leaves out figures of kernels without an attempt: it runs only a few.
std::vector<CheckLine> check_figures(const std::string& chapter, const std::string& lesson,
                                     const AttemptJsons& attempts, CheckScope scope);

}  // namespace roofwalk
