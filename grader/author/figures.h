// Proves the figures that a lesson shows. A figure is followed by an HTML comment, which no page displays:
//   1.90 ms<!-- starter elapsed_ns -->   16.1<!-- step1/starter achieved_flops_per_s -->
// KERNEL is starter, stepN, or a wrong solution's file stem; A/B is a ratio; KEY is a key of the attempt's JSON, with
// dots on the way down ("ai_by_level.l1", "goals.0.reached"). The number and unit shown must be the value, rounded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/json.h"
#include "common/base/result.h"
#include "grader/author/chapter_check.h"

namespace roofwalk {

struct Figure {
  int line = 0;        // in the lesson, of the comment's first character
  std::string shown;   // "12,582,912"
  std::string unit;    // "ms"; empty where the number stands alone
  std::string kernel;  // "starter"
  std::string over;    // the kernel that the value is divided by; empty for none
  std::string key;     // "elapsed_ns"

  std::string text() const;  // "1.90 ms (starter elapsed_ns)"
};

// The figures of a lesson, in order. An entry is an Error, with its line, where a comment is no mark or has no number
// before it: comments in lessons are for nothing else.
std::vector<Result<Figure>> parse_figures(const std::string& lesson);

using AttemptJsons = std::map<std::string, Json>;  // by kernel: "starter", "step1", "contiguous_chunk"

// What must be shown in place of `figure.shown`, with as many digits after the point and grouped alike. Errors: no such
// kernel or key, a key without a number, a unit that does not measure it.
Result<std::string> true_figure(const Figure& figure, const AttemptJsons& attempts);

// One line a figure, and one that no figure is left to be filled in. A lesson without any figure fails. The quick scope
// leaves out figures of kernels without an attempt: it runs only a few.
std::vector<CheckLine> check_figures(const std::string& chapter, const std::string& lesson,
                                     const AttemptJsons& attempts, CheckScope scope);

}  // namespace roofwalk
