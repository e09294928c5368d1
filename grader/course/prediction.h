// A learner's predictions about a chapter before it is measured, and their comparison with the result. Predictions
// are not graded, because people learn from wrong guesses.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/measure/measurement.h"

namespace roofwalk {

struct KernelRecord;

// The part that takes most of a run's time: moving bytes (at any level, including shared memory), executing
// instructions, or waiting and launching.
enum class Bound { memory, compute, latency };
std::string_view bound_name(Bound bound);
std::optional<Bound> bound_from_name(std::string_view name);

enum class Direction { right, up, both };
std::string_view direction_name(Direction direction);
std::optional<Direction> direction_from_name(std::string_view name);

// Accepts abbreviations and any case: "memory", "mem", "M".
std::optional<Bound> bound_from_text(std::string_view text);
std::optional<Direction> direction_from_text(std::string_view text);

struct MeasuredBound {
  Bound bound = Bound::latency;
  std::string part;  // a TimeParts name: "l1", "issue", "launch"; empty if the device reports no parts
  double share = 0;  // of the kernels' time; 0 if the device reports no parts
};

// Finds out what the run is bound by: from the parts of its time or, if these are unknown, from the gap to the roof and
// the side of the ridge. nullopt if neither is known.
std::optional<MeasuredBound> bound_of(const std::vector<KernelRecord>& kernels, const Measurement& measurement,
                                      const Roofs& roofs);

struct Prediction {
  std::optional<double> ai;        // of the starter at the chapter's level, in the chapter's unit/B
  std::optional<Bound> bound;      // of the starter
  std::optional<Direction> moves;  // the direction in which the chapter's idea moves the dot
  bool after_measuring = false;    // whether an answer was given after a run had shown it

  bool empty() const { return !ai && !bound && !moves; }
};

Json to_json(const Prediction& prediction);
Json to_json(const MeasuredBound& bound);
// Missing or malformed values stay empty.
Prediction prediction_from_json(const Json& json);
std::optional<MeasuredBound> bound_from_json(const Json& json);

// Shows learners in which forms they may write an AI. It is not the answer of any chapter.
inline constexpr std::string_view kAiExample = "0.9 or 3/5";

// Accepts "0.9", "3/5", "0,9"; nullopt if the text is not a number above 0.
std::optional<double> ai_from_text(std::string_view text);

// Asks the learner the three questions. If the learner only presses Enter, or the input ends, the answer in `known`
// stays. `level`: the name of the chapter's level, such as "DRAM". `unit`: of the chapter's useful work.
Prediction ask_prediction(const std::string& level, WorkUnit unit, Prediction known, std::istream& in,
                          std::ostream& out);

// The direction of a movement; nullopt if the dot moved neither right nor up by at least 10 %.
std::optional<Direction> direction_of(const Movement& movement);

// Each returns one to three friendly sentences. An AI within 10 % counts as right. `level`: "DRAM".
std::string compare_ai(double said, double measured, const std::string& level);
std::string compare_bound(Bound said, const MeasuredBound& measured);
std::string compare_moves(Direction said, Direction measured);

}  // namespace roofwalk
