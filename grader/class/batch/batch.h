// A class on disk: its terms, its chapters, and the folder that holds what was handed in and how it was graded.
//   grades.db      the grades (grade_store.h)
//   sources/       every file that was handed in, by the hash of its bytes
//   work/          what is being graded now; emptied at every start
//   regrading.json what a `grade --again` that was cut off has still to do (grade_all.h)
// Everything else in the folder is made from these, and can be made again.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/child.h"
#include "grader/class/batch/gradebook.h"
#include "grader/class/batch/job.h"
#include "grader/course/course.h"
#include "grader/rig/bench.h"

namespace roofwalk {

struct BatchPlaces {
  std::filesystem::path course_file;  // empty: plain_terms()
  std::filesystem::path folder;
  std::optional<std::string> secrets = {};  // their text, in place of the file that course.toml names
};

class Batch {
 public:
  // Errors: those of read_terms() and of GradeStore::open().
  static Result<Batch> open(const Course& course, const BatchPlaces& places);

  const CourseTerms& terms() const { return terms_; }
  const std::vector<Chapter>& chapters() const { return chapters_; }  // with the instructor's thresholds
  const std::filesystem::path& folder() const { return places_.folder; }
  GradeStore& store() { return *store_; }
  const std::string& told() const { return told_; }  // what opening the grades had to say; empty: nothing

  // Nobody else may grade into the folder until the Descriptor closes. Errors: somebody does.
  Result<Descriptor> lock() const;

  std::filesystem::path source(const std::string& sha256) const {
    return places_.folder / "sources" / (sha256 + ".cu");
  }
  Status keep_source(const std::string& sha256, const std::string& bytes) const;

  // From here on keys are known: hashes of all that a grade depends on but the submission.
  void use_bench(const Bench& bench);
  std::string key(const Submission& submission) const;
  // Of the part of it that the instructor decides: device, goals, hidden cases. Kept with each grade.
  std::string terms_key(const std::string& chapter) const;

  GradedBy graded_by(const Submission& submission, const StoredGrade& grade) const;

  // Its columns are the chapters of the terms; without a course.toml, those that anybody handed something in for.
  // Grades by key; where this grader has not graded a submission yet, the newest of the same bytes, and the entry says
  // so (GradedBy).
  Result<Gradebook> gradebook() const;

 private:
  BatchPlaces places_;
  CourseTerms terms_;
  std::vector<Chapter> chapters_;
  std::optional<GradeStore> store_;
  std::string told_, device_;
  std::map<std::string, std::string> chapter_keys_, terms_keys_;
};

// One line for grades that this program would not give now, and the command that makes them anew; empty: there are
// none.
std::string stale_text(const Gradebook& book, const std::string& grade_command);

}  // namespace roofwalk
