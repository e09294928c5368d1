// Predict first: what a learner expects of a chapter before it is measured, and how that compares with what came out.
// Nothing is graded here: a wrong guess is where one learns.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/measure/measurement.h"
#include "common/record/run_record.h"

namespace roofwalk {

// What takes most of a run's time: moving bytes (at any level, shared memory included), executing instructions, or
// waiting and launching.
enum class Bound { memory, compute, latency };
std::string_view bound_name(Bound bound);
std::optional<Bound> bound_from_name(std::string_view name);

enum class Direction { right, up, both };
std::string_view direction_name(Direction direction);
std::optional<Direction> direction_from_name(std::string_view name);

// As people type them: "memory", "mem", "M".
std::optional<Bound> bound_from_text(std::string_view text);
std::optional<Direction> direction_from_text(std::string_view text);

struct MeasuredBound {
  Bound bound = Bound::latency;
  std::string part;  // as in TimeParts: "l1", "issue", "launch"; empty where the device gives no parts
  double share = 0;  // of the parts' sum; 0 where there are none
};

// From the parts of the time; without them from the gap to the roof and the side of the ridge. Nothing where neither is
// known.
std::optional<MeasuredBound> bound_of(const std::vector<KernelRecord>& kernels, const Measurement& measurement,
                                      const Roofs& roofs);

struct Prediction {
  std::optional<double> ai;        // of the starter at the chapter's level, in FLOP/B
  std::optional<Bound> bound;      // of the starter
  std::optional<Direction> moves;  // where the chapter's idea takes the dot
  bool after_measuring = false;    // one of them was said when a run had told it already

  bool empty() const { return !ai && !bound && !moves; }
};

Json to_json(const Prediction& prediction);
Json to_json(const MeasuredBound& bound);
// What was never said, or is not such a record, is absent.
Prediction prediction_from_json(const Json& json);
std::optional<MeasuredBound> bound_from_json(const Json& json);

// How an AI may be written, for people: no chapter's answer.
inline constexpr std::string_view kAiExample = "0.9 or 3/5";

// "0.9", "3/5", "0,9"; nothing where it is no number above 0.
std::optional<double> ai_from_text(std::string_view text);

// Asks the three questions. Enter, or the end of the input, skips one. `level`: "DRAM". Keeps what it is given where a
// question is skipped.
Prediction ask_prediction(const std::string& level, Prediction known, std::istream& in, std::ostream& out);

// Where a dot went, once it has gone anywhere (by a tenth at least).
std::optional<Direction> direction_of(const Movement& movement);

// One or two friendly sentences each. Within 10 % an AI counts as right. `level`: "DRAM".
std::string compare_ai(double said, double measured, const std::string& level);
std::string compare_bound(Bound said, const MeasuredBound& measured);
std::string compare_moves(Direction said, Direction measured);

}  // namespace roofwalk
