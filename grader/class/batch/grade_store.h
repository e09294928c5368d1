// The grades of a class in SQLite: append-only, durable even if the process is killed, one file per class
// (grades.db).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "grader/class/hand_ins/submissions.h"

namespace roofwalk {

struct StoredGrade;  // stored_grade.h
struct StoredFault;

// A grade's plot as SVG (empty if there is no dot) and its profile as a page (empty if nothing was measured).
struct GradePages {
  std::string plot, profile;
};

class GradeStore {
 public:
  // Opens or creates the file. A damaged file is kept under another name, its intact rows are copied to a new file,
  // and `told` gets a line about that. Errors: a network file system (SQLite's log works on one host only), no
  // permission, a newer schema, a database of another program.
  static Result<GradeStore> open(const std::filesystem::path& file, std::string& told);
  ~GradeStore();
  GradeStore(GradeStore&&) noexcept;

  // Adds submissions, students and left-out files. Rows that exist already are unchanged. The left-out files of a path
  // whose owner is unknown take the place of those that the path, or anything in it, had before.
  Status add(const Handed& handed);
  Result<std::vector<Submission>> submissions() const;  // by student, chapter and time
  // The students, in the order in which they were added. A number that a student may have typed becomes the student's
  // proven number if a later submission proves it. A student without a number gets the one that a submission proves.
  Result<std::vector<Owner>> students() const;
  // Files that were left out, by label. A file is not listed if the same student handed in a file of that name that
  // became a submission, unless the left-out file was handed in later, or at the same time in another place.
  Result<std::vector<LeftOut>> left_out() const;

  // The grade is durable on return. If the key and round already have a grade, that grade stays, and nothing is
  // added.
  Status add(const StoredGrade& grade);
  Status add(const StoredFault& fault);

  // The last round of a key; 0 if the key was never graded.
  Result<std::int64_t> last_round(const std::string& key) const;

  // All grades, oldest first, without their pages, because those of a large class would not fit into memory.
  Result<std::vector<StoredGrade>> grades() const;
  // Finds the pages by the grade's `id`. Errors: no such grade.
  Result<GradePages> pages(std::int64_t id) const;
  Result<std::vector<StoredFault>> faults() const;  // oldest first

  // The cells that were last exported to a column of an LMS gradebook, by the student's number in the LMS.
  Status add_exported(const std::string& column, const std::map<std::string, std::string>& cells);
  Result<std::map<std::string, std::string>> exported(const std::string& column) const;

  // Returns a random text, which is made once and stored. The site hashes names with it, so that students' numbers tell
  // nothing about their names.
  Result<std::string> salt();

  // Another number than before if another process has changed anything meanwhile. Costs next to nothing.
  std::int64_t version() const;

  // Checks each grade's row against its hash, which also covers the hash of the row before it. Errors: the first row
  // that does not match.
  Status verify() const;

 private:
  struct Impl;
  explicit GradeStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace roofwalk
