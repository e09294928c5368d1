// A class on disk: its terms, its chapters, and the folder with its submissions and grades.
//   grades.db      the grades (grade_store.h)
//   sources/       every submitted file, named by the hash of its bytes
//   work/          files of the submissions that are being graded; emptied at every start
//   regrading.json the round of each key of an unfinished `grade --again` (grade_all.h)
//   compare/       grades of the same submissions by the program of the last `grade --compare` (compare.h)
// All other files in the folder are made from these and can be made again.
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

// A hash of this program's bytes: another program may give other grades. A hash of its build time would change even if
// the same sources are built again.
const std::string& this_programs_hash();

struct BatchPlaces {
  std::filesystem::path course_file;  // empty: plain_terms()
  std::filesystem::path folder;
  std::optional<std::string> secrets = {};  // the text of the secrets, instead of the file that course.toml names
  ModelPin model_pin = ModelPin::binds;
  std::filesystem::path sources = {};  // the folder of the submitted files; empty: sources/ in `folder`
};

class Batch {
 public:
  // Errors: those of read_terms(), use_secrets(), with_thresholds() and GradeStore::open().
  static Result<Batch> open(const Course& course, const BatchPlaces& places);

  const CourseTerms& terms() const { return terms_; }
  const std::vector<Chapter>& chapters() const { return chapters_; }  // with the instructor's thresholds
  const std::filesystem::path& folder() const { return places_.folder; }
  GradeStore& store() { return *store_; }
  const std::string& told() const { return told_; }  // a message from opening the grades; empty: none

  // Locks the folder for grading until the Descriptor closes. Errors: another process holds the lock.
  Result<Descriptor> lock() const;

  std::filesystem::path source(const std::string& sha256) const {
    return (places_.sources.empty() ? places_.folder / "sources" : places_.sources) / (sha256 + ".cu");
  }
  Status keep_source(const std::string& sha256, const std::string& bytes) const;

  // Hashes everything on which a grade depends except the submission itself. key() needs these hashes.
  void use_bench(const Rig& rig);
  std::string key(const Submission& submission) const;
  // A hash of the instructor's decisions: device, goals, hidden cases. Stored with each grade.
  std::string terms_key(const std::string& chapter) const;

  GradedBy graded_by(const Submission& submission, const StoredGrade& grade) const;

  // Makes the gradebook. Its columns are the chapters of the terms or, without a course.toml, the chapters with
  // submissions. A submission's grade is found by its key. If this grader has not graded it, its entry has the newest
  // grade of the same bytes by another grader or under other terms, and says so (GradedBy).
  Result<Gradebook> gradebook() const { return gradebook(*store_); }
  // The gradebook of this class's submissions with the grades of another store.
  Result<Gradebook> gradebook(const GradeStore& graded) const;

 private:
  BatchPlaces places_;
  CourseTerms terms_;
  std::vector<Chapter> chapters_;
  std::optional<GradeStore> store_;
  std::string told_, device_;
  std::map<std::string, std::string> chapter_keys_, terms_keys_;
};

// One line about grades that were made under other terms or by another version of the grader, with the command that
// makes them again; empty if there are none.
std::string stale_text(const Gradebook& book, const std::string& grade_command);

}  // namespace roofwalk
