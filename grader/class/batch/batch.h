// A class on disk: its terms, its chapters, and the folder that holds what was handed in and the grades.
//   grades.db      the grades (grade_store.h)
//   sources/       every file that was handed in, named by the hash of its bytes
//   work/          what is being graded now; emptied at every start
//   regrading.json what an interrupted `grade --again` still has to do (grade_all.h)
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
#include "grader/rig/rig.h"

namespace roofwalk {

struct BatchPlaces {
  std::filesystem::path course_file;  // empty: plain_terms()
  std::filesystem::path folder;
  std::optional<std::string> secrets = {};  // the secrets' text, instead of the file that course.toml names
};

class Batch {
 public:
  // Errors: those of read_terms() and of GradeStore::open().
  static Result<Batch> open(const Course& course, const BatchPlaces& places);

  const CourseTerms& terms() const { return terms_; }
  const std::vector<Chapter>& chapters() const { return chapters_; }  // with the instructor's thresholds
  const std::filesystem::path& folder() const { return places_.folder; }
  GradeStore& store() { return *store_; }
  const std::string& told() const { return told_; }  // a message from opening the grades; empty: none

  // Locks the folder for grading until the Descriptor closes. Errors: another process holds the lock.
  Result<Descriptor> lock() const;

  std::filesystem::path source(const std::string& sha256) const {
    return places_.folder / "sources" / (sha256 + ".cu");
  }
  Status keep_source(const std::string& sha256, const std::string& bytes) const;

  // Hashes all that a grade depends on but the submission itself. key() needs these hashes.
  void use_bench(const Rig& rig);
  std::string key(const Submission& submission) const;
  // A hash of what the instructor decides: device, goals, hidden cases. Kept with each grade.
  std::string terms_key(const std::string& chapter) const;

  GradedBy graded_by(const Submission& submission, const StoredGrade& grade) const;

  // The columns are the chapters of the terms; without a course.toml, those with submissions. Grades are found by key;
  // a submission that this grader has not graded gets the newest grade of the same bytes, and its entry says so
  // (GradedBy).
  Result<Gradebook> gradebook() const;

 private:
  BatchPlaces places_;
  CourseTerms terms_;
  std::vector<Chapter> chapters_;
  std::optional<GradeStore> store_;
  std::string told_, device_;
  std::map<std::string, std::string> chapter_keys_, terms_keys_;
};

// One line for grades that this program would not give now, with the command that makes them anew; empty if there are
// none.
std::string stale_text(const Gradebook& book, const std::string& grade_command);

}  // namespace roofwalk
