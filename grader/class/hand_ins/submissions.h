// Finds a class's hand-ins in folders and zips. Each file is read once, hashed and copied; all later steps use the
// copy, so a submission cannot be changed while it is graded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "grader/class/hand_ins/lms_names.h"

namespace roofwalk {

struct Submission {
  Owner owner;
  std::string chapter;
  std::string label;          // where it was found, for people: "submissions/alice/vector-add.cu"
  std::string source_sha256;  // hash of its bytes, and the name of the copy
  std::int64_t submitted_at_s = 0;
};

// Whether a file's time may be true. Programs that do not know the time write the first or the last moment that they
// can: in zips the first day of 1980, or zeros, which are read as the last day of the month before the first
// (1979-11-30), or ones, which are read as a day in 2108; elsewhere the first second of Unix, or its last one in 32
// bits, with a sign (2038-01-19) or without. Each of them in any time zone.
inline bool is_known_time(std::int64_t submitted_at_s) {
  constexpr std::int64_t kDay_s = 86'400, kZeros_s = 312'768'000, kZips_s = 315'532'800, kLastSigned_s = 0x7fff'ffff,
                         kLast_s = 0xffff'ffff;
  const bool is_of_zips = submitted_at_s >= kZeros_s - kDay_s && submitted_at_s <= kZips_s + 2 * kDay_s;
  const bool is_last_signed = submitted_at_s >= kLastSigned_s - kDay_s && submitted_at_s <= kLastSigned_s + kDay_s;
  return submitted_at_s > kDay_s && !is_of_zips && !is_last_signed && submitted_at_s < kLast_s - kDay_s;
}

// Whether a time counts as earlier than another. An unknown time is earlier than any known one, so that no file without
// a date hides a later hand-in.
inline bool is_before(std::int64_t a_s, std::int64_t b_s) {
  return std::pair(is_known_time(a_s), a_s) < std::pair(is_known_time(b_s), b_s);
}

// The beginning of a LeftOut's reason if --chapter would help.
inline constexpr const char* kTellsNoChapter = "its name tells no chapter";

// Limit of graded submissions for one student and chapter, per path; if the platform's metadata says whose each
// submission is, of graded files per submission and chapter. With more of them, a student could find out about the
// hidden cases.
inline constexpr std::size_t kMostGraded = 3;

// The beginning of a LeftOut's reason if a hand-in has more files than are graded.
inline constexpr const char* kHoldsMore = "holds more than is graded";

// A file or folder that gave no submission, and the reason.
struct LeftOut {
  std::string label, reason;
  std::string student = {};         // owner; empty if unknown
  std::int64_t handed_in_at_s = 0;  // 0 if unknown
  std::string path = {};            // if the owner is unknown: the given path in which it lies, as in Handed::paths
  bool may_be_hand_in = true;       // false: what programs or an instructor add to folders; not recorded
};

// A student with files that a platform marked as late or on time. There is one entry without a chapter, and one more
// for each known chapter of these files, even if that chapter is not graded now.
struct MarkedStudent {
  std::string zip;  // the zip or folder, as labels begin
  Owner owner;
  std::string chapter = {};
};

struct Handed {
  std::vector<Submission> submissions;  // by student, chapter and time
  std::vector<Owner> students;          // all students, including those with no gradable file
  std::vector<LeftOut> left_out;
  std::string told_class = {};         // a line that says that the only path is taken for a class; not recorded
  std::vector<std::string> told = {};  // further lines on how the given paths were understood; not recorded
  std::vector<MarkedStudent> marked = {};
  std::vector<std::string> paths = {};  // the given paths, absolute
};

// Stores the bytes of a file under their hash.
using KeepSource = std::function<Status(const std::string& sha256, const std::string& bytes)>;

// Which files collect() takes.
struct Wanted {
  std::vector<std::string> chapters;     // if there is only one, a student's only file may have any name
  std::vector<std::string> others = {};  // known chapters that are not graded now
  std::set<std::string> students = {};   // students on record: a folder with such a name is the student's, with any
                                         // contents
  bool each_is_one = false;              // even a single path is one student's hand-in, not the class
  std::filesystem::path grades = {};     // the folder of the grades, which is never a student's, wherever it is
  std::set<std::string> proven = {};     // those of `students` with a platform's number that identifies a person
};

// Finds the hand-ins in the paths. A single path is the class: a folder with a file, folder or zip per student, or a
// zip with any of these, as a learning platform makes it; with Gradescope's metadata next to the folders if there is
// any. If there are several paths, each is one student's hand-in, with the path's name as the student and the time at
// which it was written. Links in a class are not followed, and only plain files are opened. Names and times inside a
// student's own folder or zip do not count. Errors: a path does not exist; a class's zip, or the platform's metadata in
// it, cannot be read; it is unclear whether the only path is a class or one student's.
Result<Handed> collect(const std::vector<std::filesystem::path>& paths, const Wanted& wanted, const KeepSource& keep);

}  // namespace roofwalk
