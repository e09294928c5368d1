// A cause of lost time: what it claims of the time, its words and its hints. Each file of causes/ defines one.
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

// What one cause takes of the time. The causes before it have taken theirs, so no nanosecond is taken twice.
class Claim {
 public:
  // Time that is taken is deducted from `left`.
  Claim(const DiagnosisInput& input, PartTimes& left) : input_(input), left_(left) {}

  const DiagnosisInput& input() const { return input_; }
  double left_ns(TimePart part) const { return left_[part]; }
  // Takes `ns`, but not less than nothing and not more than what is left.
  void take(TimePart part, double ns);
  void take_rest(TimePart part) { take(part, left_[part]); }

  const PartTimes& taken() const { return taken_; }

 private:
  const DiagnosisInput& input_;
  PartTimes& left_;
  PartTimes taken_;
};

// A cause in words, with its figures and its lever.
struct Explanation {
  std::string text;
  int line = 0;             // the line to look at; 0 none
  std::string brief = {};   // a few words to stand beside the line
  std::string figure = {};  // the figure that it speaks of (see Diagnosis); empty: the cause's own
};

// Time that elapsed_ns lacks.
struct UnmeasuredLoss {
  double share = 0;  // of elapsed_ns and itself
  Explanation explanation;
};

// Functions may be left out; a cause that can lose measured time has `explain`.
struct Cause {
  // Stays once it is published: hints name it (`for` in exercise.toml), and so does the JSON. Also the file's name.
  std::string_view id;

  // Place among the causes, lowest first. One that takes a share of a part comes before those that take the rest of it,
  // and one with a special reason for a wait comes before those with a general one.
  int order = 0;

  // Takes what a cure would save of each part of the time.
  void (*claim)(Claim& claim) = nullptr;

  // Whether warps wait for `wait` because of this cause; the first cause that says so gets the time. `wait`: an id of
  // DiagnosisInput::Waiting, or of what the last warp at a barrier does. `is_main`: the cure saves most of the slowest
  // unit's time.
  bool (*is_behind_wait)(const DiagnosisInput& input, std::string_view wait, bool is_main) = nullptr;

  // How strongly the counts speak for this cause, 0 not at all. Real GPUs report counts and one time without parts: the
  // cause with the strongest evidence gets all of the lost time.
  int (*evidence)(const DiagnosisInput& input) = nullptr;

  // Words where the run cannot be judged by its time: then no other cause is reported.
  std::optional<Explanation> (*report_alone)(const DiagnosisInput& input) = nullptr;

  // Time that is lost but was not measured: reported before the causes of what was measured.
  std::optional<UnmeasuredLoss> (*report_unmeasured)(const DiagnosisInput& input) = nullptr;

  // Words for measured time: `text` begins in lower case, and the gap is put before it.
  Explanation (*explain)(const DiagnosisInput& input) = nullptr;
  std::string_view figure = {};  // as in Diagnosis

  bool goes_beyond_roof = false;  // its cure helps close to the roof, too

  // Each more explicit: a question to look into, the idea, the change.
  std::array<std::string_view, 3> hints = {};
};

// All causes, by `order`.
std::span<const Cause* const> causes_in_order();
// nullptr where there is none.
const Cause* find_cause(std::string_view id);

// A cause is reported where its cure would save at least this share of the time.
inline constexpr double kWorthCuring = 0.15;

}  // namespace roofwalk
