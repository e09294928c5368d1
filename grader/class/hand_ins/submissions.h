// What a class handed in, found in folders and zips. Each file is read once, hashed and kept as a copy; whatever
// follows works on the copy alone, so nobody can change a submission while it is graded.
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

// How a LeftOut's reason begins where --chapter would help.
inline constexpr const char* kTellsNoChapter = "its name tells no chapter";

// Of one student and chapter, at one path. More would be tries at the hidden cases.
inline constexpr std::size_t kMostGraded = 3;

// How a LeftOut's reason begins where a hand-in holds more.
inline constexpr const char* kHoldsMore = "holds more than is graded";

// A file or folder that gave no submission, and why.
struct LeftOut {
  std::string label, reason;
  std::string student = {};         // whose it is; empty where nobody can say
  std::int64_t handed_in_at_s = 0;  // 0 where that is unknown
};

// Somebody whose files a platform marked as late or on time: once, and once for each chapter that is known and that a
// file of theirs is of, whether it is graded now or not.
struct MarkedStudent {
  std::string zip;  // or folder, as labels begin
  Owner owner;
  std::string chapter = {};
};

struct Handed {
  std::vector<Submission> submissions;  // by student, chapter and time
  std::vector<Owner> students;          // all, those included who handed nothing in that can be graded
  std::vector<LeftOut> left_out;
  std::vector<std::string> told = {};  // lines about what was named, and what it was taken for; nobody's record
  std::vector<MarkedStudent> marked = {};
};

// Keeps the bytes of a file by their hash.
using KeepSource = std::function<Status(const std::string& sha256, const std::string& bytes)>;

// Which chapters' files are taken.
struct Wanted {
  std::vector<std::string> chapters;     // with only one, a student's only file may have any name
  std::vector<std::string> others = {};  // chapters that are known, and not graded now
  std::set<std::string> students = {};   // whose folders are known as theirs, whatever lies in them
  bool each_is_one = false;              // one path is one student's hand-in, too, and not the class
  std::filesystem::path grades = {};     // the folder of the grades, which is no student wherever it lies
};

// Walks each path. One is the class: a folder with a file or a folder or a zip a student, or a zip with any of these,
// as a learning platform hands it out, with Gradescope's metadata beside the folders where there is some. Several are
// one student's hand-in each, called as the student is, and as old as they are on disk. Links in a class are not
// followed, and what is no plain file is not opened. Whatever a student's own folder or zip says of names and times
// counts for nothing. Errors: a path that is not there; a class's zip, or the platform's metadata in it, that cannot
// be read; where there is no other, what may be a class or a student's.
Result<Handed> collect(const std::vector<std::filesystem::path>& paths, const Wanted& wanted, const KeepSource& keep);

}  // namespace roofwalk
