// The grades of a class in SQLite: append-only, survives kill -9 at any moment, one file per class (grades.db).
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

// A grade's plot as SVG, empty if there is no dot, and its profile as a page, empty if nothing was measured.
struct GradePages {
  std::string plot, profile;
};

class GradeStore {
 public:
  // Opens or creates. A damaged file is kept under another name, its intact rows are copied to a new one, and `told`
  // gets a line about that. Errors: a network file system (SQLite's log needs one host), no permission, a newer schema,
  // a database of another program.
  static Result<GradeStore> open(const std::filesystem::path& file, std::string& told);
  ~GradeStore();
  GradeStore(GradeStore&&) noexcept;

  // Adds what was handed in; rows that are known already stay as they are.
  Status add(const Handed& handed);
  Result<std::vector<Submission>> submissions() const;  // by student, chapter and time
  // As they came. A number that somebody may have chosen is the person's where a later submission proves it.
  Result<std::vector<Owner>> students() const;
  // By label: what gave no submission to this day. Whose file of that name was graded after all is not in it, but for
  // one that was handed in later and could not be read.
  Result<std::vector<LeftOut>> left_out() const;

  // Durable on return. If that key and round already has a grade, that one stays, and nothing is added.
  Status add(const StoredGrade& grade);
  Status add(const StoredFault& fault);

  // The last round of a key; 0 if it was never graded.
  Result<std::int64_t> last_round(const std::string& key) const;

  // All of them, oldest first, without their pages: those of a large class would not fit into memory.
  Result<std::vector<StoredGrade>> grades() const;
  // By the grade's `id`. Errors: no such grade.
  Result<GradePages> pages(std::int64_t id) const;
  Result<std::vector<StoredFault>> faults() const;  // oldest first

  // The cells that were last exported into a column of an LMS gradebook, keyed by the student's number in the LMS.
  Status add_exported(const std::string& column, const std::map<std::string, std::string>& cells);
  Result<std::map<std::string, std::string>> exported(const std::string& column) const;

  // A random text that is made once and kept; names are hidden with it.
  Result<std::string> salt();

  // Each row holds the hash of the row before it. Errors: the first row that does not match.
  Status verify() const;

 private:
  struct Impl;
  explicit GradeStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace roofwalk
