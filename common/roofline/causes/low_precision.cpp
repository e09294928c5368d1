// The result was computed with fewer bits than the exercise asks for.
#include <fmt/format.h>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"

namespace roofwalk {
namespace {

std::optional<Explanation> report_low_precision(const DiagnosisInput& in) {
  if (!in.looks_like_half) return std::nullopt;
  return Explanation{
      fmt::format("The errors are of the size that 16-bit floats make{}, and 32 bits were asked for. Keep values "
                  "and sums in float: a lower precision is another exercise, with another roof.",
                  place_text(in.suspect_line)),
      in.suspect_line, "errors as large as 16-bit floats make"};
}

}  // namespace

const Cause cause::low_precision = {
    .id = "low_precision",
    .order = 10,
    .report_alone = report_low_precision,
    .hints = {"The chapter asks for results in float. Where does the kernel hold fewer bits than that?",
              "A value that passes through half or bfloat16 once has lost its digits, whatever it is stored in later.",
              "Keep inputs, sums and results in float, and leave out conversions such as __float2half."}};

}  // namespace roofwalk
