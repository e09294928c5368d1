// A cause of lost time: the time that it claims, its texts and its hints. Each file of causes/ defines one.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/roofline/diagnosis.h"
#include "common/roofline/facts.h"

namespace roofwalk {

// One figure for each part of the time.
class PartTimes {
 public:
  double& operator[](TimePart part) { return ns_[static_cast<std::size_t>(part)]; }
  double operator[](TimePart part) const { return ns_[static_cast<std::size_t>(part)]; }

 private:
  std::array<double, static_cast<std::size_t>(TimePart::launch) + 1> ns_{};
};

// The time that one cause claims. Causes claim in order, each from what the earlier ones left, so that no nanosecond is
// claimed twice.
class Claim {
 public:
  // `left`: the time that no earlier cause has claimed; take() deducts from it.
  Claim(const DiagnosisInput& input, PartTimes& left) : input_(input), left_(left) {}

  const DiagnosisInput& input() const { return input_; }
  double left_ns(TimePart part) const { return left_[part]; }
  // Takes `ns`, clamped to between 0 and the time that is left.
  void take(TimePart part, double ns);
  void take_rest(TimePart part) { take(part, left_[part]); }

  const PartTimes& taken() const { return taken_; }

 private:
  const DiagnosisInput& input_;
  PartTimes& left_;
  PartTimes taken_;
};

// A cause in words, with the line and the figure that it refers to.
struct Explanation {
  std::string text;
  int line = 0;             // the line to look at; 0 none
  std::string brief = {};   // a few words to stand beside the line
  std::string figure = {};  // the figure that the text refers to (see Diagnosis); empty: Cause::figure
};

// Lost time that elapsed_ns does not include.
struct UnmeasuredLoss {
  double share = 0;  // of the sum of elapsed_ns and this time
  Explanation explanation;
};

// Any function pointer may be null, but `explain` must be set if the cause can get measured time.
struct Cause {
  // Identifies the cause in hints (`for` in exercise.toml), in the JSON and as the name of its file, so a published id
  // never changes.
  std::string_view id;

  // Rank in which causes claim, lowest first. As a rule, a cause that takes a share of a part of the time ranks before
  // those that take the rest of it, and a cause that explains a wait by a special reason before those with a general
  // one.
  int order = 0;

  // Takes from each part of the time what a cure would save.
  void (*claim)(Claim& claim) = nullptr;

  // Whether this cause is the reason for the wait `wait`; the first cause that returns true gets the time. `wait`: an
  // id of DiagnosisInput::Waiting, or of Waiting::Part for the last warp at a barrier. `is_main`: curing this cause
  // shortens the slowest unit's time more than any other cure.
  bool (*is_behind_wait)(const DiagnosisInput& input, std::string_view wait, bool is_main) = nullptr;

  // Returns how strongly the counts point to this cause; 0 is not at all. Real GPUs report counts and one total time,
  // not its parts: there, the cause with the strongest evidence gets all of the lost time.
  int (*evidence)(const DiagnosisInput& input) = nullptr;

  // Returns the explanation if the run cannot be judged by its time; then no other cause is reported.
  std::optional<Explanation> (*report_alone)(const DiagnosisInput& input) = nullptr;

  // Returns time that is lost but not part of the measured time. Causes with such time are reported first.
  std::optional<UnmeasuredLoss> (*report_unmeasured)(const DiagnosisInput& input) = nullptr;

  // Explains a loss of measured time. `text` begins in lower case, because a description of the gap may precede it.
  Explanation (*explain)(const DiagnosisInput& input) = nullptr;
  std::string_view figure = {};  // see Diagnosis::figure

  bool goes_beyond_roof = false;  // whether it is also reported close to the roof
  bool moves_right = false;       // whether its cure is fewer bytes at some level

  // Each hint is more explicit than the one before: a question to look into, the idea, the change.
  std::array<std::string_view, 3> hints = {};
};

// Returns all causes, sorted by `order`.
std::span<const Cause* const> causes_in_order();
// Returns nullptr if there is no such cause.
const Cause* find_cause(std::string_view id);

// A cause is reported where its cure would save at least this share of the time.
inline constexpr double kWorthCuring = 0.15;

}  // namespace roofwalk
