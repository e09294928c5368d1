// Finds what a class handed in, in folders and zips. Each file is read once, hashed and copied; all that follows uses
// the copy, so nobody can change a submission while it is graded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "grader/class/hand_ins/lms_names.h"

namespace roofwalk {

struct Submission {
  Owner owner;
  std::string chapter;
  std::string label;          // where it was found, for people: "submissions/alice/vector-add.cu"
  std::string source_sha256;  // of its bytes; the copy's name
  std::int64_t submitted_at_s = 0;
};

// How a LeftOut's reason begins if --chapter would help.
inline constexpr const char* kTellsNoChapter = "its name tells no chapter";

// Submissions of one student and chapter that are graded, per path. More would be probes of the hidden cases.
inline constexpr std::size_t kMostGraded = 3;

// How a LeftOut's reason begins if a hand-in holds more than is graded.
inline constexpr const char* kHoldsMore = "holds more than is graded";

// A file or folder that gave no submission, and why.
struct LeftOut {
  std::string label, reason;
  std::string student = {};         // its student; empty if unknown
  std::int64_t handed_in_at_s = 0;  // 0 if unknown
};

// A student with files that a platform marked as late or on time: listed once, and once more for each known chapter of
// these files, graded now or not.
struct MarkedStudent {
  std::string zip;  // or folder, as labels begin
  Owner owner;
  std::string chapter = {};
};

struct Handed {
  std::vector<Submission> submissions;  // by student, chapter and time
  std::vector<Owner> students;          // all, including those who handed in nothing that can be graded
  std::vector<LeftOut> left_out;
  std::vector<std::string> told = {};  // lines on what was named, and what it was taken for; not recorded
  std::vector<MarkedStudent> marked = {};
};

// Keeps the bytes of a file under their hash.
using KeepSource = std::function<Status(const std::string& sha256, const std::string& bytes)>;

// Which files are taken.
struct Wanted {
  std::vector<std::string> chapters;     // with only one, a student's only file may have any name
  std::vector<std::string> others = {};  // known chapters that are not graded now
  std::set<std::string> students = {};   // on record: a folder of that name is theirs, whatever is in it
  bool each_is_one = false;              // a single path is also one student's hand-in, and not the class
  std::filesystem::path grades = {};     // the folder of the grades: never a student's, wherever it is
  std::set<std::string> proven = {};     // of those students, the ones with a platform's number of a person
};

// Walks each path. A single path is the class: a folder with a file, a folder or a zip per student, or a zip with any
// of these as a learning platform makes it, with Gradescope's metadata beside the folders if there is any. Several
// paths are one student's hand-in each, named like the student and as old as they are on disk. Links in a class are not
// followed, and only plain files are opened. Names and times inside a student's own folder or zip count for nothing.
// Errors: a missing path; a class's zip, or the platform's metadata in it, that cannot be read; if there is nothing
// else, a path that may be a class or a student's.
Result<Handed> collect(const std::vector<std::filesystem::path>& paths, const Wanted& wanted, const KeepSource& keep);

}  // namespace roofwalk
