// Proves the figures in a lesson. A figure is followed by an HTML comment, which pages do not display:
//   1.90 ms<!-- starter elapsed_ns -->   16.1<!-- step1/starter achieved_flops_per_s -->
// The comment consists of KERNEL and KEY. KERNEL is starter, stepN or a wrong solution's file stem; A/B means the ratio
// of two kernels. KEY is a key of the attempt's JSON, with dots between levels ("ai_by_level.l1", "goals.0.reached").
// The number and unit shown must be the value, rounded.
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

// The figures of a lesson, in order. A comment that is not such a mark, or that no number precedes, gives an Error
// with its line: lessons have no other comments.
std::vector<Result<Figure>> parse_figures(const std::string& lesson);

using AttemptJsons = std::map<std::string, Json>;  // by kernel: "starter", "step1", "contiguous_chunk"

// The right text for the figure, with as many decimals as `figure.shown` has, and the same grouping. Errors: no such
// kernel or key, a key without a number, a unit that does not fit the key.
Result<std::string> true_figure(const Figure& figure, const AttemptJsons& attempts);

// Returns a line that says whether there are figures and no placeholders are left, then one line per figure. A lesson
// without figures fails. Leaves out figures of kernels that the quick scope does not run.
std::vector<CheckLine> check_figures(const std::string& chapter, const std::string& lesson,
                                     const AttemptJsons& attempts, CheckScope scope);

}  // namespace roofwalk
