// `grade --compare`: what the grades of a class would be by this program, beside the grades on record. The grades on
// record stay; the new ones are kept in compare/grades.db, so that a call that was cut off goes on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/class/batch/batch.h"

namespace roofwalk {

// The grades of one submission.
struct GradePair {
  std::string student, chapter;
  Entry on_record, now;
  bool counted = false, counts = false;  // whether it gives the points of its chapter: on record, and now

  bool is_same_verdict() const { return on_record.verdict == now.verdict && on_record.grade == now.grade; }
  bool is_same() const { return is_same_verdict() && on_record.points == now.points; }
};

struct TotalPair {
  std::string student;
  std::optional<double> on_record_percent, now_percent;
};

struct Comparison {
  std::vector<GradePair> grades;   // submissions with a grade in both, by student
  std::vector<TotalPair> totals;   // students with a total in both, by student; of all chapters only
  std::size_t without_record = 0;  // submissions without a grade on record
  std::size_t without_new = 0;     // submissions with a grade on record that this program could not grade

  std::size_t changed_verdicts() const;
  std::size_t changed_points() const;  // of submissions with the same verdict
  std::size_t changed_totals() const;
};

// Compares the grades of the named chapters. Both gradebooks must have the same submissions (Batch::gradebook). An
// entry of `now` counts as a new grade only if this program made it under the present terms.
Comparison compare(const Gradebook& on_record, const Gradebook& now, const std::vector<std::string>& chapters);

// The class in the folder compare/ of `batch`, with the submissions of the named chapters that have a grade on record.
// A grade on record that this program made is taken over. `batch` must have been given its bench (Batch::use_bench).
// Errors: those of Batch::open() and of GradeStore.
Result<Batch> comparing_batch(const Course& course, const BatchPlaces& places, const Rig& rig, Batch& batch,
                              const std::vector<std::string>& chapters);

// Format "roofwalk.compare/1": only what differs is listed.
Json to_json(const Comparison& comparison);
std::string text_of(const Comparison& comparison);

}  // namespace roofwalk
